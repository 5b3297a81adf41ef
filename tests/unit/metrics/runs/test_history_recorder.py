"""The recorder: everything once, nothing twice, whatever happens to it."""

import pyarrow.parquet as pq
import pytest

from tests.unit.metrics.runs.history_world import T0, fed, feed, sample
from weir.controllers.engine.apply.moves import MoveState
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Rebalance
from weir.controllers.engine.recommendation import Recommendation, Status, move_to
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.decision import Move, Reason, Scale
from weir.controllers.model.errors import Refused
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs import writer as record_writer
from weir.metrics.runs.actions import SETTINGS, RecordedAction, as_of
from weir.metrics.runs.library import (
    list_runs,
    run_info,
)
from weir.metrics.runs.recorder import Recorder, only_one
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.timeline import marks
from weir.metrics.store.memory_store import MemoryStore

MIDNIGHT = 1_800_057_600.0


def recorded(root):
    """All samples of all runs, by time and cluster."""
    found = [s for run in list_runs(root) for s in read_samples(root / run.id)]
    return sorted(found, key=lambda s: (s.at, s.cluster.name))


def in_store(store):
    found = [s for c in store.clusters() for s in store.samples(c, 0, float("inf"))]
    return sorted(found, key=lambda s: (s.at, s.cluster.name))


def actions(run):
    rows = []
    for file in sorted((run / "actions").rglob("*.parquet")):
        rows += [RecordedAction(**row) for row in pq.ParquetFile(file).read().to_pylist()]
    return rows


def command(id, at, cluster="a"):
    return Command(
        id=id, cluster=cluster, action=ScaleTo(executors=3), issued_at=at, expires_at=at + 99
    )


def proposal(id, at):
    scale = Scale(cluster="a", executors=3, before=2, reason=Reason(text=""))
    return Recommendation(
        id=id, at=at, expires_at=at + 9000, decision=scale, source="drs", clusters=("a",)
    )


def kept(run, kind):
    """Ids of what was done, with the moments of its versions."""
    return [(a.id, a.at) for a in actions(run) if a.kind == kind]


def test_what_was_reported_is_recorded_to_the_digit(tmp_path):
    store = fed(60)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 60)
    assert recorded(tmp_path) == in_store(store)
    feed(store, T0 + 60, 20)
    recorder.step(T0 + 62)  # held, not yet due
    assert len(recorded(tmp_path)) == 60
    recorder.close()
    assert recorded(tmp_path) == in_store(store)
    (run,) = list_runs(tmp_path)
    assert (run.kind, run.clusters, run.samples, run.complete) == ("live", ("a", "b"), 80, True)
    assert run.operators == ("a-idle", "a-op", "b-idle", "b-op")
    assert run.id == "live-20270115-080002"


def test_a_killed_recorder_loses_nothing_and_doubles_nothing(tmp_path):
    store = fed(60)
    Recorder(store, tmp_path, chunk_samples=16).step(T0 + 60)
    feed(store, T0 + 60, 60)
    second = Recorder(store, tmp_path, chunk_samples=16)
    second.step(T0 + 120)
    feed(store, T0 + 120, 10)
    second.step(T0 + 121)  # held when it is killed
    third = Recorder(store, tmp_path, chunk_samples=16)
    third.step(T0 + 140)
    assert recorded(tmp_path) == in_store(store)
    assert len(list_runs(tmp_path)) == 1
    files = list((tmp_path / list_runs(tmp_path)[0].id / "clusters").rglob("*.parquet"))
    assert len(files) >= 3


@pytest.mark.parametrize("killed_at", range(14))
def test_killed_in_the_middle_of_a_flush(tmp_path, monkeypatch, killed_at):
    """At every rename of two flushes: what is on disk is whole, and the next one goes on."""
    store = fed(20)
    first = Recorder(store, tmp_path, chunk_samples=16)
    real, count = record_writer._replace, iter(range(100))

    def replace(path, write):
        if next(count) == killed_at:
            raise KeyboardInterrupt
        real(path, write)

    monkeypatch.setattr(record_writer, "_replace", replace)
    try:
        first.step(T0 + 20)
        feed(store, T0 + 20, 20)
        first.step(T0 + 60)
    except KeyboardInterrupt:
        pass
    else:
        assert killed_at >= 12
    monkeypatch.undo()
    before = recorded(tmp_path)
    assert before == [s for s in in_store(store) if s in before]
    feed(store, T0 + 60, 10)
    Recorder(store, tmp_path, chunk_samples=16).step(T0 + 80)
    assert recorded(tmp_path) == in_store(store)
    (run,) = list_runs(tmp_path)
    assert run.batches == sum(len(s.batches) for s in in_store(store)) > 0
    assert not list(tmp_path.rglob(".[0-9]*.parquet")) or killed_at < 12


def test_a_new_store_begins_a_new_run(tmp_path):
    Recorder(fed(20), tmp_path).step(T0 + 20)
    Recorder(fed(20, start=T0 + 60), tmp_path).step(T0 + 80)
    assert [r.samples for r in list_runs(tmp_path)] == [20, 20]


def test_a_long_silence_begins_a_new_run(tmp_path):
    store = fed(20)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 20)
    feed(store, T0 + 2000, 20)
    recorder.step(T0 + 2020)
    assert [(r.samples, r.complete) for r in list_runs(tmp_path)] == [(20, False), (20, True)]


def test_a_clock_that_is_set_back_begins_a_new_run(tmp_path):
    store = fed(4, clusters=("a",), start=T0 + 3600.0)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 3604.0)
    store.forget("a", AuditEntry(at=T0, by="redis", action="cluster.forgotten"))
    made = feed(store, T0, 6, ("a",))
    recorder.step(made[0].at)  # what was reported before that moment may have been recorded
    recorder.step(made[-1].at)
    recorder.close()
    assert [s.at for s in recorded(tmp_path)][:2] == [s.at for s in made[1:]]
    assert len(list_runs(tmp_path)) == 2


def test_midnight_begins_a_new_run_and_late_reports_find_the_old_one(tmp_path):
    store = MemoryStore()
    store.append(sample("a", MIDNIGHT - 1))
    recorder = Recorder(store, tmp_path)
    recorder.step(MIDNIGHT - 0.5)
    store.append(sample("a", MIDNIGHT + 1))
    recorder.step(MIDNIGHT + 40)
    store.append(sample("b", MIDNIGHT - 0.5))
    recorder.step(MIDNIGHT + 80)
    new, old = list_runs(tmp_path)
    assert (old.samples, new.samples) == (2, 1)
    recorder.step(MIDNIGHT + 400)
    assert run_info(tmp_path / old.id).complete
    assert not run_info(tmp_path / new.id).complete
    assert recorded(tmp_path) == in_store(store)


def test_actions_are_recorded_with_every_version(tmp_path):
    store = fed(20)
    command = Command(
        id="c", cluster="a", action=ScaleTo(executors=3), issued_at=T0 + 10, expires_at=T0 + 99
    )
    old = Command(
        id="old", cluster="a", action=ScaleTo(executors=1), issued_at=T0 - 9000, expires_at=T0
    )
    store.submit(old)
    store.submit(command)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 20)
    recorder.step(T0 + 21)
    done = CommandResult(id="c", status=CommandStatus.DONE, at=T0 + 25, message="3 executors")
    store.report(done)
    moves = (MoveState(move=Move(operator="x", source="a", target="b")),)
    store.save_rebalance(Rebalance(id="r", at=T0 + 30, moves=moves))
    recorder.step(T0 + 60)
    again = Recorder(store, tmp_path)
    again.step(T0 + 100)
    again.close()
    rows = [a for a in actions(tmp_path / list_runs(tmp_path)[0].id) if a.kind != SETTINGS]
    assert [(a.kind, a.id, a.at - T0) for a in rows] == [
        ("command", "c", 10.0), ("command", "c", 25.0), ("rebalance", "r", 30.0),
    ]  # fmt: skip
    assert as_of(rows, "command", T0 + 9) == []
    assert as_of(rows, "command", T0 + 24)[0][1].status is CommandStatus.PENDING
    assert as_of(rows, "command", T0 + 25) == [(command, done)]
    assert len(as_of(rows, "rebalance", T0 + 30)) == 1


def test_actions_after_a_full_chunk_do_not_keep_the_next_recorder_from_starting(tmp_path):
    store = fed(16)
    recorder = Recorder(store, tmp_path, chunk_samples=16)
    recorder.step(T0 + 16)  # sixteen reports: the chunk is full
    store.submit(command("c", T0 + 17))
    recorder.step(T0 + 50)
    feed(store, T0 + 16, 4)
    Recorder(store, tmp_path, chunk_samples=16).step(T0 + 90)
    assert recorded(tmp_path) == in_store(store)
    (run,) = list_runs(tmp_path)
    assert kept(tmp_path / run.id, "command") == [("c", T0 + 17)]


def test_a_run_that_cannot_be_read_is_left_alone(tmp_path, caplog):
    store = fed(20)
    Recorder(store, tmp_path).step(T0 + 20)
    (old,) = list_runs(tmp_path)
    for file in (tmp_path / old.id / "clusters").rglob("*.parquet"):
        file.write_bytes(b"PAR1 and nothing else")
    Recorder(store, tmp_path).step(T0 + 60)
    assert f"{old.id} cannot be read" in caplog.text
    (new,) = (r for r in list_runs(tmp_path) if r.id != old.id)
    assert read_samples(tmp_path / new.id) == sorted(in_store(store), key=lambda s: s.at)


def test_what_is_done_around_midnight_is_in_the_run_of_its_day(tmp_path):
    store = MemoryStore()
    store.append(sample("a", MIDNIGHT - 1))
    recorder = Recorder(store, tmp_path)
    recorder.step(MIDNIGHT - 0.8)
    store.submit(command("before", MIDNIGHT - 0.5))
    store.report(CommandResult(id="before", status=CommandStatus.DONE, at=MIDNIGHT - 0.3))
    store.submit(command("after", MIDNIGHT + 0.2))
    recorder.step(MIDNIGHT + 0.4)  # no report of the new day yet
    store.report(CommandResult(id="after", status=CommandStatus.DONE, at=MIDNIGHT + 0.5))
    store.append(sample("a", MIDNIGHT + 1))
    recorder.step(MIDNIGHT + 40)
    recorder.close()
    new, old = (tmp_path / r.id for r in list_runs(tmp_path))
    assert ("before", MIDNIGHT - 0.3) in kept(old, "command")
    assert kept(new, "command") == [("after", MIDNIGHT + 1)]


def test_what_is_open_at_midnight_is_in_the_new_day_from_its_beginning(tmp_path):
    store = MemoryStore()
    store.append(sample("a", MIDNIGHT - 100))
    store.save_recommendation(proposal("over", MIDNIGHT - 90))
    store.save_recommendation(
        move_to(proposal("over", MIDNIGHT - 90), Status.REJECTED, at=MIDNIGHT - 80, by="ada")
    )
    store.save_recommendation(proposal("open", MIDNIGHT - 70))
    recorder = Recorder(store, tmp_path)
    recorder.step(MIDNIGHT - 60)
    store.append(sample("a", MIDNIGHT + 1))
    recorder.step(MIDNIGHT + 40)
    approved = move_to(proposal("open", MIDNIGHT - 70), Status.APPROVED, at=MIDNIGHT + 50, by="b")
    store.save_recommendation(approved)
    recorder.step(MIDNIGHT + 80)
    new, old = (tmp_path / r.id for r in list_runs(tmp_path))
    assert kept(new, "recommendation") == [("open", MIDNIGHT + 1), ("open", MIDNIGHT + 50)]
    assert kept(old, "recommendation") == [("over", MIDNIGHT - 80), ("open", MIDNIGHT - 70)]
    found = as_of(actions(new), "recommendation", MIDNIGHT + 2)
    assert [r.status for r in found] == [Status.PROPOSED]
    assert [m.at for m in marks(RecordedRun(new)) if m.kind == "recommendation"] == [MIDNIGHT + 1]


def test_however_much_was_done_while_the_recorder_was_away(tmp_path):
    store = fed(20)
    store.submit(command("slow", T0 + 15))
    store.save_recommendation(slow := proposal("slow", T0 + 15))
    Recorder(store, tmp_path).step(T0 + 20)
    for i in range(320):
        store.submit(command(f"c{i}", T0 + 21 + i / 10))
        made = proposal(f"r{i}", T0 + 21 + i / 10)
        store.save_recommendation(made)
        store.save_recommendation(move_to(made, Status.REJECTED, at=T0 + 60, by="ada"))
        store.append_audit(AuditEntry(at=T0 + 21 + i / 10, by="ada", action="rejected"))
    store.report(CommandResult(id="slow", status=CommandStatus.DONE, at=T0 + 70))
    store.save_recommendation(move_to(slow, Status.REJECTED, at=T0 + 70, by="ada"))
    again = Recorder(store, tmp_path)
    again.step(T0 + 80)
    again.step(T0 + 120)
    (run,) = list_runs(tmp_path)
    for kind, first in (("command", "c"), ("recommendation", "r")):
        found = kept(tmp_path / run.id, kind)
        assert sum(id.startswith(first) for id, _ in found) == 320
        assert [at for id, at in found if id == "slow"] == [T0 + 15, T0 + 70]
    assert len(kept(tmp_path / run.id, "audit")) == 320


def test_one_recorder_per_folder(tmp_path):
    with only_one(tmp_path), pytest.raises(Refused, match="another recorder"), only_one(tmp_path):
        pass
