"""Operators of one's own, hosted by Weir: any source, any sink.

    weir host mine --master spark://127.0.0.1:7077 \
        --operators examples.own_operators --place sensor_minutes
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.pipeline.hosts.operator import Context, Operator, observed


def sensor_minutes(spark: SparkSession, context: Context) -> DataStreamWriter:
    """Count readings per sensor and minute; `observed` lets Weir measure end-to-end latency."""
    readings = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    readings = observed(readings, F.col("timestamp").cast("double"))
    minutes = (
        readings.withWatermark("timestamp", "2 minutes")
        .groupBy(F.window("timestamp", "1 minute"), (F.col("value") % 10).alias("sensor"))
        .count()
    )
    return minutes.writeStream.outputMode("update").format("noop")


OPERATORS = [Operator("sensor_minutes", sensor_minutes, trigger_s=2.0, reads=("readings",))]
