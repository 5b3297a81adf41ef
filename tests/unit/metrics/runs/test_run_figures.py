"""A run in figures, against the same worked out sample by sample with snapshots."""

from pathlib import Path
from statistics import mean

import numpy as np
import pytest

from tests.unit.metrics.runs.history_world import T0
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.runs.figures import run_figures, run_series
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.store.memory_store import MemoryStore

PERIOD_S = 2.0
COUNT = 300


def reports() -> list[ClusterSample]:
    """Clusters that report at instants of their own: one extracts, the other counts, slowly."""
    found = []
    for i in range(COUNT):
        rate = 100.0 + i % 7
        for name, late_by, executors, operator in (
            ("fast", 0.0, 1 + i // 100, {"name": "extract", "reads": ("in",), "writes": ("words",),
                                         "latency_p50_s": 2.0, "load": 0.4}),
            ("slow", 0.9, 3, {"name": "count", "reads": ("words",), "writes": ("out",),
                              "latency_p50_s": 10.0 + i % 3, "load": 1.5}),
        ):  # fmt: skip
            found.append(
                ClusterSample(
                    at=T0 + PERIOD_S * (i + 1) + late_by,
                    period_s=PERIOD_S,
                    cluster=Cluster(name=name, executors=executors, cores_per_executor=2),
                    operators=(
                        OperatorSample(
                            cluster=name, arrival_rows_per_s=rate, processed_rows_per_s=rate,
                            queue_rows=5, **operator,
                        ),
                    ),
                )
            )  # fmt: skip
    return found


@pytest.fixture
def run(tmp_path: Path) -> RecordedRun:
    store = MemoryStore()
    recorder = Recorder(store, tmp_path)
    for sample in reports():
        assert store.append(sample)
    recorder.step(T0 + PERIOD_S * COUNT + 1.0)
    recorder.close()
    (info,) = list_runs(tmp_path)
    assert info.samples == 2 * COUNT
    return RecordedRun(tmp_path / info.id)


def snapshots() -> list[Snapshot]:
    """What was known at the end of each period, after the first in which both had reported."""
    samples = reports()
    moments = [T0 + PERIOD_S * (i + 1) for i in range(1, COUNT)]
    return [Snapshot.of([s for s in samples if at - 6 < s.at <= at], at) for at in moments]


def test_latency_is_that_of_the_slowest_whoever_reports_when(run: RecordedRun) -> None:
    slowest = [max(o.latency_s or 0.0 for o in s.operators) for s in snapshots()]
    figures = run_figures(run, target_latency_s=10.5)
    assert figures.latency_p50_s == pytest.approx(np.percentile(slowest, 50))
    assert figures.latency_p95_s == pytest.approx(np.percentile(slowest, 95))
    assert figures.share_over_target == pytest.approx(mean(v > 10.5 for v in slowest), abs=0.01)
    assert np.nanmin(run_series(run).latency_s[2:]) >= 10.0, "as the chart shows"


def test_only_what_comes_from_outside_has_arrived(run: RecordedRun) -> None:
    came = sum(100.0 + i % 7 for i in range(COUNT)) * PERIOD_S
    assert run_figures(run, 5.0).rows == pytest.approx(came)
    arriving = run_series(run).arrival_rows_per_s
    assert np.nanmax(arriving) <= 106.0, "not both operators added up"


def test_executors_do_not_flicker_by_who_reported(run: RecordedRun) -> None:
    there = [sum(c.executors for c in s.clusters) for s in snapshots()]
    series = run_series(run).executors[2:-1]
    assert (np.diff(series) >= -1e-9).all(), "they only grew"
    assert np.mean(series) == pytest.approx(mean(there), rel=0.02)


def test_load_is_of_all_cores(run: RecordedRun) -> None:
    first = run_series(run).load[3]
    assert first == pytest.approx((0.4 + 1.5) / ((1 + 3) * 2))
