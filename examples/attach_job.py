"""A PySpark job of one's own, watched and scaled by Weir: one line is added.

PYTHONPATH=. python examples/attach_job.py --master local[2]
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weir import attach


def main() -> None:
    """Count a synthetic stream by key until the time is over."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument(
        "--redis", default=None, help="URL; else that of WEIR_REDIS_URL or this folder"
    )
    arguments.add_argument("--master", default="local[2]")
    arguments.add_argument("--seconds", type=int, default=600)
    options = arguments.parse_args()

    spark = (
        SparkSession.builder.master(options.master)
        .appName("orders")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    attach(spark, "orders", options.redis, period_s=2.0)  # the one line

    orders = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    by_customer = orders.groupBy((F.col("value") % 50).alias("customer")).count()
    query = (
        by_customer.writeStream.outputMode("update")
        .format("noop")
        .queryName("orders_by_customer")
        .trigger(processingTime="1 second")
        .start()
    )
    query.awaitTermination(options.seconds)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
