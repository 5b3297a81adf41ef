"""Frequent pattern detection over a sliding window of messages (DRS, section V), with its loop.

    messages --> window (stateful) --> labelled --> pattern_generator --> candidates
    candidates --> detector (stateful) --> changes --> reporter
                      ^                       |
                      +-----------------------+

A pattern is frequent if it occurs often enough among the messages in the window, and maximal if no
larger one that contains it is. Whether a larger one is, is known only where that is kept: a pattern
that becomes frequent, or no longer is, tells all smaller ones through the loop.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Rows, Seconds, spend, with_cost
from weir.pipeline.workloads.item_sets import EXPONENT, item_sets, patterns
from weir.pipeline.workloads.ranking import ranking

# One shard: messages leave the window in the order in which they entered it.
MESSAGES = Link("messages", "ts double, text string", shards=1)
LABELLED = Link("labelled", "ts double, items string, change bigint")
CANDIDATES = Link(
    "candidates", "ts double, kind string, pattern string, value bigint, version bigint",
    shards=GROUPS, key="pattern",
)  # fmt: skip
CHANGES = Link("changes", CANDIDATES.schema, shards=GROUPS, key="pattern")
MAXIMAL = keys.ranking("patterns")
COUNT, LARGER, REPORT = "count", "larger", "report"
"""Kinds of rows: occurrences that came or went, larger patterns that became frequent or no longer
are, and what the reporter is told."""
WINDOW, ENOUGH = 200, 8


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, how often they run, and what is frequent."""

    pattern_generator_cost_s: Seconds = 0.001
    detector_cost_s: Seconds = 0.0002
    window: Annotated[int, setting("Messages in the window", ge=1, le=10_000)] = WINDOW
    enough: Annotated[int, setting("Occurrences that make a pattern frequent", ge=1)] = ENOUGH


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def window(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(MESSAGES.read(spark, context, "window", use.max_rows), F.col("ts"))
        part = F.split("text", ",")
        messages = rows.select(
            "ts", part[0].cast("bigint").alias("number"), part[1].alias("items"),
            F.lit("all").alias("window"),
        )  # fmt: skip
        labelled = messages.groupBy("window").applyInPandasWithState(
            _slide(use.window), LABELLED.schema, "held string",
            "append", GroupStateTimeout.NoTimeout,
        )  # fmt: skip
        return write_appended(labelled, LABELLED.target(context))

    def pattern_generator(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = LABELLED.read(spark, context, "pattern_generator", use.max_rows)
        found = observed(rows, F.col("ts")).mapInArrow(
            _candidates(use.pattern_generator_cost_s, kind), CANDIDATES.schema
        )
        return write_appended(found, CANDIDATES.target(context))

    def detector(spark: SparkSession, context: Context) -> DataStreamWriter:
        counts = CANDIDATES.read(spark, context, "detector", use.max_rows)
        loop = CHANGES.read(spark, context, "detector", use.max_rows)
        rows = observed(counts.union(loop.where(F.col("kind") == LARGER)), F.col("ts"))
        changes = (
            with_cost(rows, use.detector_cost_s, kind)
            .groupBy("pattern")
            .applyInPandasWithState(
                _detect(use.enough), CHANGES.schema,
                "count bigint, larger bigint, reported bigint, version bigint",
                "append", GroupStateTimeout.NoTimeout,
            )
        )  # fmt: skip
        return write_appended(changes, CHANGES.target(context))

    def reporter(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = CHANGES.read(spark, context, "reporter", use.max_rows)
        reports = observed(rows.where(F.col("kind") == REPORT), F.col("ts"))
        return reports.writeStream.foreachBatch(_report(context.redis_url))

    return [
        Operator(
            "window", window, use.trigger_s, reads=(MESSAGES.edge,), writes=(LABELLED.edge,),
            backlog=MESSAGES.backlog("window"),
        ),
        Operator(
            "pattern_generator", pattern_generator, use.trigger_s,
            reads=(LABELLED.edge,), writes=(CANDIDATES.edge,),
            backlog=LABELLED.backlog("pattern_generator"),
        ),
        Operator(
            "detector", detector, use.trigger_s,
            reads=(CANDIDATES.edge, CHANGES.edge), writes=(CHANGES.edge,),
            backlog=CANDIDATES.backlog("detector"),
        ),
        Operator(
            "reporter", reporter, use.slow_trigger_s, reads=(CHANGES.edge,),
            backlog=CHANGES.backlog("reporter"),
        ),
    ]  # fmt: skip


def expected(texts: Iterable[str]) -> dict[str, int]:
    """The maximal frequent patterns of the last messages and how often each occurs, without Spark."""
    last = deque(texts, maxlen=WINDOW)
    counts = Counter(p for text in last for p in patterns(text.split(",")[1].split()))
    frequent = {pattern: n for pattern, n in counts.items() if n >= ENOUGH}
    covered = {p for larger in frequent for p in smaller(larger)}
    return {pattern: n for pattern, n in frequent.items() if pattern not in covered}


def counted(redis_url: str) -> dict[str, int]:
    """The same, as far as it has reached the reporter."""
    return ranking(redis_url, MAXIMAL)


def smaller(pattern: str) -> list[str]:
    """The patterns that are contained in one.

    >>> smaller("a b")
    ['a', 'b']
    """
    return patterns(pattern.split())[:-1]


Grouped = Callable[[Any, Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]


def _slide(most: int) -> Grouped:
    """Each message enters, and once the window is full the oldest leaves."""

    def each(
        key: Any, batches: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        rows = pd.concat(list(batches)).sort_values("number")
        held = deque(state.get[0].split(";") if state.exists else ())
        made = []
        for ts, items in zip(rows["ts"], rows["items"], strict=True):
            made.append((ts, items, 1))
            held.append(items)
            if len(held) > most:
                made.append((ts, held.popleft(), -1))
        state.update((";".join(held),))
        yield pd.DataFrame(made, columns=["ts", "items", "change"])

    return each


def _candidates(cost_s: float, kind: str) -> Callable[[Rows], Rows]:
    def each(batches: Rows) -> Iterator[pa.RecordBatch]:
        for batch in spend(cost_s, kind)(batches):
            made = [
                {"ts": row["ts"], "kind": COUNT, "pattern": p, "value": row["change"], "version": 0}
                for row in batch.to_pylist()
                for p in patterns(row["items"].split())
            ]
            yield pa.RecordBatch.from_pylist(made, schema=_COLUMNS)

    return each


_COLUMNS = pa.schema(
    {
        "ts": pa.float64(), "kind": pa.string(), "pattern": pa.string(), "value": pa.int64(),
        "version": pa.int64(),
    }
)  # fmt: skip


def _detect(enough: int) -> Grouped:
    """Counts of one pattern; all are sums, so the order of rows does not matter in the end."""

    def each(
        key: Any, batches: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        pattern, latest = key[0], 0.0
        count, larger, reported, version = state.get if state.exists else (0, 0, 0, 0)
        was = count >= enough
        for rows in batches:  # few rows each time, for which pandas' own sums take longer
            latest = max([latest, *rows["ts"].tolist()])
            for kind, value in zip(rows["kind"].tolist(), rows["value"].tolist(), strict=True):
                if kind == COUNT:
                    count += value
                else:
                    larger += value
        made = []
        if (count >= enough) != was:
            change = -1 if was else 1
            made += [(latest, LARGER, below, change, 0) for below in smaller(pattern)]
        now = count if count >= enough and larger <= 0 else 0
        if now != reported:
            version += 1
            made.append((latest, REPORT, pattern, now, version))
        state.update((count, larger, now, version))
        if made:
            yield pd.DataFrame(made, columns=["ts", "kind", "pattern", "value", "version"])

    return each


def _report(redis_url: str) -> Callable[[DataFrame, int], None]:
    """The newest report of each pattern holds; what is maximal no longer is taken out."""

    def each(batch: DataFrame, batch_id: int) -> None:
        newest = batch.groupBy("pattern").agg(F.max(F.struct("version", "value")).alias("last"))
        found = {row.pattern: row["last"].value for row in newest.collect()}
        if found:
            with connect(redis_url) as client, client.pipeline(transaction=True) as together:
                for pattern, n in found.items():
                    if n:
                        together.zadd(MAXIMAL, {pattern: n})
                    else:
                        together.zrem(MAXIMAL, pattern)
                together.execute()

    return each


APPLICATION = Application(
    name="frequent_patterns",
    title="Frequent patterns",
    origin=(
        "After DRS (section V, its application FPD): messages enter and leave a sliding window, all "
        "combinations of their words are counted, and the largest ones that are frequent are "
        "reported. The detector tells itself through a loop when a pattern becomes frequent, as "
        "that concerns smaller ones that are kept elsewhere; here the loop is an edge that it both "
        "writes and reads. Messages of up to four of 40 words are made here, in a window of 200; "
        "a microblog's are not used. The paper's two sources, of messages that enter and that "
        "leave, are the operator window."
    ),
    source=MESSAGES,
    rows=item_sets,
    skew=EXPONENT,
    module=__name__,
    places={"wide": ("window", "pattern_generator"), "narrow": ("detector", "reporter")},
    expected=expected,
    counted=counted,
    rows_per_s=15.0,
    most_rows_per_s=40.0,
)
