"""Growing logs: half lines, compressed streams, parts that follow each other."""

import os
import threading
import time

import pytest
import zstandard

from tests.support.waiting import wait_until
from tests.unit.metrics.eventlog import eventlog_logs as logs
from tests.unit.metrics.eventlog.eventlog_logs import T0
from weir.controllers.model.errors import InvalidInput
from weir.metrics.eventlog.follow import Follower
from weir.metrics.eventlog.importer import import_log
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.tables import read_meta, read_samples
from weir.metrics.runs import follow as run_follow
from weir.metrics.runs.follow import FollowedRun
from weir.metrics.runs.library import delete_run, list_runs, recording


class Following:
    """A follower in a thread, with what it has given so far."""

    def __init__(self, path, runs=None):
        self.samples = []
        self.error = None
        self._stop = threading.Event()
        self.follower = Follower(path, poll_s=0.005, stop=self._stop.is_set)
        self.run = None if runs is None else FollowedRun(runs, self.follower)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            for sample in self.follower.samples():
                self.samples.append(sample)
                if self.run is not None:
                    self.run.add(sample)
        except Exception as error:
            self.error = error

    def until(self, condition):
        wait_until(lambda: self.error or condition(self), 5, f"{self.follower.summary}")
        assert self.error is None

    def ended(self):
        self._thread.join(120)
        assert not self._thread.is_alive()
        assert self.error is None
        return self.follower.summary

    def stop(self):
        self._stop.set()
        return self.ended()


def tasks(first, count):
    return logs.text([logs.task_end(n, launch=T0 + 1000 * n) for n in range(first, first + count)])


HEAD = logs.text([logs.log_start(), logs.executor_added("1"), logs.app_start(), logs.stage(0)])


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_samples_come_while_the_log_grows_and_half_lines_wait(tmp_path):
    path = tmp_path / "app-1.inprogress"
    path.write_bytes(HEAD)
    following = Following(path)
    data = tasks(0, 40)
    append(path, data[:-50])
    following.until(lambda f: len(f.samples) == 2)  # 39 s seen, one period of grace
    assert [s.operators[0].tasks for s in following.samples] == [10, 10]
    append(path, data[-50:])
    following.until(lambda f: f.follower.summary.tasks_ended == 40)
    append(path, logs.app_end(T0 + 41_000) + b"\n")
    summary = following.ended()
    assert (summary.complete, summary.broken_lines, summary.lines) == (True, 0, 45)
    assert sum(o.tasks for s in following.samples for o in s.operators) == 40


def test_stopping_does_not_call_the_half_line_broken(tmp_path):
    path = tmp_path / "app-1"
    path.write_bytes(HEAD + tasks(0, 3)[:-20])
    before = path.read_bytes()
    following = Following(path)
    following.until(lambda f: f.follower.summary.tasks_ended == 2)
    summary = following.stop()
    assert (summary.complete, summary.broken_lines) == (False, 0)
    assert path.read_bytes() == before


def test_a_compressed_log_is_followed_too(tmp_path):
    path = tmp_path / "app-1.zstd"
    packer = zstandard.ZstdCompressor().compressobj()
    block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    path.write_bytes(packer.compress(HEAD) + packer.flush(block))
    following = Following(path)
    append(path, packer.compress(tasks(0, 5)) + packer.flush(block))
    following.until(lambda f: f.follower.summary.tasks_ended == 5)
    append(path, packer.compress(logs.app_end() + b"\n") + packer.flush())
    assert following.ended().complete


def test_a_rolling_log_goes_on_in_its_next_part(tmp_path):
    (tmp_path / "appstatus_a.inprogress").touch()
    (tmp_path / "events_1_a").write_bytes(HEAD + tasks(0, 2))
    following = Following(tmp_path)
    following.until(lambda f: f.follower.summary.tasks_ended == 2)
    (tmp_path / "events_2_a").write_bytes(tasks(2, 2))
    following.until(lambda f: f.follower.summary.tasks_ended == 4)
    (tmp_path / "events_2_a.compact").write_bytes(HEAD + tasks(0, 1))  # what was read already
    (tmp_path / "events_1_a").unlink()
    (tmp_path / "events_2_a").unlink()
    (tmp_path / "events_3_a").write_bytes(tasks(4, 1))
    following.until(lambda f: f.follower.summary.tasks_ended == 5)
    append(tmp_path / "events_3_a", logs.app_end() + b"\n")
    assert following.ended().tasks_ended == 5


def test_a_databricks_folder_begins_anew_under_the_same_name(tmp_path):
    live = tmp_path / "eventlog"
    (tmp_path / "eventlog-2023-11-14--21-00.gz").write_bytes(logs.PACKED["gzip"](HEAD))
    live.write_bytes(tasks(0, 2))
    following = Following(tmp_path)
    following.until(lambda f: f.follower.summary.tasks_ended == 2)
    fresh = tmp_path / "._new"
    fresh.write_bytes(tasks(2, 3) + logs.app_end() + b"\n")
    (tmp_path / "eventlog-2023-11-14--22-00.gz").write_bytes(logs.PACKED["gzip"](tasks(0, 2)))
    os.replace(fresh, live)
    assert following.ended().tasks_ended == 5


def test_a_log_that_is_renamed_at_its_end_ends(tmp_path):
    path = tmp_path / "app-1.inprogress"
    path.write_bytes(HEAD + tasks(0, 2))
    following = Following(path)
    following.until(lambda f: f.follower.summary.tasks_ended == 2)
    path.rename(tmp_path / "app-1")
    assert not following.ended().complete


def test_what_cannot_be_followed_is_said_at_once(tmp_path):
    with pytest.raises(InvalidInput, match="does not exist"):
        Follower(tmp_path / "none")
    for name in "ab":
        (tmp_path / name).write_bytes(HEAD)
    with pytest.raises(InvalidInput, match="2 logs"):
        Follower(tmp_path)


class TestRun:
    """What is followed is a run, from its first sample on."""

    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch):
        monkeypatch.setattr(run_follow, "FLUSH_S", -1.0)

    def following(self, tmp_path):
        path = tmp_path / "app-1.inprogress"
        path.write_bytes(HEAD + tasks(0, 40))
        following = Following(path, tmp_path / "runs")
        following.until(lambda f: [r.samples for r in list_runs(tmp_path / "runs")] == [2])
        return path, following

    def test_it_grows_and_ends(self, tmp_path):
        path, following = self.following(tmp_path)
        (run,) = list_runs(tmp_path / "runs")
        assert (run.id, run.kind, run.complete) == ("log-app-1", "eventlog", False)
        assert recording(run, run.last_at + 20)
        append(path, tasks(40, 20) + logs.app_end(T0 + 61_000) + b"\n")
        following.ended()
        assert following.run.end() == tmp_path / "runs" / "log-app-1"
        (run,) = list_runs(tmp_path / "runs")
        assert (run.complete, run.samples) == (True, 7)
        assert read_samples(tmp_path / "runs" / run.id) == following.samples
        assert read_meta(tmp_path / "runs" / run.id)["summary"]["tasks_ended"] == 60

    def test_days_lie_apart(self, tmp_path, monkeypatch):
        monkeypatch.setattr(run_follow, "FLUSH_S", 5.0)
        path = tmp_path / "app-1"
        late = [logs.task_end(n, launch=T0 + 3_600_000 * n) for n in range(3)]
        path.write_bytes(HEAD + logs.text([*late, logs.app_end(T0 + 3_600_000 * 3)]))
        following = Following(path, tmp_path / "runs")
        following.ended()
        folder = following.run.end()
        assert len(list((folder / "clusters").iterdir())) == 2
        assert read_samples(folder) == following.samples

    def test_followed_again_it_begins_anew(self, tmp_path):
        path, following = self.following(tmp_path)
        following.stop()
        following.run.end()
        again = Following(path, tmp_path / "runs")
        again.stop()
        folder = again.run.end()
        assert read_samples(folder) == again.samples
        assert [r.id for r in list_runs(tmp_path / "runs")] == ["log-app-1"]

    @pytest.mark.parametrize("who", ["deleted", "imported"])
    def test_who_takes_it_away_has_the_last_word(self, tmp_path, who):
        path, following = self.following(tmp_path)
        if who == "deleted":
            delete_run(tmp_path / "runs", "log-app-1", time.time())
        else:
            copy = tmp_path / "copy"
            copy.write_bytes(path.read_bytes() + logs.app_end(T0 + 70_000) + b"\n")
            (done,) = import_log(locate(copy)[0], tmp_path / "runs")
        append(path, tasks(40, 20))
        following.stop()
        assert following.run.end() is None
        assert "was deleted or replaced" in following.run.note
        left = [r.samples for r in list_runs(tmp_path / "runs")]
        assert left == ([] if who == "deleted" else [len(read_samples(done.run))])
