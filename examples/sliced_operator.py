"""An operator of one's own that runs as slices: visits counted by user.

    weir host mine --master spark://127.0.0.1:7077 \
        --operators examples.sliced_operator --place visits,visit_count

`visits` makes rows and hands them on by user: an edge with as many shards as there are key
groups. `visit_count` is declared once and runs as two slices, `visit_count.0` and
`visit_count.1`, each reading and counting the users of its own key groups.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.edges.source import FORMAT
from weir.pipeline.hosts.operator import Context, Operator, observed

VISITS, COUNTS = "visits", "visit_counts"
GROUPS = 16  # fixed: keys and state lie by it


def visits(spark: SparkSession, context: Context) -> DataStreamWriter:
    """Visits of 500 users, handed on by user."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    made = rows.select(
        F.concat(F.lit("user-"), F.col("value") % 500).alias("user"),
        F.col("timestamp").cast("double").alias("at"),
    )
    return write_appended(
        made,
        {
            "redis": context.redis_url, "edge": VISITS, "shards": GROUPS, "key": "user",
            "fence": context.fence,
        },
    )  # fmt: skip


def visit_count(spark: SparkSession, context: Context) -> DataStreamWriter:
    """Visits of each user so far; reads only the key groups that this slice owns."""
    rows = (
        spark.readStream.format(FORMAT)
        .options(redis=context.redis_url, edge=VISITS, shards=GROUPS, consumer="visit_count")
        .options(schema="user string, at double", maxRows=20_000)
        .options(groups=",".join(map(str, context.key_groups)), tasks=1)
        .load()
    )
    counts = (
        observed(rows, F.col("at"))
        .coalesce(1)  # a slice keeps its state in one partition: nothing needs to be exchanged
        .groupBy("user")
        .agg(F.count(F.lit(1)).alias("n"))
    )
    return write_updated(
        counts,
        {
            "redis": context.redis_url, "edge": COUNTS, "shards": 1, "fence": context.fence,
            # Whatever slices there will be: each batch of each is written once.
            "producer": context.name, "generation": context.generation,
        },
    )  # fmt: skip


OPERATORS = [
    Operator("visits", visits, trigger_s=2.0, writes=(VISITS,)),
    Operator(
        "visit_count", visit_count, trigger_s=1.0, reads=(VISITS,), writes=(COUNTS,),
        key="user", slices=2, groups=GROUPS,
    ),
]  # fmt: skip
