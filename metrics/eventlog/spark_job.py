"""Many logs at once: the importer as a PySpark job, one log per task.

Every task reads one log and writes its run to `runs_dir`, so logs and runs must be
on storage that all executors reach under the same path. Our own packages travel
with the job; msgspec, pyarrow, zstandard and lz4 must be installed there, for the
Python that `PYSPARK_PYTHON` names (without it, the one that runs this).

A task works in a hidden folder of the job beside the runs and moves what is
complete into its place. What a task that was ended leaves there goes with the job.
"""

import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from msgspec.structs import replace

from weir.controllers.model.errors import Unavailable, WeirError
from weir.metrics.eventlog.importer import Imported, import_log
from weir.metrics.eventlog.locate import Log
from weir.metrics.eventlog.spark_batch import application
from weir.metrics.eventlog.tables import HIDDEN, ThereIsMore, put

if TYPE_CHECKING:
    from pyspark import SparkContext

Outcome = tuple[Log, list[Imported], WeirError | None]
_PACKAGES = ("controllers", "metrics")
_POLL_S = 0.5


def import_one(log: Log, runs_dir: str | None, staging: str | None = None) -> Outcome:
    """Import one log; an error is a value, so that one bad log does not end the job."""
    done: list[Imported] = []
    try:
        if staging:
            os.makedirs(staging, exist_ok=True)
        for imported in import_log(log, staging or runs_dir):
            done.append(_place(imported, runs_dir) if staging and runs_dir else imported)
    except WeirError as error:
        return log, done, error
    except Exception as error:  # whatever one log does, the others are imported
        logging.getLogger(__name__).exception("import of %s", log.name)
        return log, done, WeirError(f"{log.name} cannot be imported: {error or repr(error)}")
    return log, done, None


def _own(staging: str | None, number: int) -> str | None:
    """The folder of one task: two logs of one application have runs of the same name."""
    return None if staging is None else os.path.join(staging, str(number))


def _place(imported: Imported, runs_dir: str) -> Imported:
    """Move a complete run out of the job's folder."""
    if imported.run is None:
        return imported
    folder = Path(imported.run)
    try:
        return replace(imported, run=str(put(folder, Path(runs_dir) / folder.name)))
    except ThereIsMore as error:
        return replace(imported, run=None, notes=(*imported.notes, str(error)))


def import_with_spark(
    logs: Iterable[Log],
    runs_dir: str | None,
    master: str,
    on_done: Callable[[int], None] = lambda _: None,
) -> list[Outcome]:
    """Import all logs on a Spark cluster; `on_done` is told how many tasks have ended."""
    order = list(logs)
    # Large ones first, so that none is left for last.
    work = sorted(enumerate(order), key=lambda item: -item[1].size_bytes)
    target = None if runs_dir is None else os.path.abspath(runs_dir)
    failed = f"Spark at {master} did not finish the import"
    with _staging(target) as staging:
        _answers(master)
        with application(master, "weir import", _PACKAGES, failed) as context:
            tasks = context.parallelize(work, max(1, len(work)))
            job = tasks.map(
                lambda item: (item[0], import_one(item[1], target, _own(staging, item[0])))
            )
            outcomes = dict(_watch(context, job.collect, on_done))
    return [outcomes[number] for number in range(len(order))]


def _watch(
    context: "SparkContext", job: Callable[[], list[Any]], on_done: Callable[[int], None]
) -> list[Any]:
    """Run the job in a thread, so that Ctrl-C reaches us and progress can be shown."""
    tracker = context.statusTracker()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(job)
        while wait([running], _POLL_S).not_done:
            stages = (tracker.getStageInfo(id) for id in tracker.getActiveStageIds())
            on_done(sum(stage.numCompletedTasks for stage in stages if stage))
        return running.result()


@contextmanager
def _staging(runs_dir: str | None) -> Iterator[str | None]:
    """A hidden folder beside the runs for as long as the job runs."""
    if runs_dir is None:
        yield None
        return
    folder = Path(runs_dir) / f"{HIDDEN}{uuid4().hex}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise Unavailable(f"no run can be written to {runs_dir}: {error.strerror}") from None
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answers(master: str) -> None:
    """Spark itself would try a Standalone master that is not there for a minute."""
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        url = urlsplit(f"//{address}")
        try:
            socket.create_connection((url.hostname or "", url.port or 7077), timeout=5).close()
            return
        except (OSError, ValueError):
            continue
    raise Unavailable(f"no Spark master answers at {master}")
