"""An event log that somebody uploads: parts in, a run out, nothing left over.

    <runs>/.uploads/<job>/file         the log, as far as it has come
    <runs>/.uploads/<job>/status.json  how far the job is, to be read by any web worker

The log is read in a process of its own (`python -m weir.metrics.runs.upload JOB RUNS`), so that
neither its size nor a mistake in it troubles the web server.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal
from uuid import uuid4

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.errors import (
    UNREADABLE,
    Busy,
    InvalidInput,
    NotFound,
    Refused,
    WeirError,
)
from weir.metrics.eventlog.importer import Imported, import_log, is_passed_over, none_among
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.reader import Allowance
from weir.metrics.files import replace_file
from weir.metrics.runs.process import begin, is_running

UPLOADS = ".uploads"
MOST_BYTES = 20_000_000_000
EXPANDED_MOST = 100_000_000_000
"""Plain bytes that one log may expand to."""
JOBS_MOST = 4
"""Uploads that may be under way at a time."""
FREE_LEAST = 1_000_000_000
"""Bytes of the disk that uploads leave to others."""
_MODULE = "weir.metrics.runs.upload"
_STATUS = "status.json"
_STALE_S = 86_400.0
"""How long the outcome of an upload can be asked for."""
_GIVEN_UP_S = 900.0
"""An upload that gets no part for this long is given up: it would keep others waiting."""
_JOB = re.compile(r"[0-9a-f]{32}$")


class UploadStatus(Struct, kw_only=True):
    """How far a job is."""

    state: Literal["uploading", "reading", "done", "failed"] = "uploading"
    name: str = ""
    size_bytes: int = 0
    done_bytes: int = 0
    message: str = ""
    runs: list[str] = []
    pid: int = 0  # of the process that reads


class Jobs:
    """Uploads into one folder of runs."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def begin(self, name: str, size_bytes: int) -> str:
        """A new job for a file of this name and size."""
        if size_bytes <= 0:
            raise InvalidInput("The file is empty.", field="size")
        if size_bytes > MOST_BYTES:
            raise InvalidInput(
                f"The file has {size_bytes / 1e9:.1f} GB; at most {MOST_BYTES / 1e9:.0f} GB can be "
                "uploaded. Import larger ones with `weir import`.",
                field="size",
            )
        folder = self.root / UPLOADS
        folder.mkdir(parents=True, exist_ok=True)
        self._sweep(folder)
        under_way = list(self._under_way(folder))
        if len(under_way) >= JOBS_MOST:
            raise Busy(f"{JOBS_MOST} uploads are under way already; wait until one is read.")
        waiting_for = sum(s.size_bytes - s.done_bytes for s in under_way)
        if shutil.disk_usage(folder).free < size_bytes * 2 + waiting_for + FREE_LEAST:
            raise Refused("There is not enough room on the disk of the web server.")
        job = uuid4().hex
        (folder / job).mkdir()
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name).strip(".-")[-120:] or "event-log"
        safe = f"log-{safe}" if safe == _STATUS else safe  # a name that is ours already
        _keep(folder / job, UploadStatus(name=safe, size_bytes=size_bytes))
        return job

    def add(self, job: str, at: int, part: bytes) -> int:
        """Add a part that begins at byte `at`; the same part twice is one. The bytes so far."""
        folder = self._folder(job)
        status = _status(folder)
        file = folder / status.name
        have = file.stat().st_size if file.exists() else 0
        if status.state != "uploading":
            raise Refused("This upload is complete already.")
        if at + len(part) > status.size_bytes:
            raise InvalidInput("The file is larger than was said at first.", field="at")
        if at > have:
            raise InvalidInput(f"Part {at} came before byte {have}.", field="at")
        if at < have:
            return have
        with file.open("ab") as out:
            out.write(part)
        return have + len(part)

    def read(self, job: str) -> None:
        """The file is there: read it, in a process of its own."""
        folder = self._folder(job)
        status = _status(folder)
        have = (folder / status.name).stat().st_size if (folder / status.name).exists() else 0
        if have != status.size_bytes:
            raise Refused(f"Only {have:,} of {status.size_bytes:,} bytes have arrived.")
        if status.state != "uploading":
            return
        status.state = "reading"
        _keep(folder, status)
        status.pid = begin(_MODULE, folder, self.root)
        _keep(folder, status)

    def status(self, job: str) -> UploadStatus:
        """How far a job is."""
        folder = self._folder(job)
        found = _status(folder)
        if found.state == "reading" and not is_running(found.pid, _MODULE, folder):
            found = _status(folder)  # it may have come to its end just now
            if found.state == "reading":
                found.state = "failed"
                found.message = (
                    "The process that read it ended before it was done; upload it again."
                )
                (folder / found.name).unlink(missing_ok=True)
        return found

    def _folder(self, job: str) -> Path:
        folder = self.root / UPLOADS / job
        if not _JOB.match(job) or not folder.is_dir():
            raise NotFound("There is no such upload.")
        return folder

    def _under_way(self, folder: Path) -> Iterator[UploadStatus]:
        for job in folder.iterdir():
            with suppress(WeirError, OSError):
                found = self.status(job.name)
                if found.state in ("uploading", "reading"):
                    yield found

    def _sweep(self, folder: Path) -> None:
        """Remove what was given up, and what cannot be read."""
        for old in folder.iterdir():
            try:
                state = self.status(old.name).state
            except (WeirError, OSError):
                state = "uploading"
            most_s = _GIVEN_UP_S if state == "uploading" else _STALE_S
            if state != "reading" and time.time() - _last_change(old) > most_s:
                shutil.rmtree(old, ignore_errors=True)


def work(folder: Path, root: Path) -> UploadStatus:
    """Make runs of an uploaded log; says in its status what became of it."""
    status = _status(folder)
    status.pid = os.getpid()
    kept_at = 0.0

    def on_bytes(count: int) -> None:
        nonlocal kept_at
        status.done_bytes += count
        if time.monotonic() - kept_at > 0.3:
            kept_at = time.monotonic()
            _keep(folder, status)

    done: list[Imported] = []
    problems: list[str] = []
    passed, allowance = 0, Allowance(EXPANDED_MOST)  # for all logs of the upload together
    try:
        logs = locate(folder / status.name)
    except WeirError as error:
        logs, problems = [], [str(error)]
    for log in logs:
        own = replace(log, folder="")  # the upload's, which says nothing of the log
        try:
            with closing(import_log(own, root, on_bytes=on_bytes, allowance=allowance)) as attempts:
                for imported in attempts:
                    done.append(imported)
        except WeirError as error:
            if is_passed_over(log, error):
                passed += 1
            else:
                problems.append(str(error))
        except Exception as error:  # whatever is wrong with one log, the others are read
            problems.append(f"{log.name} cannot be read ({type(error).__name__})")
    if passed and not done and not problems:
        problems.append(str(none_among(passed)))
    status.state = "done" if done else "failed"
    status.message = " ".join([*_words(done), *(f"{p.rstrip('.')}." for p in problems[:3])])
    status.runs = [Path(i.run).name for i in done if i.run]
    (folder / status.name).unlink(missing_ok=True)
    _keep(folder, status)
    return status


def _words(done: list[Imported]) -> list[str]:
    made = sum(i.run is not None for i in done)
    broken = sum(i.summary.broken_lines for i in done)
    tail = f", {broken:,} broken line{'' if broken == 1 else 's'} skipped" if broken else ""
    notes = [f"{note}." for i in done for note in i.notes]
    return [f"Imported {made} run{'' if made == 1 else 's'}{tail}."] * bool(made) + notes[:3]


def _status(folder: Path) -> UploadStatus:
    try:
        return msgspec.json.decode((folder / _STATUS).read_bytes(), type=UploadStatus)
    except (FileNotFoundError, *UNREADABLE):
        raise NotFound("What is known of this upload cannot be read; upload it again.") from None


def _last_change(folder: Path) -> float:
    """When the last part came; a folder's own time says nothing of what is added to its files."""
    with suppress(OSError):
        return max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    return time.time()


def _keep(folder: Path, status: UploadStatus) -> None:
    replace_file(folder / _STATUS, msgspec.json.encode(status))


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]))
