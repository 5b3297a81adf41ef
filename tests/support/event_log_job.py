"""A small application with an event log, and what Spark itself says about it.

Batch jobs with a task that fails and is run again, a streaming query over files and
one with state over a clock; before it stops, its own REST API is asked for the
figures that an import of the log must give. `--rounds` makes the log longer:

    PYTHONPATH=. python tests/support/event_log_job.py --log-dir LOGS --plain --rounds 20
"""

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

LOOPBACK = "127.0.0.1"
_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # it lives for seconds
FILES, ROWS_PER_FILE = 3, 250


def main() -> None:
    """Run everything once and print the figures as one JSON object."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--master", default="local[2,4]", help="local[2,4] tries tasks 4 times")
    arguments.add_argument("--log-dir", type=Path, required=True)
    arguments.add_argument("--plain", action="store_true", help="one file, not compressed")
    arguments.add_argument("--rounds", type=int, default=1, help="of the batch jobs")
    arguments.add_argument("--partitions", type=int, default=4)
    arguments.add_argument("--stream-seconds", type=float, default=1.0)
    options = arguments.parse_args()
    options.log_dir.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        spark = session(options, Path(folder))
        try:
            for _ in range(options.rounds):
                batch_jobs(spark, options.partitions)
            queries = streams(spark, Path(folder), options.stream_seconds)
            print(json.dumps(figures(spark, queries)))
        finally:
            spark.stop()


def session(options: argparse.Namespace, folder: Path) -> SparkSession:
    """Spark's own defaults for the log (rolling, compressed) unless `plain`."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": options.log_dir.resolve().as_uri(),
        "spark.eventLog.rolling.enabled": str(not options.plain).lower(),
        "spark.eventLog.compress": str(not options.plain).lower(),
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": "768m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "2",
        "spark.cores.max": "2",  # one executor
        "spark.driver.extraJavaOptions": _JAVA,
        "spark.executor.extraJavaOptions": _JAVA,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.python.authenticate.socketTimeout": "120s",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(options.master).appName("figures")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def batch_jobs(spark: SparkSession, partitions: int) -> None:
    """A shuffle, and a task that fails once."""
    numbers = spark.range(0, 20_000, 1, partitions)
    assert numbers.groupBy((F.col("id") % 7).alias("key")).agg(F.sum("id")).count() == 7

    def fails_once(index: int, rows: Iterable[int]) -> Iterable[int]:
        context = TaskContext.get()
        assert context is not None
        if index == 1 and context.attemptNumber() == 0:
            raise ValueError("asked to fail")
        return rows

    rdd = spark.sparkContext.parallelize(range(100), partitions)
    assert rdd.mapPartitionsWithIndex(fails_once).count() == 100


def streams(spark: SparkSession, folder: Path, seconds: float) -> list[StreamingQuery]:
    """Files until all are read, and a counted clock for some seconds."""
    source = folder / "source"
    source.mkdir()
    for number in range(FILES):
        rows = (json.dumps({"n": number * ROWS_PER_FILE + i}) for i in range(ROWS_PER_FILE))
        (source / f"{number}.json").write_text("\n".join(rows))
    read = spark.readStream.schema("n long").option("maxFilesPerTrigger", 1).json(str(source))
    files = read.writeStream.format("memory").queryName("files").trigger(availableNow=True).start()
    clock = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    counted = clock.groupBy((F.col("value") % 5).alias("key")).count()
    ticks = (
        counted.writeStream.format("memory")
        .outputMode("complete")
        .queryName("ticks")
        .trigger(processingTime="4 seconds")
        .start()
    )
    files.awaitTermination()
    deadline = time.monotonic() + 60
    while sum(p.numInputRows for p in ticks.recentProgress) == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(seconds)
    # Between two batches: the tasks of a job that is cancelled end after it, uncounted by Spark.
    while ticks.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.02)
    ticks.stop()
    return [files, ticks]


def figures(spark: SparkSession, queries: list[StreamingQuery]) -> dict[str, Any]:
    """What Spark's REST API and the queries' own progress say."""
    context = spark.sparkContext
    base = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
    # A query that is stopped kills its tasks, whose ends come a moment later.
    while any(x["activeTasks"] for x in ask(f"{base}/executors")):
        time.sleep(0.1)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    stages, executors, jobs = (ask(f"{base}/{what}") for what in ("stages", "executors", "jobs"))
    progress = [p for query in queries for p in query.recentProgress]
    return {
        "app_id": context.applicationId,
        "name": context.appName,
        "spark_version": context.version,
        "stages": {
            "tasks_ended": total(stages, "numCompleteTasks", "numFailedTasks", "numKilledTasks"),
            "tasks_failed": total(stages, "numFailedTasks"),
            "executor_run_time_ms": total(stages, "executorRunTime"),
        },
        "executors": {
            "tasks_ended": total(executors, "totalTasks"),  # none is active
            "tasks_failed": total(executors, "failedTasks"),
            "executors_added": sum(x["id"] != "driver" for x in executors),
        },
        "jobs": {
            "tasks_ended": total(jobs, "numCompletedTasks", "numFailedTasks", "numKilledTasks"),
            "tasks_failed": total(jobs, "numFailedTasks"),
        },
        "queries": {
            "queries": len({query.id for query in queries}),
            "progress_events": len(progress),
            "input_rows": sum(p.numInputRows for p in progress),
        },
        "rows_by_query": {q.name: sum(p.numInputRows for p in q.recentProgress) for q in queries},
    }


def ask(url: str) -> list[dict[str, Any]]:
    """One answer of the REST API."""
    with urllib.request.urlopen(url, timeout=120) as answer:
        found: list[dict[str, Any]] = json.load(answer)
        return found


def total(items: list[dict[str, Any]], *fields: str) -> int:
    """The sum of these fields over all items."""
    return sum(int(item[field]) for item in items for field in fields)


if __name__ == "__main__":
    main()
