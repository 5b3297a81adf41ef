"""QSpark's overall comparison: its settings, its figures, and a verdict that follows them."""

import pytest

from weir.controllers.model.sample import Batch, ClusterSample
from weir.controllers.model.sample import Cluster as Size
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create
from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import qspark_overall as overall


def run(mean_s: float, over: float, used: float):
    return {
        "mean_s": mean_s, "p50_s": mean_s, "p90_s": mean_s, "over": over, "used": used,
        "actions": 1, "batches": 5, "at": [0.0, 2.0], "latency": [1.0, 2.0], "executors": [1.0, 2.0],
    }  # fmt: skip


def found(learned, spark, three=2.0, six=2.0):
    by = {
        "static 1": run(40.0, 0.9, 1.0), "static 2": run(12.0, 0.6, 2.0),
        "static 3": run(three, 0.1, 3.0), "static 6": run(six, 0.1, 6.0),
        overall.Q: learned, overall.SPARK: spark, overall.OPO: spark, overall.THRESHOLDS: spark,
    }  # fmt: skip
    workloads, labels, _ = overall.sizes(quick=False)
    return {f"{w}-{n}": by[label] for w in workloads for n, label in enumerate(labels)}


def test_every_variant_is_a_scaler() -> None:
    for workload in overall.WORKLOADS:
        for name, settings in overall.scalers(workload).values():
            assert create(name, settings, Scope(cluster="a"))


def test_the_verdict_follows_the_figures() -> None:
    good, bad = run(2.0, 0.05, 2.5), run(9.0, 0.5, 3.5)
    assert overall.conclude(False, found(good, bad)).verdict is ClaimVerdict.REPRODUCED
    assert overall.conclude(False, found(bad, good)).verdict is ClaimVerdict.PARTLY
    worst = found(bad, good, three=11.0, six=3.0)
    assert overall.conclude(False, worst).verdict is ClaimVerdict.NOT


def test_figures_are_weighted_by_time() -> None:
    def at(second: float, executors: int, *batches: Batch) -> ClusterSample:
        cluster = Size(name="lab", executors=executors)
        return ClusterSample(at=100.0 + second, period_s=1.0, cluster=cluster, batches=batches)

    def batch(number: int, second: float, latency_s: float) -> Batch:
        return Batch(
            operator="predictor", id=number, committed_at=100.0 + second, processing_s=1.0, rows=9,
            latency_p50_s=latency_s,
        )  # fmt: skip

    samples = [at(4.0, 1, batch(0, 3.0, 2.0)), at(9.0, 3, batch(1, 9.0, 8.0))]
    seen = overall.figures(samples, 100.0, 110.0, actions=1)
    assert seen["over"] == pytest.approx(0.6)  # the six seconds before the second commit
    assert seen["mean_s"] == pytest.approx((3 * 2.0 + 6 * 8.0 + 1 * 1.0) / 10)
    assert seen["used"] == 2.0
    assert seen["latency"] == [2.0, 2.0, 8.0, 8.0, 8.0]
    assert overall.figures([], 100.0, 110.0, actions=0)["over"] == 1.0
