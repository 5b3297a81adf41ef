"""A long event log from a short real one: its work is repeated, its frame is not.

What an application says once (start, environment, executors, queries) is written
once; jobs, stages, tasks, SQL executions and batches come again and again with ids
and times moved on, so that no id is used twice and the clock never goes back: to
any reader it is one application that ran for longer.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

ONCE_FIRST = {
    "SparkListenerLogStart", "SparkListenerResourceProfileAdded", "SparkListenerExecutorAdded",
    "SparkListenerBlockManagerAdded", "SparkListenerEnvironmentUpdate",
    "SparkListenerApplicationStart", "QueryStartedEvent",
}  # fmt: skip
ONCE_LAST = {
    "SparkListenerExecutorRemoved", "SparkListenerBlockManagerRemoved", "QueryTerminatedEvent",
    "SparkListenerApplicationEnd",
}  # fmt: skip
KIND = {
    "Job ID": "job", "Stage ID": "stage", "Stage IDs": "stage", "Task ID": "task",
    "RDD ID": "rdd", "executionId": "sql", "rootExecutionId": "sql", "batchId": "batch",
    "spark.sql.execution.id": "sql", "spark.sql.execution.root.id": "sql",
    "streaming.sql.batchId": "batch", "accumulatorId": "accumulator",
    "Submission Time": "ms", "Completion Time": "ms", "Launch Time": "ms", "Finish Time": "ms",
    "Getting Result Time": "ms", "Timestamp": "ms", "time": "ms", "timestamp": "iso",
}  # fmt: skip

_MARK = re.compile(rb'"\\u0001(\w+):([nt]):(.*?)\\u0001"')
_GAP_MS = 1000


class LongLog:
    """Templates of a real log's lines, from which any number of repetitions is made."""

    def __init__(self, source: Path) -> None:
        self._highest: dict[str, int] = {}
        self._lowest_ms = 2**63
        self._lines = [self._template(line) for line in source.read_bytes().splitlines()]
        self._body_bytes = sum(
            len(text) for name, text, _ in self._lines if name not in ONCE_FIRST | ONCE_LAST
        )

    def write(self, target: Path, least_bytes: int) -> int:
        """Repeat until the file has about that size; how often that is."""
        times = max(1, round(least_bytes / self._body_bytes))
        with target.open("wb") as out:
            for number in range(times):
                moved = self._moves(number)
                out.writelines(
                    text % tuple([moved[kind](value) for kind, value in values])
                    for name, text, values in self._lines
                    if not (number and name in ONCE_FIRST)
                    and not (number < times - 1 and name in ONCE_LAST)
                )
        return times

    def _moves(self, number: int) -> dict[str, Callable[[str], Any]]:
        """How each kind of value is written in this repetition."""

        def by(amount: int) -> Callable[[str], int]:
            return lambda value: int(value) + amount

        ms = number * (self._highest["ms"] - self._lowest_ms + _GAP_MS)
        moves: dict[str, Callable[[str], Any]] = {
            kind: by(number * (highest + 1)) for kind, highest in self._highest.items()
        }
        return moves | {"ms": by(ms), "iso": lambda value: _later(value, ms)}

    def _template(self, line: bytes) -> tuple[str, bytes, list[tuple[str, str]]]:
        """Name, text with places, and what belongs into them."""
        event = msgspec.json.decode(line)
        name = event["Event"].replace("$", ".").rpartition(".")[2]
        if name in ONCE_FIRST:
            return name, line.replace(b"%", b"%%") + b"\n", []
        text = msgspec.json.encode(self._marked(event, "", ())).replace(b"%", b"%%") + b"\n"
        values = [(m[1].decode(), m[3].decode()) for m in _MARK.finditer(text)]
        return name, _MARK.sub(_place, text), values

    def _marked(self, value: Any, key: str, above: tuple[str, ...]) -> Any:
        """The event with every id and time replaced by a mark of its kind."""
        if isinstance(value, dict):
            return {k: self._marked(v, k, (*above, key)) for k, v in value.items()}
        if key == "accumUpdates":
            return [[self._mark("accumulator", id), amount] for id, amount in value]
        if isinstance(value, list):
            return [self._marked(v, key, above) for v in value]
        kind = _kind(key, above)
        unset = value is None or (kind == "ms" and value <= 0)
        return value if kind is None or unset else self._mark(kind, value)

    def _mark(self, kind: str, value: Any) -> str:
        if kind != "iso":
            self._highest[kind] = max(self._highest.get(kind, 0), int(value))
        if kind == "ms":
            self._lowest_ms = min(self._lowest_ms, value)
        return f"\x01{kind}:{'t' if isinstance(value, str) else 'n'}:{value}\x01"


def _kind(key: str, above: tuple[str, ...]) -> str | None:
    """What a value counts; two names mean different things in different places.

    >>> _kind("Parent IDs", ("Stage Info",)), _kind("Parent IDs", ("Stage Info", "RDD Info"))
    ('stage', 'rdd')
    """
    if key == "Parent IDs":
        return "rdd" if "RDD Info" in above else "stage"
    if key == "ID":
        return "accumulator" if "Accumulables" in above else None
    return KIND.get(key)


def _place(mark: "re.Match[bytes]") -> bytes:
    if mark[1] == b"iso":
        return b'"%b"'
    return b"%d" if mark[2] == b"n" else b'"%d"'


def _later(iso: str, ms: int) -> bytes:
    """
    >>> _later("2024-05-01T10:00:00.250Z", 1000)
    b'2024-05-01T10:00:01.250Z'
    """
    moved = datetime.fromisoformat(iso) + timedelta(milliseconds=ms)
    return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()
