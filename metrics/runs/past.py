"""What recorded runs know of a cluster's past, summed up: the store forgets when it is emptied.

Of each run only the columns that charts need are read, once, and kept in steps that suit the
range that is asked for.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from weir.controllers.model.brief import Brief
from weir.metrics.eventlog.tables import SCHEMAS
from weir.metrics.runs.library import RunInfo
from weir.metrics.runs.writer import LIVE

STEPS_S = (0.0, 60.0, 900.0, 3600.0)
"""0: as reported."""
POINTS = 1500
"""Points in a range from which the next coarser step is taken."""
RUNS_MOST = 100
"""Runs in a range that are read, the newest first; others are left out."""
_KEPT = 400
_CLUSTER = (
    "at",
    "name",
    "period_s",
    "executors",
    "executors_wanted",
    "cores_per_executor",
    "busy_cores",
)
_SUMS = ("load", "arrival_rows_per_s", "processed_rows_per_s", "queue_rows")
_OPERATOR = ("at", "cluster", *_SUMS, "latency_p50_s", "latency_max_s", "processing_s", "scheduling_s")  # fmt: skip
Floats = NDArray[np.float64]


class Past:
    """The recorded past of clusters, by run, cluster and step."""

    def __init__(self, root: str | Path) -> None:
        self._root = Path(root)
        self._known: OrderedDict[tuple[str, float, str, float], list[Brief]] = OrderedDict()
        self._lock = threading.Lock()

    def samples(
        self, runs: Iterable[RunInfo], cluster: str, since: float, until: float
    ) -> list[Brief]:
        """Figures from live runs in [since, until], oldest first."""
        inside = [
            r
            for r in runs
            if r.kind == LIVE
            and cluster in r.clusters
            and r.last_at >= since
            and r.first_at <= until
        ]
        step_s = step_for(until - since, min((r.period_s for r in inside), default=1.0))
        found: list[Brief] = []
        for run in sorted(inside, key=lambda r: r.first_at)[-RUNS_MOST:]:
            found += [s for s in self._of(run, cluster, step_s) if since <= s.at <= until]
        return sorted(found, key=lambda s: s.at)

    def _of(self, run: RunInfo, cluster: str, step_s: float) -> list[Brief]:
        key = (run.id, run.last_at, cluster, step_s)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = read_past(self._root / run.id, cluster, step_s)
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def step_for(span_s: float, period_s: float) -> float:
    """The finest step that gives a range not too many points; 0: every report.

    >>> step_for(900.0, 2.0), step_for(18_000.0, 2.0), step_for(7_776_000.0, 2.0)
    (0.0, 60.0, 3600.0)
    """
    return next((s for s in STEPS_S if span_s / (s or period_s) <= POINTS), STEPS_S[-1])


def read_past(folder: Path, cluster: str, step_s: float) -> list[Brief]:
    """The figures of one run in steps: means of rates, peaks of queue and latency."""
    whole = _read(folder, "clusters", _CLUSTER, pc.field("name") == cluster)
    at = whole["at"]
    if not len(at):
        return []
    parts = _summed(folder, cluster, at)
    # Each step ends on a multiple of itself, as the store's tiers do.
    which = np.arange(len(at)) if not step_s else np.ceil(at / step_s - 1e-9).astype(np.int64)
    ends, first, count = np.unique(which, return_index=True, return_counts=True)
    last = first + count - 1

    def mean(values: Floats) -> list[float]:
        return (np.add.reduceat(np.nan_to_num(values), first) / count).tolist()  # type: ignore[no-any-return]

    def peak(values: Floats) -> list[float | None]:
        top = np.maximum.reduceat(np.where(np.isfinite(values), values, -np.inf), first)
        return [float(v) if np.isfinite(v) else None for v in top]

    cores = np.fmax(whole["executors"] * whole["cores_per_executor"], 1.0)
    return [
        Brief(*row)
        for row in zip(
            (ends * step_s if step_s else at).tolist(),
            np.add.reduceat(np.nan_to_num(whole["period_s"]), first).tolist(),
            mean(parts["load"] / cores),
            mean(whole["busy_cores"] / cores),
            peak(parts["latency_s"]),
            peak(parts["latency_max_s"]),
            peak(parts["queue_rows"]),
            mean(parts["arrival_rows_per_s"]),
            mean(parts["processed_rows_per_s"]),
            np.nan_to_num(whole["executors"][last]).astype(int).tolist(),
            strict=True,
        )
    ]


def _summed(folder: Path, cluster: str, at: Floats) -> dict[str, Floats]:
    """The operators of each of these samples together."""
    rows = _read(folder, "operators", _OPERATOR, pc.field("cluster") == cluster)
    sample = np.searchsorted(at, rows["at"]).clip(0, len(at) - 1)
    own = rows["processing_s"] + np.nan_to_num(rows["scheduling_s"])
    rows["latency_s"] = np.where(np.isfinite(rows["latency_p50_s"]), rows["latency_p50_s"], own)
    found = {}
    for key in _SUMS:
        known = np.isfinite(rows[key])
        seen = np.zeros(len(at), bool)
        seen[sample[known]] = True
        total = np.bincount(sample[known], rows[key][known], minlength=len(at))
        found[key] = np.where(seen, total, np.nan)
    for key in ("latency_s", "latency_max_s"):
        found[key] = np.full(len(at), np.nan)
        np.fmax.at(found[key], sample, rows[key])
    return found


def _read(folder: Path, table: str, names: tuple[str, ...], which: Any) -> dict[str, Floats]:
    """Columns of numbers, sorted by time; what was not measured is NaN."""
    numbers = [n for n in names if n not in ("name", "cluster")]
    if not (folder / table).is_dir():
        return {n: np.empty(0) for n in numbers}
    data = ds.dataset(folder / table, schema=SCHEMAS[table], format="parquet")
    found = data.to_table(columns=numbers, filter=which).sort_by("at")
    return {n: found[n].cast(pa.float64()).to_numpy() for n in numbers}
