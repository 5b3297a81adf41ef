"""DoDo's demonstration: the most frequent topics of a stream of tweets.

    tweets --> extractor --> topics --> topic_count (stateful) --> counts --> top_n

All four names in between are edges in Redis. Every ten seconds `top_n` brings the
ranking up to date.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostKind, Seconds, Slices, Trigger, spend, with_cost
from weir.pipeline.workloads.counting import counts_by
from weir.pipeline.workloads.ranking import rank_largest, ranking
from weir.pipeline.workloads.topics import EXPONENT, topic_name, topic_numbers

TWEETS, TOPICS, COUNTS = "tweets", "topics", "counts"
TWEETS_LINK = Link(TWEETS, "ts double, text string")
TOPICS_LINK = Link(TOPICS, "ts double, topic string", shards=GROUPS, key="topic")
COUNTS_LINK = Link(COUNTS, "topic string, n bigint, ts double", key="topic")
SHARDS = TWEETS_LINK.shards


class Settings(Struct, frozen=True):
    """What the three operators cost, and how often they run."""

    extractor_cost_s: Seconds = 0.001
    topic_count_cost_s: Seconds = 0.001
    top_n_cost_s: Seconds = 0.0003
    cost_kind: CostKind = "wait"
    trigger_s: Trigger = 2.0
    top_n_trigger_s: Annotated[float, setting("Time between rankings", unit="s", ge=0)] = 10.0
    max_rows: Annotated[int, setting("Most rows in one batch", unit="rows", ge=1)] = 4_000
    slices: Slices = 0
    top_n_max_rows: Annotated[int, setting("Most rows in one ranking", unit="rows", ge=1)] = 20_000


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def extractor(spark: SparkSession, context: Context) -> DataStreamWriter:
        tweets = TWEETS_LINK.read(spark, context, "extractor", use.max_rows)
        topics = observed(tweets, F.col("ts")).mapInArrow(
            _extract(use.extractor_cost_s, kind), "ts double, topic string"
        )
        return write_appended(topics, TOPICS_LINK.target(context))

    def topic_count(spark: SparkSession, context: Context) -> DataStreamWriter:
        topics = TOPICS_LINK.read(spark, context, "topic_count", use.max_rows)
        rows = with_cost(observed(topics, F.col("ts")), use.topic_count_cost_s, kind)
        return write_updated(counts_by(rows, "topic", context), COUNTS_LINK.target(context))

    def top_n(spark: SparkSession, context: Context) -> DataStreamWriter:
        counts = COUNTS_LINK.read(spark, context, "top_n", use.top_n_max_rows)
        rows = with_cost(observed(counts, F.col("ts")), use.top_n_cost_s, kind)
        return rows.writeStream.foreachBatch(rank_largest(context.redis_url, keys.TOPICS, "topic"))

    return [
        Operator(
            "extractor", extractor, use.trigger_s,
            reads=(TWEETS,), writes=(TOPICS,), backlog=TWEETS_LINK.backlog("extractor"),
        ),
        Operator(
            "topic_count", topic_count, use.trigger_s,
            reads=(TOPICS,), writes=(COUNTS,), backlog=TOPICS_LINK.backlog("topic_count"),
            key="topic" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "top_n", top_n, use.top_n_trigger_s,
            reads=(COUNTS,), backlog=COUNTS_LINK.backlog("top_n"),
        ),
    ]  # fmt: skip


def counted(redis_url: str) -> dict[str, int]:
    """The counts that have reached the end of the pipeline."""
    return ranking(redis_url, keys.TOPICS)


def _tweets(first: int, count: int, skew: float) -> pa.Array:
    numbers = topic_numbers(first, count, skew)
    return pa.array([f"row {first + i} is about #{topic_name(n)}" for i, n in enumerate(numbers)])


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


APPLICATION = Application(
    name="top_n",
    title="Most frequent topics",
    origin=(
        "After DoDo (section 6.4): tweets about 5,000 topics that follow Zipf's law with exponent "
        "0.5; topics are extracted, counted, and ranked every ten seconds. The counting sits on "
        "the small cluster on purpose."
    ),
    source=TWEETS_LINK,
    rows=_tweets,
    skew=EXPONENT,
    expected=lambda tweets: Counter(tweet.split("#")[1] for tweet in tweets),
    counted=counted,
    module=__name__,
    places={"wide": ("extractor",), "narrow": ("topic_count", "top_n")},
    sliced="topic_count",
)
