"""ALBIC's real jobs as they are measured: with an operator that only reads an edge and writes it.

What a row costs it is what a row costs on its way between two operators that are not together.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.slicing import GROUPS
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads import airline_weather
from weir.pipeline.workloads.airline_weather import LATE, Settings

PASSED = Link("passed", LATE.schema, shards=GROUPS, key="plane")
PASS = "pass_on"

__all__ = ["PASS", "Settings", "operators"]


def operators(settings: Settings | None = None) -> list[Operator]:
    """Those of jobs 2 to 4, and the one that passes rows on."""
    use = settings or Settings()

    def pass_on(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(LATE.read(spark, context, PASS, use.max_rows), F.col("ts"))
        return write_appended(rows, PASSED.target(context))

    return [
        *airline_weather.operators(use),
        Operator(
            PASS, pass_on, use.trigger_s, reads=(LATE.edge,), writes=(PASSED.edge,),
            backlog=LATE.backlog(PASS),
        ),
    ]  # fmt: skip
