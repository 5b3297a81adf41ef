"""Uploads of event logs, part by part, and what is refused."""

import io
import os
import time
import zipfile

import pytest

from weir.controllers.model.errors import Busy, InvalidInput, NotFound, Refused
from weir.metrics.runs import upload as run_import
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.upload import UPLOADS, Jobs, work

LOG = b"""{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}
{"Event":"SparkListenerApplicationStart","App Name":"mine","App ID":"app-1","Timestamp":1800000000000,"User":"u"}
{"Event":"SparkListenerApplicationEnd","Timestamp":1800000060000}
"""


def sent(jobs, name, content, part=50):
    job = jobs.begin(name, len(content))
    for at in range(0, len(content), part):
        assert jobs.add(job, at, content[at : at + part]) == min(at + part, len(content))
    return job


class TestUpload:
    def test_a_log_becomes_a_run_and_leaves_nothing_else(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "my app.log", LOG)
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert (status.state, status.message) == ("done", "Imported 1 run.")
        assert [r.id for r in list_runs(tmp_path)] == status.runs == ["log-app-1"]
        assert jobs.status(job) == status
        assert [p.name for p in (tmp_path / UPLOADS / job).iterdir()] == ["status.json"]

    def test_what_is_no_log_is_refused_in_a_sentence(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "../../holiday.jpg", bytes(range(256)) * 4)
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert status.state == "failed"
        assert "holiday.jpg is not a Spark event log" in status.message
        assert list_runs(tmp_path) == []
        assert sorted(p.name for p in tmp_path.iterdir()) == [UPLOADS]

    def test_a_log_may_be_called_as_the_status_is(self, tmp_path):
        status = self.uploaded(tmp_path, "status.json", LOG)
        assert (status.state, status.message) == ("done", "Imported 1 run.")

    def uploaded(self, root, name, content):
        job = sent(Jobs(root), name, content)
        return work(root / UPLOADS / job, root)

    def packed(self, **members):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()

    def test_what_lies_beside_a_log_is_passed_over(self, tmp_path):
        status = self.uploaded(tmp_path, "x.zip", self.packed(README=b"read me", log=LOG))
        assert (status.state, status.message) == ("done", "Imported 1 run.")
        status = self.uploaded(tmp_path, "y.zip", self.packed(README=b"read me", more=b"text"))
        assert (status.state, status.message) == (
            "failed", "no event log among the 2 files there.",
        )  # fmt: skip

    def test_a_bad_log_does_not_keep_a_good_one_out(self, tmp_path):
        status = self.uploaded(tmp_path, "x.zip", self.packed(a=b"ZV\1\0", log=LOG))
        assert (status.state, status.runs) == ("done", ["log-app-1"])
        assert status.message.startswith("Imported 1 run. LZF compression is not supported")

    def test_what_tells_less_than_a_run_says_so(self, tmp_path):
        self.uploaded(tmp_path, "whole", LOG)
        status = self.uploaded(tmp_path, "cut", LOG[: LOG.rindex(b"{")])
        assert (status.state, status.runs) == ("done", [])
        assert status.message.startswith("log-app-1 was made of more of this log and stays")

    def test_the_same_old_log_twice_is_one_run(self, tmp_path):
        for _ in range(2):
            status = self.uploaded(tmp_path, "old", LOG.replace(b'"App ID":"app-1",', b""))
        assert [r.id for r in list_runs(tmp_path)] == status.runs

    def test_a_reader_that_was_killed_is_told_apart_from_one_that_reads(
        self, tmp_path, monkeypatch
    ):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "log", LOG)
        monkeypatch.setattr(run_import, "begin", lambda *_: 2**22 + 1)  # no such process
        jobs.read(job)
        status = jobs.status(job)
        assert (status.state, "upload it again" in status.message) == ("failed", True)
        assert not (tmp_path / UPLOADS / job / "log").exists()
        job = sent(jobs, "log", LOG)
        monkeypatch.setattr(run_import, "is_running", lambda *_: True)
        jobs.read(job)
        assert jobs.status(job).state == "reading"

    def test_parts_come_once_and_in_order(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = jobs.begin("x", 10)
        assert jobs.add(job, 0, b"01234") == 5
        assert jobs.add(job, 0, b"01234") == 5  # sent again because its answer was lost
        with pytest.raises(InvalidInput, match="came before"):
            jobs.add(job, 8, b"89")
        with pytest.raises(InvalidInput, match="larger than was said"):
            jobs.add(job, 5, b"567890")
        with pytest.raises(Refused, match="5 of 10 bytes"):
            jobs.read(job)

    def test_all_logs_of_an_upload_together_expand_to_so_much(self, tmp_path, monkeypatch):
        """Each had the whole allowance, and an archive may hold ten thousand."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(5):
                archive.writestr(f"app-{i}", LOG.replace(b"app-1", b"app-%d" % i))
        jobs = Jobs(tmp_path)
        job = sent(jobs, "logs.zip", packed.getvalue())
        monkeypatch.setattr(run_import, "EXPANDED_MOST", 3 * len(LOG))
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert len(status.runs) == 3
        assert "expands to more than may be read" in status.message

    def test_room_on_the_disk_and_jobs_under_way(self, tmp_path, monkeypatch):
        jobs = Jobs(tmp_path)
        for _ in range(run_import.JOBS_MOST):
            jobs.begin("x", 100)
        with pytest.raises(Busy, match="under way"):
            jobs.begin("x", 100)
        monkeypatch.setattr(run_import, "FREE_LEAST", 1 << 60)
        with pytest.raises(Refused, match="room on the disk"):
            Jobs(tmp_path / "other").begin("x", 100)

    def test_bounds(self, tmp_path, monkeypatch):
        jobs = Jobs(tmp_path)
        monkeypatch.setattr(run_import, "MOST_BYTES", 1000)
        with pytest.raises(InvalidInput, match="at most 0 GB"):
            jobs.begin("x", 1001)
        with pytest.raises(InvalidInput, match="empty"):
            jobs.begin("x", 0)
        for job in ("nobody", "../x", "0" * 32):
            with pytest.raises(NotFound):
                jobs.status(job)


@pytest.mark.parametrize("status", [None, b"{", b"[" * 50_000])
def test_uploads_that_were_abandoned_keep_nobody_waiting(tmp_path, status):
    jobs = Jobs(tmp_path)
    for _ in range(run_import.JOBS_MOST):
        folder = tmp_path / UPLOADS / jobs.begin("log", 100)
        if status is not None:
            (folder / "status.json").write_bytes(status)
        long_ago = time.time() - 3600
        for path in (*folder.iterdir(), folder):
            os.utime(path, (long_ago, long_ago))
    job = jobs.begin("log", 100)
    assert [folder.name for folder in (tmp_path / UPLOADS).iterdir()] == [job]


def test_an_upload_that_goes_on_slowly_is_not_given_up(tmp_path):
    jobs = Jobs(tmp_path)
    slow = jobs.begin("log", 100)
    jobs.add(slow, 0, b"x" * 50)
    os.utime(tmp_path / UPLOADS / slow, (0, 0))
    os.utime(tmp_path / UPLOADS / slow / "status.json", (0, 0))
    jobs.begin("another", 100)
    assert jobs.add(slow, 50, b"x" * 50) == 100
