"""Warms an application up: its first streaming query takes seconds that a rescue does not have.

One small query takes the path that all take: a Python source, Arrow, a shuffle, keyed state, a
batch handed to Python. It reads an edge of its own, which is gone afterwards.
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from weir.metrics.agent.sampler import HIDDEN
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import FORMAT
from weir.pipeline.edges.stream import EdgeStream, chunks_of

log = logging.getLogger(__name__)

WITHIN_S = 60.0
QUERY = f"{HIDDEN}weir-warm-up"


def warm_up(spark: SparkSession, redis_url: str, cluster: str) -> float:
    """Run it once; the seconds it took."""
    began = time.monotonic()
    name = f"{QUERY}.{cluster}"
    folder = Path(tempfile.mkdtemp(prefix="weir-warm-"))
    with connect(redis_url) as client:
        edge = EdgeStream(client, name, 1)
        try:
            rows = pa.record_batch({"key": ["a", "b"], "n": [1, 2]})
            edge.append("warm-up", 0, chunks_of(0, rows))
            _run(spark, redis_url, name, folder)
        finally:
            client.delete(keys.edge(name), keys.edge_shard(name, 0), keys.edge_shard_at(name, 0))
            shutil.rmtree(folder, ignore_errors=True)
    return time.monotonic() - began


def _run(spark: SparkSession, redis_url: str, edge: str, folder: Path) -> None:
    rows = (
        spark.readStream.format(FORMAT)
        .options(redis=redis_url, edge=edge, shards=1, consumer=QUERY)
        .options(schema="key string, n bigint")
        .load()
        .mapInArrow(_same, "key string, n bigint")
    )

    def each(batch: DataFrame, batch_id: int) -> None:
        batch.mapInArrow(_same, "key string, count bigint").write.format("noop").mode(
            "overwrite"
        ).save()

    query = (
        rows.groupBy("key")
        .count()
        .writeStream.outputMode("update")
        .foreachBatch(each)
        .queryName(QUERY)
        .option("checkpointLocation", str(folder))
        .start()
    )
    try:
        until = time.monotonic() + WITHIN_S
        while not query.recentProgress and query.isActive and time.monotonic() < until:
            time.sleep(0.2)
    finally:
        query.stop()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
