"""The Spark source and sink over an edge: `format("weir")`.

Source options: redis (URL), edge, shards, schema (DDL), consumer (name under
which progress is committed), maxRows (admission control per batch, all shards).
Sink options: redis, edge, shards, key (column whose value chooses the shard; if
absent, rows are spread), fence (the lease's token).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.stream import Chunk, Edge, chunks_of

FORMAT = "weir"


class EdgeSource(DataSource):
    """Registered with `spark.dataSource.register(EdgeSource)`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return _required(dict(self.options), "schema")

    def streamReader(self, schema: StructType) -> "EdgeReader":
        return EdgeReader(dict(self.options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> "EdgeWriter":
        return EdgeWriter(dict(self.options))


class ShardRange(InputPartition):
    """Rows [start, end) of one shard: the work of one task."""

    def __init__(self, shard: int, start: int, end: int) -> None:
        self.shard = shard
        self.start = start
        self.end = end


class EdgeReader(DataSourceStreamReader):
    """Reads an edge; offsets are rows per shard."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.consumer = _required(options, "consumer")
        self.max_rows = int(options.get("maxrows", options.get("maxRows", 0)))

    @property
    def edge(self) -> Edge:
        if not hasattr(self, "_edge"):
            self._edge = _edge(self.options)
        return self._edge

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_edge"}  # no sockets in tasks

    def initialOffset(self) -> dict[str, int]:
        self.edge.register(self.consumer)
        return self.edge.starts()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.max_rows) if self.max_rows else ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        ends = self.edge.ends()
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return admitted(start, ends, most)

    def reportLatestOffset(self) -> dict[str, int]:
        return self.edge.ends()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[ShardRange]:
        return [
            ShardRange(int(shard), start.get(shard, 0), until)
            for shard, until in end.items()
            if until > start.get(shard, 0)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ShardRange)
        yield from self.edge.read(partition.shard, partition.start, partition.end)

    def commit(self, end: dict[str, int]) -> None:
        self.edge.commit(self.consumer, end)


class EdgeWriter(DataSourceStreamArrowWriter):
    """Appends each task's rows in one atomic step, once per batch and partition."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        _required(options, "edge")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        number = context.getLocalProperty("streaming.sql.batchId")
        assert number is not None
        batch = int(number)
        edge = _edge(self.options)
        chunks: list[Chunk] = []
        for rows in iterator:
            chunks += sharded(rows, edge.shards, self.options.get("key"))
        fence = self.options.get("fence")
        if chunks:
            # Spark replays a batch with the same rows in each partition, whatever their order.
            edge.append(
                f"{query}/{context.partitionId()}",
                batch,
                chunks,
                fence=int(fence) if fence else None,
            )
        return WriterCommitMessage()


def admitted(start: dict[str, int], ends: dict[str, int], most: int | None) -> dict[str, int]:
    """The end of the next batch: at most `most` rows, shared by what each shard has waiting.

    >>> admitted({"0": 0, "1": 0}, {"0": 30, "1": 10}, 20)
    {'0': 15, '1': 5}
    >>> admitted({"0": 5}, {"0": 7, "1": 3}, None)
    {'0': 7, '1': 3}
    """
    waiting = {shard: max(0, end - start.get(shard, 0)) for shard, end in ends.items()}
    total = sum(waiting.values())
    if most is None or total <= most:
        return dict(ends)
    taken = {shard: rows * most // total for shard, rows in waiting.items()}
    left = most - sum(taken.values())
    for shard in sorted(waiting, key=lambda s: waiting[s] - taken[s], reverse=True)[:left]:
        taken[shard] += 1
    return {shard: start.get(shard, 0) + taken[shard] for shard in ends}


def sharded(rows: pa.RecordBatch, shards: int, key: str | None) -> list[Chunk]:
    """Rows cut by shard; the same key always lands in the same shard."""
    if not rows.num_rows:
        return []
    if shards == 1:
        return chunks_of(0, rows)
    if key is None:
        bounds = [rows.num_rows * i // shards for i in range(shards + 1)]
        parts = [rows.slice(a, b - a) for a, b in pairwise(bounds)]
    else:
        column = rows.column(rows.schema.get_field_index(key))
        place = pa.array(shard_of(column, shards))
        parts = [rows.filter(pc.equal(place, shard)) for shard in range(shards)]
    return [chunk for i, part in enumerate(parts) for chunk in chunks_of(i, part)]


def shard_of(column: pa.Array, shards: int) -> Any:
    """A shard for each value, the same in every process (Python's own hash is salted)."""
    import pandas as pd

    return pd.util.hash_array(column.to_pandas().to_numpy()) % shards


def _edge(options: dict[str, str]) -> Edge:
    return Edge(
        connect(_required(options, "redis"), timeout_s=20.0),
        _required(options, "edge"),
        int(options.get("shards", 2)),
    )


def _required(options: dict[str, str], name: str) -> str:
    value = options.get(name)
    if not value:
        raise InvalidInput(f"format '{FORMAT}' needs the option '{name}'", field=name)
    return value
