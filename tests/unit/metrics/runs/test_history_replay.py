"""A replayed world is the recorded one."""

from contextlib import closing

import pytest
from msgspec.structs import replace

from tests.unit.metrics.runs.history_world import T0, fed, feed
from weir.controllers.model.errors import Refused
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs import replay
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.replay import RecordedRun


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    store = fed(600)
    recorder = Recorder(store, root, chunk_samples=100)
    recorder.step(T0 + 600)
    feed(store, T0 + 600, 300)
    recorder.close()
    return root / list_runs(root)[0].id


def test_samples_are_the_recorded_ones(run):
    replayed, recorded = RecordedRun(run), read_samples(run)
    assert len(recorded) == 900
    for cluster in ("a", "b"):
        mine = [s for s in recorded if s.cluster.name == cluster]
        assert replayed.samples(cluster, 0, float("inf")) == mine
        assert replayed.samples(cluster, T0 + 300, T0 + 420) == [
            s for s in mine if T0 + 300 <= s.at <= T0 + 420
        ]
        assert replayed.before(cluster, T0 + 301) == [s for s in mine if s.at <= T0 + 301][-1]
    assert replayed.before("a", T0) is None
    assert replayed.samples("nobody", 0, float("inf")) == []
    assert replayed.names == ["a", "b"]


def test_single_samples_are_the_recorded_ones_but_for_executors_and_batches(run):
    replayed = RecordedRun(run)
    moments = [T0 - 5, *(T0 + at for at in (1, 2, 2.5, 301, 302, 700, 5000))]
    for cluster in ("a", "b"):
        whole = [replayed.before(cluster, at) for at in moments]
        assert replayed.sparse(cluster, moments) == [
            s if s is None else replace(s, executors=(), batches=()) for s in whole
        ]
        assert whole[0] is None
        assert len({s.at for s in whole[1:] if s}) > 3
    assert replayed.sparse("nobody", moments) == [None] * len(moments)


def test_a_run_that_is_too_large_is_refused_in_a_sentence(run, monkeypatch):
    monkeypatch.setattr(replay, "MOST_BYTES", 1000)
    with pytest.raises(Refused, match="replay a shorter run"):
        RecordedRun(run)


def test_an_imported_run_of_an_older_version_reads_with_defaults(run, tmp_path):
    """A column that the run does not have is the field's default."""
    import pyarrow.parquet as pq

    for table in ("clusters", "operators", "executors"):
        for file in (run / table).rglob("*.parquet"):
            to = tmp_path / file.relative_to(run)
            to.parent.mkdir(parents=True, exist_ok=True)
            with closing(pq.ParquetFile(file)) as old:
                gone = ("message", "declared", "tasks", "skew")
                keep = [n for n in old.schema_arrow.names if n not in gone]
                pq.write_table(old.read(columns=keep), to)
    (tmp_path / "meta.json").write_bytes((run / "meta.json").read_bytes())
    assert RecordedRun(tmp_path).samples("b", 0, float("inf")) == [
        s for s in read_samples(tmp_path) if s.cluster.name == "b"
    ]
    assert RecordedRun(tmp_path).samples("b", 0, float("inf"))[0].cluster.message == ""
    assert RecordedRun(run).samples("a", 0, float("inf"))[0].cluster.declared == ("a-idle", "a-op")
    assert RecordedRun(tmp_path).samples("a", 0, float("inf"))[0].cluster.declared is None
