"""The runs in a folder: which exist, how large they are, which may be removed."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from msgspec import Struct

from weir.controllers.engine.guard.rules import RecordSettings
from weir.controllers.model.errors import NotFound, Refused
from weir.metrics.eventlog.parser import UnreadableLine
from weir.metrics.eventlog.tables import read_meta
from weir.metrics.runs.writer import LIVE, files_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")
_GONE = ".deleting-"


class RunInfo(Struct, frozen=True, kw_only=True):
    """One run as a list shows it."""

    id: str
    kind: str  # live, or eventlog for an imported one
    name: str
    first_at: float
    last_at: float
    period_s: float
    samples: int
    clusters: tuple[str, ...]
    operators: tuple[str, ...]
    size_bytes: int
    complete: bool  # ended, and recorded or logged to its end
    batches: int = 0
    actions: int = 0
    note: str = ""
    followed: bool = False  # made of a log while that grows

    @property
    def duration_s(self) -> float:
        """From the first moment to the last."""
        return max(0.0, self.last_at - self.first_at)


def run_folder(root: str | os.PathLike[str], run_id: str) -> Path:
    """Where a run is; a refusal in a sentence if no run has that name."""
    folder = Path(root) / run_id
    if not _NAME.match(run_id) or not (folder / "meta.json").is_file():
        raise NotFound(f"There is no run {run_id[:80]}.")
    return folder


def list_runs(
    root: str | os.PathLike[str], known: dict[str, tuple[int, RunInfo]] | None = None
) -> list[RunInfo]:
    """Every run in a folder, newest first; `known` is kept up to date and saves reading again."""
    cache = {} if known is None else known
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return []
    found = []
    for name in names:
        if _NAME.match(name) and (Path(root) / name / "meta.json").is_file():
            try:
                version = (Path(root) / name / "meta.json").stat().st_mtime_ns
                if name not in cache or cache[name][0] != version:
                    cache[name] = (version, run_info(Path(root) / name))
                found.append(cache[name][1])
            except (NotFound, OSError, ValueError, KeyError):  # deleted or unreadable
                continue
    return sorted(found, key=lambda r: (r.first_at, r.id), reverse=True)


def run_info(folder: Path) -> RunInfo:
    """What is known of one run; imported ones are counted by the footers of their files."""
    meta = read_meta(folder)
    summary: dict[str, Any] = meta.get("summary") or {}
    clusters, operators = meta.get("clusters"), meta.get("operators")
    if clusters is None:
        clusters, operators = _names(folder, "clusters"), _names(folder, "operators")
    samples, batches = meta.get("samples"), meta.get("batches")
    if samples is None:
        samples = _rows(folder, "clusters")
    if batches is None:
        batches = _rows(folder, "batches")
    live = meta.get("kind") == LIVE
    return RunInfo(
        id=folder.name,
        kind=meta.get("kind", "eventlog"),
        name=(", ".join(clusters) if live else summary.get("name") or meta.get("log")) or folder.name,
        first_at=meta.get("first_at") or 0.0,
        last_at=meta.get("last_at") or 0.0,
        period_s=meta.get("period_s") or 10.0,
        samples=samples,
        clusters=tuple(clusters),
        operators=tuple(operators or ()),
        size_bytes=sum(f.stat().st_size for f in folder.rglob("*.parquet")),
        complete=bool(meta.get("complete") if live else summary.get("complete")),
        batches=batches,
        actions=meta.get("actions") or 0,
        note=_note(summary),
        followed=bool(meta.get("followed")),
    )  # fmt: skip


def broken_lines(folder: Path) -> tuple[UnreadableLine, ...]:
    """The first lines of its log that could not be read."""
    return msgspec.convert(read_meta(folder).get("faults") or (), tuple[UnreadableLine, ...])


def delete_run(root: str | os.PathLike[str], run_id: str, now: float) -> None:
    """Remove a run, all of it or nothing; one that is being recorded stays."""
    folder = run_folder(root, run_id)
    if recording(run_info(folder), now):
        raise Refused(f"{run_id} is being recorded now; it can be deleted when it has ended.")
    gone = Path(root) / f"{_GONE}{uuid4().hex}"
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def recording(info: RunInfo, now: float) -> bool:
    """Whether a run still grows: it is live, has not ended and has fresh data."""
    grows = info.kind == LIVE or info.followed
    return grows and not info.complete and now - info.last_at < 300.0


def expired_runs(
    runs: Iterable[RunInfo], settings: RecordSettings, now: float, keep: Sequence[str] = ()
) -> list[str]:
    """Live runs that are too old, or too many for the room there is; imported ones stay.

    >>> old = RunInfo(id="a", kind="live", name="a", first_at=0, last_at=9, period_s=1, samples=1,
    ...               clusters=(), operators=(), size_bytes=5, complete=True)
    >>> expired_runs([old], RecordSettings(keep_days=1), now=86_410.0)
    ['a']
    """
    live = sorted((r for r in runs if r.kind == LIVE), key=lambda r: r.last_at, reverse=True)
    room, found = settings.keep_gb * 1e9, []
    for run in live:
        room -= run.size_bytes
        old = now - run.last_at > settings.keep_days * 86_400
        if (old or room < 0) and run.id not in keep:
            found.append(run.id)
    return found


def _note(summary: dict[str, Any]) -> str:
    broken = summary.get("broken_lines") or 0
    return f"{broken:,} broken line{'' if broken == 1 else 's'} skipped" if broken else ""


def _rows(folder: Path, table: str) -> int:
    return sum(pq.read_metadata(f).num_rows for f in files_of(folder, table))


def _names(folder: Path, table: str) -> list[str]:
    files = [str(f) for f in files_of(folder, table)]
    if not files:
        return []
    found: set[str] = set()
    for batch in ds.dataset(files, format="parquet").to_batches(columns=["name"]):
        found |= set(pc.unique(batch["name"]).to_pylist())
    return sorted(found)
