"""Load is per cent of the cluster's cores, in every chart and beside it."""

import pytest

from weir.components.live.charts import (
    Chart,
    cluster_charts,
    cluster_page_charts,
    operator_charts,
)
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample

SAMPLE = ClusterSample(
    at=10.0,
    period_s=2.0,
    cluster=Cluster(name="wide", executors=4, busy_cores=2.0),
    operators=(
        OperatorSample(name="count", cluster="wide", load=1.0, busy_cores=0.8),
        OperatorSample(name="rank", cluster="wide", load=2.0, busy_cores=1.2),
    ),
)


def only(charts: list[Chart], key: str) -> Chart:
    (found,) = [c for c in charts if c.key.endswith(f"/{key}")]
    return found


def test_the_operators_of_a_cluster_add_up_to_its_load():
    stacked = only(cluster_page_charts("wide", ["count", "rank"], 5.0), "load-by-operator")
    assert stacked.values(SAMPLE) == (25.0, 50.0)
    whole, done = only(cluster_charts("wide", 5.0), "load").values(SAMPLE)
    assert (whole, done) == (pytest.approx(75.0), pytest.approx(50.0))
    assert stacked.unit == "%"
    assert stacked.least_top == 120.0
    assert stacked.line == 100.0


def test_an_operators_chart_is_a_share_of_its_cluster():
    chart = only(operator_charts("count", "wide", 5.0, stateful=False), "load")
    assert (chart.unit, chart.values(SAMPLE)) == ("%", (25.0, 20.0))
