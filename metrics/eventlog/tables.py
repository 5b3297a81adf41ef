"""A run on disk, written whole or not at all.

    runs/<run id>/meta.json                          summary, sources, period, first and last moment
    runs/<run id>/clusters/day=2024-05-01/0.parquet  at, period_s + the fields of Cluster
    runs/<run id>/operators/day=2024-05-01/0.parquet at + the fields of OperatorSample
    runs/<run id>/executors/day=2024-05-01/0.parquet at, cluster + the fields of Executor
    runs/<run id>/batches/day=2024-05-01/0.parquet   at, cluster + the fields of Batch
    runs/<run id>/actions/day=2024-05-01/0.parquet   at, kind, id, data: what was done, live runs only

Flat tables, one row per thing and period, sorted by `at`: a chart reads two
columns of one table, and a page scrubbing along the run reads one row group of
each (their statistics on `at` rule out the rest) and gets back the very
`ClusterSample` that was written. Columns are derived from the Structs, so a
field that the model gains is a column that runs gain; older runs read as its
default, and a table that they lack as empty. A batch has the `at` of the period in
which it was committed. Days are UTC. `weir.metrics.runs.writer` adds to a live run:
further files ("1.parquet", ...) in the day's folder.

A run grows in a hidden folder beside its place and is renamed when complete, so
an error or Ctrl-C leaves nothing behind; a run of the same id is replaced, unless it
was made of more of the log.
"""

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct, structs

from weir.controllers.model.errors import NotFound, Refused
from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample

FORMAT = 1
_ROWS_HELD = 4096
_STALE_S = 86_400
HIDDEN = ".importing-"
_BEFORE = {
    "clusters": ("at", "period_s"),
    "operators": ("at",),
    "executors": ("at", "cluster"),
    "batches": ("at", "cluster"),
}
ROWS: dict[str, type[Struct]] = {
    "clusters": Cluster, "operators": OperatorSample, "executors": Executor, "batches": Batch,
}  # fmt: skip


class ThereIsMore(Refused):
    """The run that is there was made of more of its log, so it stays."""


def schema(table: str) -> pa.Schema:
    """The columns of a table.

    >>> schema("executors").names[:4]
    ['at', 'cluster', 'id', 'host']
    """
    first = [(n, pa.string() if n == "cluster" else pa.float64()) for n in _BEFORE[table]]
    return pa.schema(first + [(f.name, _arrow(f.type)) for f in structs.fields(ROWS[table])])


def _arrow(kind: Any) -> pa.DataType:
    options = [k for k in get_args(kind) if k is not type(None)]
    if getattr(kind, "__origin__", None) is tuple:
        return pa.list_(_arrow(options[0]))
    if options:
        return _arrow(options[0])
    if issubclass(kind, Enum):
        return pa.string()
    return {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}[kind]


SCHEMAS = {table: schema(table) for table in ROWS}


def rows_of(sample: ClusterSample) -> dict[str, list[tuple[Any, ...]]]:
    """The rows that one sample is in every table."""
    at, name = sample.at, sample.cluster.name
    return {
        "clusters": [(at, sample.period_s, *structs.astuple(sample.cluster))],
        "operators": [(at, *structs.astuple(o)) for o in sample.operators],
        "executors": [(at, name, *structs.astuple(x)) for x in sample.executors],
        "batches": [(at, name, *structs.astuple(b)) for b in sample.batches],
    }


def to_table(rows: list[tuple[Any, ...]], columns: pa.Schema) -> pa.Table:
    """Rows as an Arrow table."""
    if not rows:
        return columns.empty_table()
    values = zip(*rows, strict=True)
    arrays = [pa.array(v, f.type) for v, f in zip(values, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=columns)


class RunWriter:
    """Writes one run; a context manager that leaves all or nothing.

    `commit` gives the run its name. Leaving the block without it removes what was written.
    """

    def __init__(self, runs_dir: str | os.PathLike[str]) -> None:
        self._root = Path(runs_dir)
        self._folder = self._root / f"{HIDDEN}{uuid4().hex}"
        self._held: dict[str, list[tuple[Any, ...]]] = {table: [] for table in ROWS}
        self._files: dict[str, pq.ParquetWriter] = {}
        self._day = ""
        self.first_at: float | None = None
        self.last_at: float | None = None

    def __enter__(self) -> Self:
        self._root.mkdir(parents=True, exist_ok=True)
        _sweep(self._root)
        self._folder.mkdir()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, sample: ClusterSample) -> None:
        """Take one sample; they come in the order of time."""
        day = datetime.fromtimestamp(sample.at, UTC).date().isoformat()
        if day != self._day:
            self._end_day()
            self._day = day
        self.first_at = sample.at if self.first_at is None else self.first_at
        self.last_at = sample.at
        for table, rows in rows_of(sample).items():
            self._held[table] += rows
            if len(self._held[table]) >= _ROWS_HELD:
                self._flush(table)

    def commit(self, run_id: str, meta: dict[str, Any]) -> Path:
        """Finish the run under this id and give its folder."""
        self._end_day()
        head = {"format": FORMAT, "run": run_id, "first_at": self.first_at, "last_at": self.last_at}
        text = msgspec.json.format(msgspec.json.encode(head | meta), indent=2)
        (self._folder / "meta.json").write_bytes(text)
        return put(self._folder, self._root / run_id)

    def _flush(self, table: str) -> None:
        rows = self._held[table]
        if not rows:
            return
        if table not in self._files:
            path = self._folder / table / f"day={self._day}" / "0.parquet"
            path.parent.mkdir(parents=True)
            self._files[table] = pq.ParquetWriter(path, SCHEMAS[table], compression="zstd")
        self._files[table].write_table(to_table(rows, SCHEMAS[table]))
        rows.clear()

    def _end_day(self) -> None:
        for table in ROWS:
            self._flush(table)
        for file in self._files.values():
            file.close()
        self._files.clear()


def put(folder: Path, target: Path) -> Path:
    """Give a complete run its place, instead of one there that was made from no more of the log.

    Two imports of the same log may end together: the later one stays.
    """
    while True:
        try:
            return folder.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if read_extent(target) > read_extent(folder):
            raise ThereIsMore(
                f"{target.name} was made of more of this log and stays as it is; "
                "to replace it, delete it first"
            )
        clear(target)


def read_extent(run: Path) -> tuple[bool, int]:
    """How much of its log a run was made of: whether to the end, and how many whole lines."""
    try:
        summary = read_meta(run).get("summary") or {}
    except (NotFound, ValueError):
        return False, 0
    lines = summary.get("lines", 0) - summary.get("broken_lines", 0)
    return bool(summary.get("complete")), lines


def clear(run: Path) -> None:
    """Take a run away, all of it or nothing."""
    old = run.with_name(f"{HIDDEN}{uuid4().hex}")
    with suppress(FileNotFoundError):  # somebody else was faster
        run.rename(old)
        shutil.rmtree(old, ignore_errors=True)


def read_samples(
    run: str | os.PathLike[str], since: float = float("-inf"), until: float = float("inf")
) -> list[ClusterSample]:
    """The samples of a run with since <= at <= until, oldest first."""
    rows = {table: list(_rows(Path(run), table, since, until)) for table in ROWS}
    operators, executors = _by_moment(rows["operators"]), _by_moment(rows["executors"])
    batches = _by_moment(rows["batches"])
    return [
        ClusterSample(
            at=row["at"],
            period_s=row["period_s"],
            cluster=msgspec.convert(row, Cluster),
            operators=tuple(
                msgspec.convert(o, OperatorSample)
                for o in operators.get((row["at"], row["name"]), ())
            ),
            executors=tuple(
                msgspec.convert(x, Executor) for x in executors.get((row["at"], row["name"]), ())
            ),
            batches=tuple(
                msgspec.convert(b, Batch) for b in batches.get((row["at"], row["name"]), ())
            ),
        )
        for row in sorted(rows["clusters"], key=lambda r: r["at"])
    ]


def read_meta(run: str | os.PathLike[str]) -> dict[str, Any]:
    """What `commit` was told about a run."""
    try:
        return msgspec.json.decode((Path(run) / "meta.json").read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        raise NotFound(f"there is no run at {run}") from None


def run_id(name: str, attempt: str | None = None) -> str:
    """A name for the run's folder from what a log claims, safe as a path.

    >>> run_id("application_1_2", "1"), run_id("local-1")
    ('log-application_1_2-1', 'log-local-1')
    >>> run_id("../../etc").startswith("log-etc-")
    True
    """
    text = name if attempt is None else f"{name}-{attempt}"
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:120]
    if safe != text:  # two odd names must not become one run
        safe += f"-{sha256(text.encode()).hexdigest()[:8]}"
    return f"log-{safe}"


def _rows(run: Path, table: str, since: float, until: float) -> Iterator[dict[str, Any]]:
    folder = run / table
    if not folder.is_dir():
        return
    import pyarrow.dataset as ds  # brings pandas along, which who writes does not need

    at = ds.field("at")
    found = ds.dataset(folder, schema=SCHEMAS[table], format="parquet")
    for batch in found.to_batches(filter=(at >= since) & (at <= until)):
        for row in batch.to_pylist():
            # What an older run does not know reads as the field's default.
            yield {key: value for key, value in row.items() if value is not None}


def _by_moment(rows: list[dict[str, Any]]) -> dict[tuple[float, str], list[dict[str, Any]]]:
    found: dict[tuple[float, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["at"], row["cluster"]), []).append(row)
    return found


def _sweep(root: Path) -> None:
    """Remove what a process that was killed has left behind."""
    for folder in root.glob(f"{HIDDEN}*"):
        try:
            stale = time.time() - folder.stat().st_mtime > _STALE_S
        except FileNotFoundError:
            continue
        if stale:
            shutil.rmtree(folder, ignore_errors=True)
