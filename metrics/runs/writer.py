"""A live run on disk while it grows: exact after a crash at any point.

Samples are held until a chunk is full; each flush writes the open chunk again beside
its place and renames it over the old one, so a reader sees the chunk before or after,
never half of it. Of a chunk's files that of the table `clusters` comes last and counts:
rows of the others that have no row there are read as if they were absent, and
written over by the next flush. Where recording stood is read from the data itself, so
there is no second record of it that could disagree.

    flush:  executors -> operators -> batches -> actions -> clusters -> meta.json
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from weir.controllers.model.sample import ClusterSample
from weir.metrics.eventlog.tables import FORMAT, SCHEMAS, read_meta, read_samples, rows_of, to_table
from weir.metrics.runs import actions as run_actions
from weir.metrics.runs.actions import SETTINGS, Key, RecordedAction, is_open

LIVE = "live"
CHUNK_SAMPLES = 2000
_ORDER = ("executors", "operators", "batches", "clusters")


def day_of(at: float) -> str:
    """The UTC day of a moment.

    >>> day_of(86_399.9), day_of(86_400.0)
    ('1970-01-01', '1970-01-02')
    """
    return datetime.fromtimestamp(at, UTC).date().isoformat()


class LiveRun:
    """One day of one live session; made by `create` or `resume`."""

    def __init__(self, folder: Path, day: str, chunk_samples: int = CHUNK_SAMPLES) -> None:
        self.folder = folder
        self.day = day
        self.last_at: dict[str, float] = {}  # of each cluster, on disk or held
        self.actions: dict[Key, int] = {}  # hash of their newest data: a day has very many
        self.unfinished: set[Key] = set()  # of the actions
        self._chunk_samples = chunk_samples
        self._number = 0
        self._open: list[ClusterSample] = []
        self._open_actions: list[RecordedAction] = []
        self._dirty = False
        self._meta: dict[str, Any] = {
            "format": FORMAT, "run": folder.name, "kind": LIVE, "first_at": None, "last_at": None,
            "period_s": 0.0, "samples": 0, "batches": 0, "actions": 0, "clusters": [],
            "operators": [], "complete": False,
        }  # fmt: skip

    @classmethod
    def create(cls, root: Path, first_at: float, **more: Any) -> "LiveRun":
        """A new run, named after its first moment."""
        name = f"live-{datetime.fromtimestamp(first_at, UTC):%Y%m%d-%H%M%S}"
        folder = root / name
        if (folder / "meta.json").exists():  # another session began within the same second
            folder = root / f"{name}-{uuid4().hex[:6]}"
        return cls(folder, day_of(first_at), **more)

    @classmethod
    def resume(cls, folder: Path, **more: Any) -> "LiveRun":
        """A run that was being recorded, where its data ends."""
        meta = read_meta(folder)
        run = cls(folder, day_of(meta["first_at"]), **more)
        run._meta |= meta
        numbers = sorted(_number(f) for f in files_of(folder, "clusters"))
        run._number = numbers[-1] if numbers else 0
        for name in ("executors", "operators", "batches", "actions"):
            for file in files_of(folder, name):
                if _number(file) > run._number:  # of a flush that was not finished
                    file.unlink()
        samples = 0
        for number in numbers:
            table = pq.ParquetFile(run._file("clusters", number)).read(columns=["at", "name"])
            samples += table.num_rows
            newest = table.group_by("name").aggregate([("at", "max")])
            for name, at in zip(*(newest[c].to_pylist() for c in ("name", "at_max")), strict=True):
                run.last_at[name] = max(at, run.last_at.get(name, at))
        if numbers:
            run._open = _of_chunk(folder, run._file("clusters", run._number))
        # The file of the open chunk may hold more than counts; those before it are whole.
        whole = [f for f in files_of(folder, "batches") if _number(f) < run._number]
        batches = sum(pq.read_metadata(f).num_rows for f in whole)
        batches += sum(len(s.batches) for s in run._open)
        for file in sorted(files_of(folder, "actions"), key=_number):
            rows = [RecordedAction(**row) for row in pq.ParquetFile(file).read().to_pylist()]
            run._knows(rows)
            run._open_actions = rows if _number(file) == run._number else []
        run._seal(run._chunk_samples)
        run._meta |= {"samples": samples, "batches": batches, "last_at": run.newest_at}
        return run

    @property
    def newest_at(self) -> float:
        """The last moment of which there is a sample."""
        return max(self.last_at.values(), default=float("-inf"))

    @property
    def began_at(self) -> float | None:
        """The first moment of the run."""
        first: float | None = self._meta["first_at"]
        return first

    def add(self, sample: ClusterSample) -> bool:
        """Take a sample; False if it is there already."""
        name = sample.cluster.name
        if sample.at <= self.last_at.get(name, float("-inf")):
            return False
        self.last_at[name] = sample.at
        self._open.append(sample)
        meta = self._meta
        meta["first_at"] = min(sample.at, meta["first_at"] or sample.at)
        meta["last_at"] = max(sample.at, meta["last_at"] or sample.at)
        meta["period_s"] = max(sample.period_s, meta["period_s"])
        meta["clusters"] = _with(meta["clusters"], [name])
        meta["operators"] = _with(meta["operators"], (o.name for o in sample.operators))
        meta["samples"] += 1
        meta["batches"] += len(sample.batches)
        self._dirty = True
        return True

    @property
    def full(self) -> bool:
        """Whether enough is held to be written."""
        return len(self._open) >= self._chunk_samples

    def describe(self, **more: Any) -> None:
        """Say more of the run: what a log tells of it, for one."""
        self._meta |= more
        self._dirty = True

    def go_on(self, day: str) -> None:
        """Go on with another day, after a flush."""
        self._seal(1)
        self.day = day

    def note(self, actions: Sequence[RecordedAction]) -> int:
        """Take what was done; versions that are known already are not taken again.

        What was done before the run began counts as done at its beginning.
        """
        fresh = [a for a in actions if self.actions.get((a.kind, a.id)) != hash(a.data)]
        self._knows(fresh)
        began = self.began_at or float("-inf")
        self._open_actions += [replace(a, at=max(a.at, began)) for a in fresh]
        self._meta["actions"] += sum(1 for a in fresh if a.kind != SETTINGS)
        self._dirty = self._dirty or bool(fresh)
        return len(fresh)

    def _knows(self, actions: Sequence[RecordedAction]) -> None:
        for a in actions:
            self.actions[a.kind, a.id] = hash(a.data)
            (self.unfinished.add if is_open(a, a.at) else self.unfinished.discard)((a.kind, a.id))

    def flush(self, *, complete: bool = False) -> None:
        """Bring everything that is held to disk."""
        changed = complete != self._meta["complete"]
        if (not self._dirty and not changed) or self._meta["first_at"] is None:
            return
        self._meta["complete"] = complete
        if self._dirty:
            self._write_chunk()
        text = msgspec.json.format(msgspec.json.encode(self._meta), indent=2)
        _replace(self.folder / "meta.json", lambda path: path.write_bytes(text))
        self._dirty = False

    def _write_chunk(self) -> None:
        samples = sorted(self._open, key=lambda s: s.at)
        split = [rows_of(s) for s in samples]
        for table in _ORDER:
            if table == "clusters":  # the one that counts comes last
                rows = run_actions.rows_of(self._open_actions)
                self._write("actions", to_table(rows, run_actions.SCHEMA))
            rows = [row for part in split for row in part[table]]
            self._write(table, to_table(rows, SCHEMAS[table]))
        self._seal(self._chunk_samples)

    def _seal(self, least: int) -> None:
        """What is full is not written again."""
        if len(self._open) >= least:
            self._number += 1
            self._open, self._open_actions = [], []

    def _write(self, table: str, content: pa.Table) -> None:
        path = self._file(table, self._number)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, lambda beside: pq.write_table(content, beside, compression="zstd"))

    def _file(self, table: str, number: int) -> Path:
        return self.folder / table / f"day={self.day}" / f"{number}.parquet"


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside the place (hidden, so that no reader takes it), make it durable, rename."""
    beside = path.with_name(f".{path.name}")
    write(beside)
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def _of_chunk(folder: Path, clusters: Path) -> list[ClusterSample]:
    """The samples of one chunk; others of the same time belong to earlier ones."""
    table = pq.ParquetFile(clusters).read(columns=["at", "name"])
    mine = set(zip(table["at"].to_pylist(), table["name"].to_pylist(), strict=True))
    if not mine:  # after a full chunk there may have been actions only
        return []
    oldest = min(at for at, _ in mine)
    return [s for s in read_samples(folder, oldest) if (s.at, s.cluster.name) in mine]


def files_of(folder: Path, table: str) -> list[Path]:
    """The files of a table of a run, in no order."""
    return list((folder / table).glob("day=*/[0-9]*.parquet"))


def _with(known: list[str], names: Iterable[str]) -> list[str]:
    return known if (new := set(names)) <= set(known) else sorted(new | set(known))


def _number(file: Path) -> int:
    return int(file.stem)
