"""One operator that works, next to everything that can be wrong with others."""

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from examples.own_operators import OPERATORS as GOOD
from weir.pipeline.hosts.operator import Context, Operator


def raises(spark: SparkSession, context: Context) -> DataStreamWriter:
    """A builder that fails."""
    raise RuntimeError("no such topic")


OPERATORS = [
    *GOOD,
    Operator("sensor_minutes", raises),
    Operator("raises", raises),
    Operator("unreachable", GOOD[0].build, checkpoint="/proc/nowhere/checkpoint"),
]
