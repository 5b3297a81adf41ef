"""What watching costs: throughput of a streaming job attached / not attached.

One query runs all the time in one driver, on many small tasks, which is the worst case
for a listener. In turns of a few seconds nothing, Weir's agent or Spark's event log is
added to it; each turn is compared with the plain turns right before and after it. A
listener written in Python cannot be removed again, so it comes last, after one more
plain turn.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks import report
from weir.metrics.agent.agent import attach
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

PARTITIONS = 12
ROWS_PER_BATCH = 24_000


def start(folder: Path) -> tuple[SparkSession, Any]:
    """A local session and a query of small tasks that never waits."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(PARTITIONS))
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", PARTITIONS)
        .load()
    )
    query = (
        rows.repartition(PARTITIONS, "value")
        .select(F.sha2(F.col("value").cast("string"), 256))
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .start()
    )
    return spark, query


def rows_per_s(query: Any, seconds: float) -> float:
    """Rows committed per second, from whole batches only."""
    first = query.lastProgress["batchId"]
    began = time.monotonic()
    while query.lastProgress["batchId"] == first:  # begin at a batch boundary
        time.sleep(0.02)
    began, first = time.monotonic(), query.lastProgress["batchId"]
    until = began + seconds
    while True:
        last = query.lastProgress["batchId"]
        now = time.monotonic()
        if now >= until and last != first:
            while query.lastProgress["batchId"] == last:
                time.sleep(0.02)
            return float((last + 1 - first) * ROWS_PER_BATCH / (time.monotonic() - began))
        time.sleep(0.02)


def event_log(spark: SparkSession, folder: Path) -> Callable[[], None]:
    """Spark's own event log, added while the job runs; returns how to end it."""
    jvm: Any = spark.sparkContext._jvm
    context = spark.sparkContext._jsc.sc()
    folder.mkdir(exist_ok=True)
    conf = context.getConf().set("spark.eventLog.overwrite", "true")
    listener = jvm.org.apache.spark.scheduler.EventLoggingListener(
        f"bench-{time.time_ns()}", jvm.scala.Option.empty(), jvm.java.net.URI(folder.as_uri()),
        conf, context.hadoopConfiguration(),
    )  # fmt: skip
    listener.start()
    context.listenerBus().addToEventLogQueue(listener)

    def end() -> None:
        context.listenerBus().removeListener(listener)
        listener.stop()

    return end


def python_listener(spark: SparkSession) -> None:
    """The obvious way: a listener in Python, called for every event."""
    gateway = spark.sparkContext._gateway
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(gateway)

    class Listener:
        tasks = 0

        def onTaskEnd(self, event: Any) -> None:
            self.tasks += event.taskMetrics().executorRunTime()

        def __getattr__(self, name: str) -> Any:
            if name.startswith("on"):
                return lambda *_: None
            raise AttributeError(name)

        class Java:
            implements = ["org.apache.spark.scheduler.SparkListenerInterface"]

    spark.sparkContext._jsc.sc().addSparkListener(Listener())


def main() -> None:
    """Measure and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=12)
    arguments.add_argument("--seconds", type=float, default=6.0)
    options = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    redis = RedisServer(folder / "redis").start()
    spark, query = start(folder)
    try:
        while (query.lastProgress or {"batchId": 0})["batchId"] < 5:
            time.sleep(0.5)
        time.sleep(10)  # let the compilers finish

        def plain() -> float:
            return rows_per_s(query, options.seconds)

        def attached() -> float:
            agent = attach(spark, "bench", redis.url, period_s=2.0)
            time.sleep(1.0)
            try:
                return rows_per_s(query, options.seconds)
            finally:
                agent.close()
                time.sleep(0.5)

        def logged() -> float:
            end = event_log(spark, folder / "events")
            try:
                return rows_per_s(query, options.seconds)
            finally:
                end()
                shutil.rmtree(folder / "events")

        variants = {"attached to Weir": attached, "Spark's event log": logged}
        ratios: dict[str, list[float]] = {name: [] for name in variants}
        rates: dict[str, list[float]] = {name: [] for name in ("plain", *variants)}
        before = plain()
        for round_ in range(options.rounds):
            order = list(variants)
            random.Random(round_).shuffle(order)
            for name in order:
                rate = variants[name]()
                after = plain()
                ratios[name].append(rate / ((before + after) / 2))
                rates[name].append(rate)
                rates["plain"].append(after)
                before = after
                print(f"round {round_ + 1}: {name} {ratios[name][-1]:.3f}", flush=True)
        samples = RedisStore.at(redis.url).samples("bench", 0, float("inf"))
        dropped = max(s.cluster.dropped_events for s in samples)
        python_listener(spark)
        time.sleep(1.0)
        slowed = [plain() for _ in range(3)]
        name = "a listener in Python (py4j)"
        ratios[name] = [rate / before for rate in slowed]
        rates[name] = slowed
        tasks = 2 * PARTITIONS / ROWS_PER_BATCH
        rows = []
        for label, values in rates.items():
            found = sorted(ratios.get(label, [1.0]))
            rows.append(
                (
                    label,
                    f"{statistics.median(values):,.0f}",
                    f"{statistics.median(values) * tasks:,.0f}",
                    f"{statistics.median(found):.3f}",
                    f"{found[len(found) // 4]:.3f} to {found[-1 - len(found) // 4]:.3f}",
                )
            )
        text = report.table(
            ("with", "rows/s", "tasks/s", "throughput / plain", "middle half"), rows
        )
        text += (
            f"\n\n{options.rounds} rounds of {options.seconds:g} s each, interleaved; the ratio is "
            "to the mean of the plain turns before and after. Listener events dropped while "
            f"attached: {dropped}. The goal is 0.98."
        )
        report.write(
            "listener overhead",
            f"python -m benchmarks.listener_overhead --rounds {options.rounds} "
            f"--seconds {options.seconds:g}",
            text,
        )
        print(text)
    finally:
        with suppress(Exception):
            query.stop()
        spark.stop()
        redis.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
