"""One table of a run in memory, as columns; rows become Structs only where they are shown.

A day of two clusters is some 20 MB as columns and over 300 MB as objects. Decoding by
column is ten times faster than row by row: a page's window takes some milliseconds.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from msgspec import Struct, structs
from numpy.typing import NDArray

from weir.metrics.eventlog.tables import ROWS, SCHEMAS

_BY = {"clusters": "name", "operators": "cluster", "executors": "cluster", "batches": "cluster"}


class Columns:
    """A table sorted by cluster and time."""

    def __init__(self, folder: Path, table: str) -> None:
        self._type: type[Struct] = ROWS[table]
        self._fields = [
            (f.name, None if f.default is msgspec.NODEFAULT else f.default, _converter(f.type))
            for f in structs.fields(self._type)
        ]
        data = _read(folder, table)
        order = [(_BY[table], "ascending"), ("at", "ascending")]
        self._data = data.sort_by(order).combine_chunks()
        self.at: NDArray[np.float64] = self._data["at"].to_numpy()
        self.size_bytes: int = self._data.nbytes
        names = self._data[_BY[table]].to_numpy(zero_copy_only=False)
        found, first = np.unique(names.astype(str), return_index=True) if len(names) else ((), ())
        ends = [*first[1:], len(names)] if len(names) else []
        self.spans = {str(n): (int(a), int(b)) for n, a, b in zip(found, first, ends, strict=True)}

    def range(self, cluster: str, since: float, until: float) -> tuple[int, int]:
        """Rows of a cluster with since <= at <= until, as indices."""
        start, end = self.spans.get(cluster, (0, 0))
        at = self.at[start:end]
        return (
            start + int(np.searchsorted(at, since, "left")),
            start + int(np.searchsorted(at, until, "right")),
        )

    def values(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """A column of numbers; what was not measured is NaN."""
        column = self._data[name].slice(start, None if stop is None else stop - start)
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def codes(self, name: str) -> tuple[NDArray[np.int64], list[Any]]:
        """A column of texts as numbers, -1 where there is none, and what they stand for."""
        column = self._data[name].combine_chunks().dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, column.dictionary.to_pylist()

    def texts(self, name: str, start: int = 0, stop: int | None = None) -> list[Any]:
        """A column as it is, for a few rows."""
        found: list[Any] = (
            self._data[name].slice(start, None if stop is None else stop - start).to_pylist()
        )
        return found

    def at_moments(self, cluster: str, moments: NDArray[np.float64]) -> NDArray[np.int64]:
        """Rows of a cluster at exactly these moments, as indices."""
        start, end = self.spans.get(cluster, (0, 0))
        first = np.searchsorted(self.at[start:end], moments, "left")
        last = np.searchsorted(self.at[start:end], moments, "right")
        rows = [np.arange(a, b) for a, b in zip(first, last, strict=True)]
        return start + np.concatenate(rows) if rows else np.empty(0, np.int64)

    def structs(self, start: int, stop: int) -> Iterator[Struct]:
        """The rows from start to stop."""
        return self._structs(self._data.slice(start, stop - start))

    def taken(self, indices: NDArray[np.int64]) -> Iterator[Struct]:
        """The rows at these indices."""
        return self._structs(self._data.take(indices))

    def _structs(self, rows: pa.Table) -> Iterator[Struct]:
        columns = []
        for name, default, convert in self._fields:
            values = rows[name].to_pylist()
            if convert is not None:
                values = [None if v is None else convert(v) for v in values]
            # What an older run does not know reads as the field's default.
            if default is not None and rows[name].null_count:
                values = [default if v is None else v for v in values]
            columns.append(values)
        names = [name for name, _, _ in self._fields]
        for row in zip(*columns, strict=True):
            yield self._type(**dict(zip(names, row, strict=True)))


def _read(folder: Path, table: str) -> pa.Table:
    columns = SCHEMAS[table]
    if not (folder / table).is_dir():
        return columns.empty_table()
    return ds.dataset(folder / table, schema=columns, format="parquet").to_table()


def _converter(kind: Any) -> Callable[[Any], Any] | None:
    if getattr(kind, "__origin__", None) is tuple:
        return tuple
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {member.value: member for member in kind}.__getitem__
    options = [k for k in get_args(kind) if k is not type(None)]
    return _converter(options[0]) if options else None
