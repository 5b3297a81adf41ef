"""Rows counted by key: as many operators as are named, each one query or some slices.

    --operators benchmarks.slices.operators --set "names=whole:0 four:4"

Every one has its own input, `rows_NAME`, and its own output, `counts_NAME`.
"""

from typing import Annotated, Literal

from msgspec import Struct
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_updated
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.cost import with_cost


class Settings(Struct, frozen=True):
    """Which operators there are, and what a row costs them."""

    names: Annotated[str, setting("name:slices, with blanks between them; 0: one query")]
    costs: Annotated[str, setting("name:seconds of one row; not named: nothing")] = ""
    cost_kind: Literal["wait", "cpu"] = "wait"
    trigger_s: float = 2.0
    max_rows: int = 20_000
    tasks: Annotated[str, setting("name:tasks of a batch; not named: 8")] = ""


def rows_of(name: str) -> Link:
    """The input of an operator."""
    return Link(f"rows_{name}", "ts double, key string", shards=GROUPS, key="key")


def counts_of(name: str) -> Link:
    """The output of an operator: every count each time it changes."""
    return Link(f"counts_{name}", "key string, n bigint, ts double", shards=1, key="key")


def pairs(text: str) -> dict[str, float]:
    """Names with a number each.

    >>> pairs("whole:0 four:4")
    {'whole': 0.0, 'four': 4.0}
    """
    found = (pair.partition(":") for pair in text.split())
    return {name: float(number) for name, _, number in found}


def operators(settings: Settings) -> list[Operator]:
    """One operator of each name."""
    costs, tasks = pairs(settings.costs), pairs(settings.tasks)
    return [
        _operator(name, int(slices), costs.get(name, 0.0), int(tasks.get(name, 8)), settings)
        for name, slices in pairs(settings.names).items()
    ]


def _operator(name: str, slices: int, cost_s: float, tasks: int, settings: Settings) -> Operator:
    source, target = rows_of(name), counts_of(name)

    def build(spark: SparkSession, context: Context) -> DataStreamWriter:
        reader = source.reader(spark, context, name, settings.max_rows)
        if not context.is_slice:
            reader = reader.option("tasks", tasks)
        rows = observed(reader.load(), F.col("ts"))
        rows = with_cost(rows, cost_s, settings.cost_kind)
        if context.is_slice:
            rows = rows.coalesce(1)
        counts = rows.groupBy("key").agg(F.count(F.lit(1)).alias("n"), F.max("ts").alias("ts"))
        return write_updated(counts, target.target(context))

    return Operator(
        name, build, settings.trigger_s, reads=(source.edge,), writes=(target.edge,),
        backlog=source.backlog(name), key="key" if slices else None, slices=slices or 1,
    )  # fmt: skip
