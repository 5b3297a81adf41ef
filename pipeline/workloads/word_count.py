"""Word count: lines of text, split into words, counted for ever and in sliding windows.

    lines --> splitter --> words --> word_count (stateful) --> word_counts --> top_words
                             +-----> trending (sliding windows)

Which words are frequent changes as the stream goes on (`words.py`).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Seconds, Slices, Trigger, spend, with_cost
from weir.pipeline.workloads.counting import counts_by
from weir.pipeline.workloads.ranking import rank_largest, ranking
from weir.pipeline.workloads.words import EXPONENT, text, word_numbers

LINES = Link("lines", "ts double, text string")
WORDS = Link("words", "ts double, word string", shards=GROUPS, key="word")
COUNTS = Link("word_counts", "word string, n bigint, ts double", key="word")
RANKING = keys.ranking("words")
TRENDING = keys.ranking("trending")
SHOWN = 20


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, how often they run, and how long the windows are."""

    splitter_cost_s: Seconds = 0.004
    word_count_cost_s: Seconds = 0.0005
    trending_cost_s: Seconds = 0.0001
    slow_trigger_s: Trigger = 10.0
    max_rows: Annotated[int, setting("Most rows in one batch", unit="rows", ge=1)] = 20_000
    window_s: Annotated[int, setting("Length of a window", unit="s", ge=1)] = 60
    slide_s: Annotated[int, setting("Time between two windows", unit="s", ge=1)] = 20
    slices: Slices = 0


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def splitter(spark: SparkSession, context: Context) -> DataStreamWriter:
        lines = LINES.read(spark, context, "splitter", use.max_rows)
        words = observed(lines, F.col("ts")).mapInArrow(
            _split(use.splitter_cost_s, kind), WORDS.schema
        )
        return write_appended(words, WORDS.target(context))

    def word_count(spark: SparkSession, context: Context) -> DataStreamWriter:
        words = WORDS.read(spark, context, "word_count", use.max_rows)
        rows = with_cost(observed(words, F.col("ts")), use.word_count_cost_s, kind)
        return write_updated(counts_by(rows, "word", context), COUNTS.target(context))

    def top_words(spark: SparkSession, context: Context) -> DataStreamWriter:
        counts = observed(COUNTS.read(spark, context, "top_words", use.max_rows), F.col("ts"))
        return counts.writeStream.foreachBatch(rank_largest(context.redis_url, RANKING, "word"))

    def trending(spark: SparkSession, context: Context) -> DataStreamWriter:
        words = observed(WORDS.read(spark, context, "trending", use.max_rows), F.col("ts"))
        windows = (
            with_cost(words, use.trending_cost_s, kind)
            .withColumn("at", F.timestamp_seconds("ts"))
            .withWatermark("at", f"{use.slide_s} seconds")
            .groupBy(F.window("at", f"{use.window_s} seconds", f"{use.slide_s} seconds"), "word")
            .agg(F.count(F.lit(1)).alias("n"))
        )
        return windows.writeStream.outputMode("update").foreachBatch(_show(context.redis_url))

    return [
        Operator(
            "splitter", splitter, use.trigger_s, reads=(LINES.edge,), writes=(WORDS.edge,),
            backlog=LINES.backlog("splitter"),
        ),
        Operator(
            "word_count", word_count, use.trigger_s, reads=(WORDS.edge,), writes=(COUNTS.edge,),
            backlog=WORDS.backlog("word_count"),
            key="word" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "top_words", top_words, use.slow_trigger_s, reads=(COUNTS.edge,),
            backlog=COUNTS.backlog("top_words"),
        ),
        Operator(
            "trending", trending, use.slow_trigger_s, reads=(WORDS.edge,),
            backlog=WORDS.backlog("trending"),
        ),
    ]  # fmt: skip


def counted(redis_url: str) -> dict[str, int]:
    """The counts that have reached the end of the pipeline."""
    return ranking(redis_url, RANKING)


def _split(
    cost_s: float, kind: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in spend(cost_s, kind)(batches):
            words = pc.split_pattern(batch.column("text"), " ")
            times = batch.column("ts").take(pc.list_parent_indices(words))
            yield pa.record_batch({"ts": times, "word": pc.list_flatten(words)})

    return each


def _show(redis_url: str) -> Callable[[DataFrame, int], None]:
    """The most frequent words of the newest window of a batch take the place of those before."""

    def each(batch: DataFrame, batch_id: int) -> None:
        found = batch.orderBy(F.desc("window.start"), F.desc("n")).limit(SHOWN).collect()
        newest = [row for row in found if row.window == found[0].window]
        if newest:
            with connect(redis_url) as client, client.pipeline(transaction=True) as together:
                together.delete(TRENDING)
                together.zadd(TRENDING, {row.word: row.n for row in newest})
                together.execute()

    return each


def _lines(first: int, count: int, skew: float) -> pa.Array:
    return pa.array([text(numbers) for numbers in word_numbers(first, count, skew)])


APPLICATION = Application(
    name="word_count",
    title="Word count",
    origin=(
        "After DoDo (section 2.3) and the reducers of SMR (section VIII): text of 2,000 words that "
        "follow Zipf's law is split and counted by word, for ever and in windows of a minute. "
        "After every 20,000 lines other words are the frequent ones."
    ),
    source=LINES,
    rows=_lines,
    skew=EXPONENT,
    expected=lambda lines: Counter(word for line in lines for word in line.split()),
    counted=counted,
    module=__name__,
    places={"wide": ("splitter", "trending"), "narrow": ("word_count", "top_words")},
    sliced="word_count",
)
