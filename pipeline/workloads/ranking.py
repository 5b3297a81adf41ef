"""Where a workload's last operator puts its figures: a ranking in Redis."""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weir.metrics.store.redis_store import connect


def rank_largest(redis_url: str, key: str, column: str) -> Callable[[DataFrame, int], None]:
    """For `foreachBatch`: the largest `n` seen of each value of the column. Counts only grow, so
    the larger one is the newer, and a batch that is replayed changes nothing."""

    def each(batch: DataFrame, batch_id: int) -> None:
        newest = batch.groupBy(column).agg(F.max("n").alias("n")).collect()
        if newest:
            with connect(redis_url) as client:
                client.zadd(key, {row[column]: row.n for row in newest}, gt=True)

    return each


def ranking(redis_url: str, key: str) -> dict[str, int]:
    """The figures that have reached the end of the pipeline."""
    with connect(redis_url) as client:
        return {t.decode(): int(n) for t, n in client.zrange(key, 0, -1, withscores=True)}
