"""SMR, figure 5: peak throughput with and without back-up of the state, on real Spark.

A word count reads rows as fast as it can, with one and with two reducers (state partitions, as
there are two cores). Its counts are those of a batch and forgotten, kept in memory only, kept with a
changelog of each batch, with the whole state written each time, or in a store outside, as Storm's
with Cassandra.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.smr_checkpoints import session, written
from weir.pipeline.local.redis_server import RedisServer

REDUCERS = (1, 2)
INTERVAL_S = 30  # rows of this many seconds in one file
WARM = 2  # batches that are left out
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
WAYS = {
    "none": "no back-up and no state: counts of a batch",
    "memory": "no back-up: counts in the driver's memory",
    "changelog": "back-up of what has changed",
    "whole": "back-up of the whole state",
    "outside": "counts in a store outside",
}


def forgotten(batch: Any, _id: int) -> None:
    """Counts of a batch, for nobody."""
    batch.groupBy("word").count().write.format("noop").mode("overwrite").save()


def in_memory(counts: dict[str, int]) -> Callable[[Any, int], None]:
    """Counts of a batch are added to a dictionary, which is lost with its process."""

    def each(batch: Any, _id: int) -> None:
        for row in batch.groupBy("word").count().toLocalIterator(prefetchPartitions=True):
            counts[row[0]] = counts.get(row[0], 0) + row[1]

    return each


def outside(url: str) -> Callable[[Any, int], None]:
    """Each count of a batch is read and written where all of them are kept, one by one."""

    def write(rows: Iterator[Any]) -> None:
        import redis

        with redis.Redis.from_url(url) as client:
            for row in rows:
                client.hincrby("counts", row[0], row[1])

    def each(batch: Any, _id: int) -> None:
        batch.groupBy("word").count().foreachPartition(write)

    return each


def throughput(bench: Bench, way: str, reducers: int) -> dict[str, Any]:
    """Rows per second of each batch."""
    spark = session(bench)
    batches = 6 if bench.quick else 20
    folder = bench.folder / "rows"
    if not folder.exists() or len(list(folder.iterdir())) != batches + 2:
        shutil.rmtree(folder, ignore_errors=True)
        written(folder, INTERVAL_S, batches)
    checkpoint = bench.folder / f"{way}-{reducers}"
    shutil.rmtree(checkpoint, ignore_errors=True)
    spark.conf.set("spark.sql.shuffle.partitions", str(reducers))
    spark.conf.set("spark.sql.adaptive.enabled", "false")  # it would merge small partitions
    spark.conf.set(CHANGELOG, str(way == "changelog").lower())
    rows = spark.readStream.schema("word string").option("maxFilesPerTrigger", 1)
    stream = rows.parquet(str(folder))
    if way in ("changelog", "whole"):
        writer = stream.groupBy("word").count().writeStream.outputMode("update").format("noop")
    elif way == "none":
        writer = stream.writeStream.foreachBatch(forgotten)
    elif way == "memory":
        writer = stream.writeStream.foreachBatch(in_memory({}))
    else:
        writer = stream.writeStream.foreachBatch(outside(_store(bench)))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    progress = [p for p in query.recentProgress if p["numInputRows"]][WARM:-1]
    shutil.rmtree(checkpoint, ignore_errors=True)
    return {
        "rows_per_s": [
            1000.0 * p["numInputRows"] / p["durationMs"]["triggerExecution"] for p in progress
        ]
    }


def _store(bench: Bench) -> str:
    if "redis" not in bench.shared:
        server = RedisServer(Path(bench.folder / "redis").resolve()).start()
        bench.open.callback(server.stop)
        bench.shared["redis"] = server.url
    return str(bench.shared["redis"])


def parts(_quick: bool) -> list[Step]:
    """Every way with every number of reducers."""

    def part(way: str, reducers: int) -> Step:
        says = f"{WAYS[way]}, {reducers} reducer{'s' if reducers > 1 else ''}"

        def run(bench: Bench) -> Any:
            bench.tell(says, 0.1)
            return throughput(bench, way, reducers)

        return Step(f"{way}-{reducers}", says, run)

    return [part(w, r) for w in WAYS for r in REDUCERS]


def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Back-up costs a little, a store outside much; more reducers do more."""
    rate = {w: [fmean(found[f"{w}-{r}"]["rows_per_s"]) for r in REDUCERS] for w in WAYS}
    last = {w: v[-1] for w, v in rate.items()}
    drop = 100 * (1 - last["changelog"] / last["none"])
    gain = last["changelog"] / last["outside"]
    scaling = last["changelog"] / rate["changelog"][0]
    return Conclusion(
        verdict=verdict_of(
            0.0 < drop < 25.0, gain > 1.0, scaling > 1.6
        ),
        reason=(
            f"With {REDUCERS[-1]} reducers {last['none']:,.0f} rows/s are counted without state and "
            f"{last['changelog']:,.0f} with a back-up of what has changed: a drop of {drop:.0f} %, in "
            "which is also what it costs to have state at all, as Spark keeps none without back-up. "
            f"Added up in the driver's memory, which is lost with it, it is {last['memory']:,.0f}. With "
            f"the whole state written each time it is {last['whole']:,.0f}, with a store outside "
            f"{last['outside']:,.0f}: back-up of changes is {gain:.1f} times as fast. Twice the "
            f"reducers do {scaling:.2f} times as much; a third and fourth would share the two "
            "cores, so the rest of the figure cannot be shown here. On Spark the changelog goes to "
            "the checkpoint's folder, not to peers, so there is one level of back-up, not r = 1 and "
            "2. A batch also has a cost of its own, whatever it does."
        ),
        numbers=(
            ComparedFigure(name="drop by back-up", ours=drop, unit="%", published="around 15 %"),
            ComparedFigure(name="peak throughput without back-up", ours=last["none"], unit="rows/s"),
            ComparedFigure(name="peak throughput with back-up", ours=last["changelog"], unit="rows/s"),
            ComparedFigure(name="back-up against a store outside", ours=gain, unit="times", published="2.8"),
            ComparedFigure(name="two reducers against one, with back-up", ours=scaling, unit="times",
                           published="almost linear: 2"),
        ),
        charts=(
            ResultChart(
                title="Peak throughput (figure 5)", x_title="", y_title="rows/s",
                x=tuple(f"{r} reducer{'s' if r > 1 else ''}" for r in REDUCERS),
                series=tuple(PlotSeries(name=WAYS[w], y=tuple(v)) for w, v in rate.items()),
            ),
        ),
        tables=(
            table(
                "Every way",
                ("way", "reducers", "rows/s, mean", "rows/s, least", "rows/s, most"),
                [
                    (WAYS[w], r, fmean(v), min(v), max(v))
                    for w in WAYS for r in REDUCERS
                    for v in (found[f"{w}-{r}"]["rows_per_s"],)
                ],
            ),
        ),
    )  # fmt: skip


FIGURE_5 = Work(parts=parts, conclude=conclude)
