"""Growing logs: half lines, compressed streams, parts that follow each other."""

import os
import threading
import time

import eventlog_logs as logs
import pytest
import zstandard
from eventlog_logs import T0

from controllers.model.errors import InvalidInput
from metrics.eventlog.follow import Follower


class Following:
    """A follower in a thread, with what it has given so far."""

    def __init__(self, path):
        self.samples = []
        self.error = None
        self._stop = threading.Event()
        self.follower = Follower(path, poll_s=0.005, stop=self._stop.is_set)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            for sample in self.follower.samples():
                self.samples.append(sample)
        except Exception as error:
            self.error = error

    def until(self, condition):
        end = time.monotonic() + 5
        while not condition(self):
            assert time.monotonic() < end, (self.follower.summary, len(self.samples), self.error)
            time.sleep(0.005)

    def ended(self):
        self._thread.join(5)
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
