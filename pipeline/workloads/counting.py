"""How often each value of a column has come, for a query or for its slices."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weir.pipeline.hosts.operator import Context


def counts_by(rows: DataFrame, column: str, context: Context) -> DataFrame:
    """Each value with how often it has come (`n`) and when it came last (`ts`)."""
    if context.is_slice:
        rows = rows.coalesce(1)  # with one shuffle partition: no exchange
    return rows.groupBy(column).agg(F.count(F.lit(1)).alias("n"), F.max("ts").alias("ts"))
