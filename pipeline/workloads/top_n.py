"""DoDo's demonstration: the most frequent topics of a stream of tweets.

    tweets --> extractor --> topics --> topic_count (stateful) --> counts --> top_n

All four names in between are edges in Redis. Every ten seconds `top_n` brings the
ranking up to date.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.agent.track import Backlog
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.edges.source import FORMAT
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.cost import spend, with_cost

TWEETS, TOPICS, COUNTS = "tweets", "topics", "counts"
SHARDS = 4
SHARDS_OF = {TOPICS: GROUPS}  # keyed: a shard is a key group

Seconds = Annotated[float, setting("Cost of one row", unit="s", ge=0, le=10)]


class Settings(Struct, frozen=True):
    """What the three operators cost, and how often they run."""

    extractor_cost_s: Seconds = 0.001
    topic_count_cost_s: Seconds = 0.001
    top_n_cost_s: Seconds = 0.0003
    cost_kind: Annotated[
        Literal["wait", "cpu"],
        setting("wait: as if calling a remote service; cpu: computing"),
    ] = "wait"
    trigger_s: Annotated[float, setting("Time between batches", unit="s", ge=0, le=600)] = 2.0
    top_n_trigger_s: Annotated[float, setting("Time between rankings", unit="s", ge=0)] = 10.0
    max_rows: Annotated[int, setting("Most rows in one batch", unit="rows", ge=1)] = 4_000
    slices: Annotated[
        int, setting("Slices of topic_count at first; 0: it is one query", ge=0, le=GROUPS)
    ] = 0
    top_n_max_rows: Annotated[int, setting("Most rows in one ranking", unit="rows", ge=1)] = 20_000


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def extractor(spark: SparkSession, context: Context) -> DataStreamWriter:
        tweets = _read(spark, context, TWEETS, "extractor", "ts double, text string", use.max_rows)
        topics = observed(tweets, F.col("ts")).mapInArrow(
            _extract(use.extractor_cost_s, kind), "ts double, topic string"
        )
        return write_appended(topics, _to(context, TOPICS))

    def topic_count(spark: SparkSession, context: Context) -> DataStreamWriter:
        topics = _read(
            spark, context, TOPICS, "topic_count", "ts double, topic string", use.max_rows
        )
        rows = with_cost(observed(topics, F.col("ts")), use.topic_count_cost_s, kind)
        if context.is_slice:
            rows = rows.coalesce(1)  # with one shuffle partition: no exchange
        counts = rows.groupBy("topic").agg(F.count(F.lit(1)).alias("n"), F.max("ts").alias("ts"))
        return write_updated(counts, _to(context, COUNTS))

    def top_n(spark: SparkSession, context: Context) -> DataStreamWriter:
        schema = "topic string, n bigint, ts double"
        counts = _read(spark, context, COUNTS, "top_n", schema, use.top_n_max_rows)
        rows = with_cost(observed(counts, F.col("ts")), use.top_n_cost_s, kind)
        return rows.writeStream.foreachBatch(_rank(context.redis_url))

    return [
        Operator(
            "extractor", extractor, use.trigger_s,
            reads=(TWEETS,), writes=(TOPICS,), backlog=_backlog(TWEETS, "extractor"),
        ),
        Operator(
            "topic_count", topic_count, use.trigger_s,
            reads=(TOPICS,), writes=(COUNTS,), backlog=_backlog(TOPICS, "topic_count"),
            key="topic" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "top_n", top_n, use.top_n_trigger_s, reads=(COUNTS,), backlog=_backlog(COUNTS, "top_n")
        ),
    ]  # fmt: skip


def counted(redis_url: str) -> dict[str, int]:
    """The counts that have reached the end of the pipeline."""
    with connect(redis_url) as client:
        return {t.decode(): int(n) for t, n in client.zrange(keys.TOPICS, 0, -1, withscores=True)}


def _read(
    spark: SparkSession, context: Context, edge: str, consumer: str, schema: str, max_rows: int
) -> DataFrame:
    reader = (
        spark.readStream.format(FORMAT)
        .options(edge=edge, shards=_shards(edge), consumer=consumer)
        .options(schema=schema, maxRows=max_rows)
    )
    if context.is_slice:
        reader = reader.options(groups=",".join(map(str, context.key_groups)), tasks=1)
    return reader.load()


def _shards(edge: str) -> int:
    return SHARDS_OF.get(edge, SHARDS)


def _to(context: Context, edge: str) -> dict[str, object]:
    return {
        "edge": edge,
        "shards": _shards(edge),
        "key": "topic",
        "fence": context.fence,
        **(
            {"producer": context.name, "generation": context.generation} if context.is_slice else {}
        ),
    }


def _extract(
    cost_s: float, kind: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in spend(cost_s, kind)(batches):
            topics = pc.extract_regex(batch.column("text"), r"#(?P<topic>\S+)")
            yield pa.record_batch(
                {"ts": batch.column("ts"), "topic": pc.struct_field(topics, "topic")}
            )

    return each


def _rank(redis_url: str) -> Callable[[DataFrame, int], None]:
    def each(batch: DataFrame, batch_id: int) -> None:
        newest = batch.groupBy("topic").agg(F.max("n").alias("n")).collect()
        if newest:
            with connect(redis_url) as client:
                # Counts only grow, so the larger one is the newer: a replay changes nothing.
                client.zadd(keys.TOPICS, {row.topic: row.n for row in newest}, gt=True)

    return each


def _backlog(edge: str, consumer: str) -> Callable[[str, tuple[int, ...]], Backlog]:
    known: dict[str, EdgeStream] = {}

    def look(redis_url: str, groups: tuple[int, ...]) -> Backlog:
        if redis_url not in known:
            known[redis_url] = EdgeStream(connect(redis_url), edge, _shards(edge))
        found = known[redis_url].counters(groups or None)
        done = known[redis_url].committed().get(consumer, {})
        rows = {group: count for group, (count, _) in found.items()}
        return Backlog(
            appended_rows=sum(rows.values()),
            appended_bytes=sum(size for _, size in found.values()),
            committed_rows=sum(done.get(str(group), 0) for group in found),
            by_group=tuple(rows[group] for group in groups),
        )

    return look
