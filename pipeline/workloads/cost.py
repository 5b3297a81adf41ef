"""What a row costs: time on the CPU, or time spent waiting for a remote service."""

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import DataFrame

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS

Rows = Iterator[pa.RecordBatch]
_SLICE_ROWS = 64

Seconds = Annotated[float, setting("Cost of one row", unit="s", ge=0, le=10)]
Trigger = Annotated[float, setting("Time between batches", unit="s", ge=0, le=600)]
CostKind = Annotated[
    Literal["wait", "cpu"], setting("wait: as if calling a remote service; cpu: computing")
]
Slices = Annotated[
    int,
    setting(
        "Slices of the operator with keyed state at first; 0: it is one query", ge=0, le=GROUPS
    ),
]


class CostSettings(Struct, frozen=True, kw_only=True):
    """What can be set for every application: what rows cost, and how its operators take them."""

    cost_kind: CostKind = "wait"
    trigger_s: Trigger = 2.0
    slow_trigger_s: Trigger = 5.0  # of what only shows results
    max_rows: Annotated[int, setting("Most rows in one batch", unit="rows", ge=1)] = 4_000


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
