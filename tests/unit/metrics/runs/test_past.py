"""What recorded runs know of a cluster's past, against the samples that were recorded."""

from collections.abc import Callable
from pathlib import Path
from statistics import mean

import pytest

from tests.support.recorded_run import PERIOD_S, T0, recorded
from weir.components.live.charts import cluster_charts
from weir.controllers.model.sample import ClusterSample
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.past import Past, read_past
from weir.metrics.runs.replay import RecordedRun

CHARTS = {chart.key.partition("/")[2]: chart for chart in cluster_charts("narrow", 5.0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("past")
    return root / recorded(root)


def test_as_reported_it_draws_what_the_samples_draw(folder: Path) -> None:
    reports = RecordedRun(folder).samples("narrow", 0.0, float("inf"))
    found = read_past(folder, "narrow", 0.0)
    assert [s.at for s in found] == [s.at for s in reports]
    for chart in CHARTS.values():
        for one, report in zip(found, reports, strict=True):
            assert chart.values(one) == pytest.approx(chart.values(report))


def test_a_coarse_step_has_means_and_peaks(folder: Path) -> None:
    reports = RecordedRun(folder).samples("narrow", 0.0, float("inf"))
    third = read_past(folder, "narrow", 60.0)[2]
    inside = [r for r in reports if third.at - 60.0 < r.at <= third.at]
    assert len(inside) == 30

    def over(chart: str, how: Callable[[list[float]], float]) -> float:
        return how([CHARTS[chart].values(r)[0] or 0.0 for r in inside])

    assert third.at % 60.0 == 0.0
    assert third.period_s == pytest.approx(60.0)
    assert CHARTS["load"].values(third)[0] == pytest.approx(over("load", mean))
    assert CHARTS["latency"].values(third)[0] == pytest.approx(over("latency", max))
    assert CHARTS["queue"].values(third)[0] == over("queue", max)


def test_only_live_runs_of_that_cluster_in_that_range(folder: Path) -> None:
    runs, past = list_runs(folder.parent), Past(folder.parent)

    def times(cluster: str, since: float, until: float) -> list[float]:
        found: list[ClusterSample] = past.samples(runs, cluster, since, until)
        return [s.at for s in found]

    assert times("wide", T0, T0 + 60.0) == [T0 + PERIOD_S * (i + 1) for i in range(30)]
    assert times("nobody", T0, T0 + 60.0) == []
    assert times("wide", T0 - 90.0, T0 - 60.0) == []
    hours = times("wide", T0 - 80 * 86_400.0, T0 + 86_400.0)
    assert len(hours) == 1, "90 days are shown by the hour"
