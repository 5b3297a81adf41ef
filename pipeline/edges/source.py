"""The Spark source and sink over an edge: `format("weir")`.

Source options: redis (URL; without it WEIR_REDIS_URL of the driver, so that no password stands
in a plan that Spark shows), edge, shards, schema (DDL), consumer (name under
which progress is committed), maxRows (admission control per batch, all shards), groups
(the shards that it reads, e.g. "0,1,2"; all if absent), tasks (at most this many per batch).
Sink options: redis, edge, shards, key (column whose value chooses the shard; if
absent, rows are spread), fence (the lease's token), producer (the name under which batches
are counted and fenced; the query's id if absent) and generation (of that producer).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
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
from weir.controllers.placement.hashing import key_groups
from weir.metrics.store.redis_store import connect
from weir.metrics.store.where import redis_url
from weir.pipeline.edges.stream import Chunk, EdgeStream, chunks_of

FORMAT = "weir"
TASKS = 4
"""Tasks of a batch unless told otherwise: each costs a call of a Python worker."""


class EdgeSource(DataSource):
    """Registered with `spark.dataSource.register(EdgeSource)`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return _require(dict(self.options), "schema")

    def streamReader(self, schema: StructType) -> "EdgeReader":
        return EdgeReader(dict(self.options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> "EdgeWriter":
        return EdgeWriter(dict(self.options))


class ShardRanges(InputPartition):
    """Rows [start, end) of some shards: the work of one task."""

    def __init__(self, ranges: Sequence[tuple[int, int, int]]) -> None:
        self.ranges = ranges


class EdgeReader(DataSourceStreamReader):
    """Reads an edge; offsets are rows per shard."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = _with_url(options)
        self.consumer = _require(options, "consumer")
        self.max_rows = int(options.get("maxrows", options.get("maxRows", 0)))
        self.tasks = int(options.get("tasks", TASKS))
        self.groups = [int(group) for group in options.get("groups", "").split(",") if group]

    @property
    def edge(self) -> EdgeStream:
        if not hasattr(self, "_edge"):
            self._edge = _edge(self.options)
        return self._edge

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_edge"}  # no sockets in tasks

    def initialOffset(self) -> dict[str, int]:
        self.edge.register(self.consumer)
        return self.edge.starts(self.groups or None)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.max_rows) if self.max_rows else ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        ends = self.reportLatestOffset()
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return admit(start, ends, most)

    def reportLatestOffset(self) -> dict[str, int]:
        return self.edge.ends(self.groups or None)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[ShardRanges]:
        ranges = [
            (int(shard), start.get(shard, 0), until)
            for shard, until in end.items()
            if until > start.get(shard, 0)
        ]
        return [ShardRanges(part) for part in deal(ranges, self.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ShardRanges)
        for shard, start, end in partition.ranges:
            yield from self.edge.read(shard, start, end)

    def commit(self, end: dict[str, int]) -> None:
        self.edge.commit(self.consumer, end)


class EdgeWriter(DataSourceStreamArrowWriter):
    """Appends each task's rows in one atomic step, once per batch and partition."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = _with_url(options)
        _require(options, "edge")

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
            chunks += cut_by_shard(rows, edge.shards, self.options.get("key"))
        fence = self.options.get("fence")
        if chunks:
            # Spark replays a batch with the same rows in each partition, whatever their order.
            edge.append(
                self.options.get("producer") or query or "",
                batch,
                chunks,
                fence=int(fence) if fence else None,
                part=f"{self.options.get('generation', '')}/{context.partitionId()}",
            )
        return WriterCommitMessage()


def admit(start: dict[str, int], ends: dict[str, int], most: int | None) -> dict[str, int]:
    """The end of the next batch: at most `most` rows, shared by what each shard has waiting.

    >>> admit({"0": 0, "1": 0}, {"0": 30, "1": 10}, 20)
    {'0': 15, '1': 5}
    >>> admit({"0": 5}, {"0": 7, "1": 3}, None)
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


def deal(ranges: Sequence[tuple[int, int, int]], most: int) -> list[list[tuple[int, int, int]]]:
    """Ranges of shards dealt to at most `most` tasks, each about the same number of rows.

    The same ranges are always dealt the same way: a batch that is replayed has the same tasks.

    >>> deal([(0, 0, 10), (1, 0, 4), (2, 5, 9)], 2)
    [[(0, 0, 10)], [(1, 0, 4), (2, 5, 9)]]
    """
    tasks: list[list[tuple[int, int, int]]] = [[] for _ in range(min(most, len(ranges)))]
    rows = [0] * len(tasks)
    for one in sorted(ranges, key=lambda r: (r[1] - r[2], r[0])):
        least = rows.index(min(rows))
        tasks[least].append(one)
        rows[least] += one[2] - one[1]
    return tasks


def cut_by_shard(rows: pa.RecordBatch, shards: int, key: str | None) -> list[Chunk]:
    """Rows cut by shard; the same key always lands in the same shard."""
    if not rows.num_rows:
        return []
    if shards == 1:
        return chunks_of(0, rows)
    if key is None:
        bounds = [rows.num_rows * i // shards for i in range(shards + 1)]
        parts = [rows.slice(a, b - a) for a, b in pairwise(bounds)]
    else:
        return _by_key(rows, shards, key)
    return [chunk for i, part in enumerate(parts) for chunk in chunks_of(i, part)]


def _by_key(rows: pa.RecordBatch, shards: int, key: str) -> list[Chunk]:
    """Sorted by shard once and cut, as a look at every row for every shard costs more."""
    place = shard_of(rows.column(rows.schema.get_field_index(key)), shards)
    order = np.argsort(place, kind="stable")
    sorted_rows = rows.take(pa.array(order))
    bounds = np.searchsorted(place[order], np.arange(shards + 1))
    return [
        chunk
        for shard, (first, last) in enumerate(pairwise(bounds.tolist()))
        if first < last
        for chunk in chunks_of(shard, sorted_rows.slice(first, last - first))
    ]


def shard_of(column: pa.Array, shards: int) -> NDArray[np.int64]:
    """A shard for each value, the same in every process and version: its key group."""
    if not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        raise InvalidInput("rows are spread by a key of text or whole numbers", field="key")
    texts = column.cast(pa.string()).cast(pa.binary()).fill_null(b"")
    return key_groups(texts.to_pylist(), shards)


def _edge(options: dict[str, str]) -> EdgeStream:
    return EdgeStream(
        connect(_require(options, "redis"), timeout_s=20.0),
        _require(options, "edge"),
        int(options.get("shards", 2)),
    )


def _with_url(options: dict[str, str]) -> dict[str, str]:
    """Made in the driver and sent to the tasks, whose environment knows no Redis."""
    return {"redis": redis_url(), **options}


def _require(options: dict[str, str], name: str) -> str:
    value = options.get(name)
    if not value:
        raise InvalidInput(f"format '{FORMAT}' needs the option '{name}'", field=name)
    return value
