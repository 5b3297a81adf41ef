"""What a row costs: time on the CPU, or time spent waiting for a remote service."""

import time
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

Rows = Iterator[pa.RecordBatch]
_SLICE_ROWS = 64


def spend(seconds_per_row: float, kind: str) -> Callable[[Rows], Rows]:
    """A function for `mapInArrow` that passes rows on and takes its time for each."""

    def each(batches: Rows) -> Rows:
        for batch in batches:
            # In slices, so that rows flow on and a long batch can be interrupted.
            for at in range(0, batch.num_rows, _SLICE_ROWS):
                part = batch.slice(at, _SLICE_ROWS)
                _take(part.num_rows * seconds_per_row, kind)
                yield part

    return each


def with_cost(rows: DataFrame, seconds_per_row: float, kind: str) -> DataFrame:
    """The same rows, each having cost something; for nothing, the rows themselves."""
    if seconds_per_row <= 0:
        return rows
    return rows.mapInArrow(spend(seconds_per_row, kind), rows.schema)


def _take(seconds: float, kind: str) -> None:
    if kind == "wait":
        time.sleep(seconds)
        return
    until = time.thread_time() + seconds  # CPU time of this thread, not the clock's
    while time.thread_time() < until:
        pass
