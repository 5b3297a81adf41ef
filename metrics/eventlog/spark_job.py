"""Many logs at once: the importer as a PySpark job, one log per task.

Every task reads one log and writes its run to `runs_dir`, so logs and runs must be
on storage that all executors reach under the same path. Our own packages travel
with the job; msgspec, pyarrow, zstandard and lz4 must be installed there.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from controllers.model.errors import WeirError
from metrics.eventlog.importer import Imported, import_log
from metrics.eventlog.locate import Log

Outcome = tuple[Log, list[Imported], WeirError | None]
_PACKAGES = ("controllers", "metrics")


def import_one(log: Log, runs_dir: str | None) -> Outcome:
    """Import one log; an error is a value, so that one bad log does not end the job."""
    done: list[Imported] = []
    try:
        done.extend(import_log(log, runs_dir))
    except WeirError as error:
        return log, done, error
    return log, done, None


def import_with_spark(logs: Iterable[Log], runs_dir: str | None, master: str) -> list[Outcome]:
    """Import all logs on a Spark cluster, large ones first so that none is left for last."""
    from pyspark.sql import SparkSession

    work = sorted(logs, key=lambda log: -log.size_bytes)
    target = None if runs_dir is None else os.path.abspath(runs_dir)
    spark = SparkSession.builder.master(master).appName("weir import").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        try:
            spark.sparkContext.addPyFile(_packed(folder))
            tasks = spark.sparkContext.parallelize(work, max(1, len(work)))
            return tasks.map(lambda log: import_one(log, target)).collect()
        finally:
            spark.stop()


def _packed(folder: str) -> str:
    """Our packages as one archive for the executors."""
    root = Path(__file__).resolve().parents[2]
    staging = os.path.join(folder, "packages")
    for package in _PACKAGES:
        shutil.copytree(
            root / package,
            os.path.join(staging, package),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return shutil.make_archive(os.path.join(folder, "weir"), "zip", staging)
