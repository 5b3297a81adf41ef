"""Wikipedia edits: the most edited articles of the last minute, by place and in all (ALBIC's job 1).

edits --> geohash --> located --> cell_top (windows) --> cell_counts --> global_top
                         +------> article_count (stateful) --> article_counts --> top_articles
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated

import pyarrow as pa
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
from weir.pipeline.workloads.cost import CostSettings, Seconds, Slices, spend, with_cost
from weir.pipeline.workloads.counting import counts_by
from weir.pipeline.workloads.edits import EXPONENT, edits, geohash, place_of
from weir.pipeline.workloads.ranking import rank_largest, ranking

EDITS = Link("edits", "ts double, text string")
LOCATED = Link("located", "ts double, cell string, article string", shards=GROUPS, key="article")
CELLS = Link(
    "cell_counts", "since bigint, cell string, article string, n bigint, ts double", key="article"
)
COUNTS = Link("article_counts", "article string, n bigint, ts double", key="article")
RANKING = keys.ranking("articles")
TRENDING = keys.ranking("articles_trending")
KEPT_WINDOWS_S = 600
SHOWN = 20


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, how often they run, and how long the windows are."""

    geohash_cost_s: Seconds = 0.001
    cell_top_cost_s: Seconds = 0.0005
    article_count_cost_s: Seconds = 0.0005
    window_s: Annotated[int, setting("Length of a window", unit="s", ge=1)] = 60
    slices: Slices = 0


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def locate(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(EDITS.read(spark, context, "geohash", use.max_rows), F.col("ts"))
        located = rows.mapInArrow(_locate(use.geohash_cost_s, kind), LOCATED.schema)
        return write_appended(located, LOCATED.target(context))

    def cell_top(spark: SparkSession, context: Context) -> DataStreamWriter:
        located = observed(LOCATED.read(spark, context, "cell_top", use.max_rows), F.col("ts"))
        counts = (
            with_cost(located, use.cell_top_cost_s, kind)
            .withColumn("at", F.timestamp_seconds("ts"))
            .withWatermark("at", f"{use.window_s} seconds")
            .groupBy(F.window("at", f"{use.window_s} seconds"), "cell", "article")
            .agg(F.count(F.lit(1)).alias("n"), F.max("ts").alias("ts"))
            .select(F.unix_seconds("window.start").alias("since"), "cell", "article", "n", "ts")
        )
        return write_updated(counts, CELLS.target(context))

    def global_top(spark: SparkSession, context: Context) -> DataStreamWriter:
        cells = CELLS.read(spark, context, "global_top", use.max_rows)
        return observed(cells, F.col("ts")).writeStream.foreachBatch(_show(context.redis_url))

    def article_count(spark: SparkSession, context: Context) -> DataStreamWriter:
        located = observed(LOCATED.read(spark, context, "article_count", use.max_rows), F.col("ts"))
        rows = with_cost(located, use.article_count_cost_s, kind)
        return write_updated(counts_by(rows, "article", context), COUNTS.target(context))

    def top_articles(spark: SparkSession, context: Context) -> DataStreamWriter:
        counts = observed(COUNTS.read(spark, context, "top_articles", use.max_rows), F.col("ts"))
        rank = rank_largest(context.redis_url, RANKING, "article")
        return counts.writeStream.foreachBatch(rank)

    return [
        Operator(
            "geohash", locate, use.trigger_s, reads=(EDITS.edge,), writes=(LOCATED.edge,),
            backlog=EDITS.backlog("geohash"),
        ),
        Operator(
            "cell_top", cell_top, use.trigger_s, reads=(LOCATED.edge,), writes=(CELLS.edge,),
            backlog=LOCATED.backlog("cell_top"),
        ),
        Operator(
            "global_top", global_top, use.slow_trigger_s, reads=(CELLS.edge,),
            backlog=CELLS.backlog("global_top"),
        ),
        Operator(
            "article_count", article_count, use.trigger_s,
            reads=(LOCATED.edge,), writes=(COUNTS.edge,), backlog=LOCATED.backlog("article_count"),
            key="article" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "top_articles", top_articles, use.slow_trigger_s, reads=(COUNTS.edge,),
            backlog=COUNTS.backlog("top_articles"),
        ),
    ]  # fmt: skip


def counted(redis_url: str) -> dict[str, int]:
    """Edits of every article that have reached the end of the pipeline."""
    return ranking(redis_url, RANKING)


def window_key(since: int) -> str:
    """Where the counts of one window are, by cell and article."""
    return keys.ranking(f"articles_of_{since}")


def _locate(
    cost_s: float, kind: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def cell(editor: str, size: str) -> str:
        return geohash(*place_of(int(editor.removeprefix("editor-")), int(size)))

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in spend(cost_s, kind)(batches):
            parts = [text.split(",") for text in batch.column("text").to_pylist()]
            yield pa.record_batch(
                {
                    "ts": batch.column("ts"),
                    "cell": pa.array([cell(p[1], p[2]) for p in parts], pa.string()),
                    "article": pa.array([p[0] for p in parts], pa.string()),
                }
            )

    return each


def _show(redis_url: str) -> Callable[[DataFrame, int], None]:
    """Counts of each window by cell only grow; those of the newest, over all cells, are shown."""

    def each(batch: DataFrame, batch_id: int) -> None:
        newest = batch.groupBy("since", "cell", "article").agg(F.max("n").alias("n")).collect()
        if not newest:
            return
        with connect(redis_url) as client, client.pipeline(transaction=True) as together:
            for row in newest:
                key = window_key(row.since)
                together.zadd(key, {f"{row.cell} {row.article}": row.n}, gt=True)
                together.expire(key, KEPT_WINDOWS_S)
            together.execute()
            last = max(row.since for row in newest)
            totals: Counter[str] = Counter()
            for member, n in client.zrange(window_key(last), 0, -1, withscores=True):
                totals[member.decode().split(" ")[1]] += int(n)
            together.delete(TRENDING)
            together.zadd(TRENDING, dict(totals.most_common(SHOWN)))
            together.execute()

    return each


APPLICATION = Application(
    name="wikipedia",
    title="Wikipedia edits",
    origin=(
        "After ALBIC (section 5.2, real job 1): edits of articles are given a geohash, all of them "
        "spread evenly over Denmark as in the paper; the most edited articles of the last minute "
        "are found by cell and then in all. A fourth operator counts the edits of each article "
        "for ever. Every row changes its key on the way, so there is little to win by collocation: "
        "the paper measured 5 %. Edits are made here, of 2,000 articles; the history of the real "
        "Wikipedia is not used."
    ),
    source=EDITS,
    rows=edits,
    skew=EXPONENT,
    module=__name__,
    places={
        "wide": ("geohash", "cell_top"),
        "narrow": ("article_count", "global_top", "top_articles"),
    },
    expected=lambda texts: Counter(text.split(",")[0] for text in texts),
    counted=counted,
    sliced="article_count",
    rows_per_s=50.0,
    most_rows_per_s=120.0,
)
