"""What recorded runs know of a cluster's past, against the samples that were recorded."""

from pathlib import Path
from statistics import mean

import pytest
from msgspec.structs import astuple

from tests.support.recorded_run import PERIOD_S, T0, recorded
from weir.controllers.model.brief import brief_of
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.past import Past, read_past
from weir.metrics.runs.replay import RecordedRun


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("past")
    return root / recorded(root)


def test_as_reported_it_is_what_the_samples_say(folder: Path) -> None:
    reports = RecordedRun(folder).samples("narrow", 0.0, float("inf"))
    found = read_past(folder, "narrow", 0.0)
    for one, report in zip(found, reports, strict=True):
        assert astuple(one) == pytest.approx(astuple(brief_of(report)))


def test_a_coarse_step_has_means_and_peaks(folder: Path) -> None:
    reports = RecordedRun(folder).samples("narrow", 0.0, float("inf"))
    third = read_past(folder, "narrow", 60.0)[2]
    inside = [brief_of(r) for r in reports if third.at - 60.0 < r.at <= third.at]
    assert len(inside) == 30
    assert third.at % 60.0 == 0.0
    assert third.period_s == pytest.approx(60.0)
    for field in ("load", "busy", "arrival_rows_per_s", "processed_rows_per_s"):
        assert getattr(third, field) == pytest.approx(mean(getattr(b, field) for b in inside))
    for field in ("latency_s", "latency_max_s", "queue_rows"):
        assert getattr(third, field) == pytest.approx(max(getattr(b, field) for b in inside))


def test_only_live_runs_of_that_cluster_in_that_range(folder: Path) -> None:
    runs, past = list_runs(folder.parent), Past(folder.parent)

    def times(cluster: str, since: float, until: float) -> list[float]:
        return [brief.at for brief in past.samples(runs, cluster, since, until)]

    assert times("wide", T0, T0 + 60.0) == [T0 + PERIOD_S * (i + 1) for i in range(30)]
    assert times("nobody", T0, T0 + 60.0) == []
    assert times("wide", T0 - 90.0, T0 - 60.0) == []
    hours = times("wide", T0 - 80 * 86_400.0, T0 + 86_400.0)
    assert len(hours) == 1, "90 days are shown by the hour"
