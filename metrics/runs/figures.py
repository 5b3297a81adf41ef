"""A whole run in a few figures and a few series, over all its clusters: for comparisons.

Clusters report at instants of their own. So every cluster is first summed up sample by sample,
then brought to one common grid of periods, where its last report holds until the next one or
until it is too old. Only rows that come from outside count as arrivals: what one operator hands
to the next has arrived before.
"""

from math import nan
from typing import cast

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.snapshot import stale_after_s
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.timeline import BESIDE, latency

POINTS = 240
MOST_MOMENTS = 200_000
"""Points of the common grid; a longer run gets coarser ones."""
Floats = NDArray[np.float64]


class RunSeries(Struct, frozen=True, kw_only=True):
    """Series over the run, by seconds since its start. NaN: not measured."""

    elapsed_s: Floats
    arrival_rows_per_s: Floats
    processed_rows_per_s: Floats
    latency_s: Floats  # of the slowest operator, the highest of each step
    queue_rows: Floats
    executors: Floats
    load: Floats  # per core


class RunFigures(Struct, frozen=True, kw_only=True):
    """A run in figures. None: not measured."""

    duration_s: float
    rows: float  # that arrived
    rows_per_s: float
    latency_p50_s: float | None
    latency_p95_s: float | None
    latency_p99_s: float | None
    share_over_target: float | None  # of the moments with a latency
    executors_mean: float
    executors_peak: int
    executor_hours: float
    failed_tasks: int
    actions: int


def run_series(run: RecordedRun) -> RunSeries:
    """Means by step, peaks for the latency."""
    grid = _Grid(run)
    step = max(grid.step_s, run.info.duration_s / POINTS)
    count = max(1, int(np.ceil(grid.moments[-1] / step - 1e-9)))
    which = (np.ceil(grid.moments / step - 1e-9).astype(np.int64) - 1).clip(0, count - 1)

    def mean(values: Floats) -> Floats:
        known = np.isfinite(values)
        total, seen = np.zeros(count), np.zeros(count)
        np.add.at(total, which[known], values[known])
        np.add.at(seen, which[known], 1.0)
        return np.where(seen > 0, total / np.maximum(seen, 1.0), nan)

    late = grid.highest("latency_s")
    slowest = np.full(count, -np.inf)
    known = np.isfinite(late)
    np.maximum.at(slowest, which[known], late[known])
    load, cores = mean(grid.sum("load")), mean(grid.sum("cores"))
    return RunSeries(
        elapsed_s=(np.arange(count, dtype=np.float64) + 1) * step,
        arrival_rows_per_s=mean(grid.sum("arrivals")),
        processed_rows_per_s=mean(grid.sum("processed")),
        latency_s=np.where(np.isfinite(slowest), slowest, nan),
        queue_rows=mean(grid.sum("queue")),
        executors=mean(grid.sum("executors")),
        load=load / np.maximum(cores, 1.0),
    )


def run_figures(run: RecordedRun, target_latency_s: float) -> RunFigures:
    """The figures; latency is that of the slowest operator at each moment."""
    grid = _Grid(run)
    hours = float(sum((c["executors"] * c["period_s"]).sum() for c in grid.clusters) / 3600)
    rows = float(sum((c["arrivals"] * c["period_s"]).sum() for c in grid.clusters))
    late = grid.highest("latency_s")
    late = late[np.isfinite(late)]
    p50, p95, p99 = np.percentile(late, [50, 95, 99]) if late.size else (None, None, None)
    duration_s = run.info.duration_s + run.info.period_s
    return RunFigures(
        duration_s=run.info.duration_s,
        rows=rows,
        rows_per_s=rows / duration_s,
        latency_p50_s=None if p50 is None else float(p50),
        latency_p95_s=None if p95 is None else float(p95),
        latency_p99_s=None if p99 is None else float(p99),
        share_over_target=float((late > target_latency_s).mean()) if late.size else None,
        executors_mean=hours * 3600 / duration_s,
        executors_peak=_peak(run),
        executor_hours=hours,
        failed_tasks=int(np.nan_to_num(run.clusters.values("failed_tasks")).sum()),
        actions=len({(a.kind, a.id) for a in run.actions if a.kind not in BESIDE}),
    )


class _Grid:
    """All clusters of a run at common moments, by seconds since its start."""

    def __init__(self, run: RecordedRun) -> None:
        periods = run.clusters.values("period_s")
        least = float(periods[periods > 0].min(initial=run.info.period_s or 1.0))
        span = run.info.duration_s + run.info.period_s
        self.step_s = max(least, span / MOST_MOMENTS)
        first = run.info.first_at - run.info.period_s
        self.moments: Floats = (
            np.arange(max(1, round(span / self.step_s)), dtype=np.float64) + 1
        ) * self.step_s
        self.clusters = _by_sample(run)
        self._rows = []
        for cluster in self.clusters:
            rows = np.searchsorted(cluster["at"], first + self.moments + 1e-6, "right") - 1
            age_s = first + self.moments - cluster["at"][rows.clip(0)]
            too_old = age_s > stale_after_s(float(np.median(cluster["period_s"])))
            self._rows.append(np.where((rows < 0) | too_old, -1, rows))

    def sum(self, name: str) -> Floats:
        """Over all clusters that are known at a moment; NaN where none is."""
        found = self._on_grid(name)
        return np.where(np.isfinite(found).any(axis=0), np.nansum(found, axis=0), nan)

    def highest(self, name: str) -> Floats:
        """Of all clusters that are known at a moment; NaN where none is."""
        found = np.where(np.isfinite(grid := self._on_grid(name)), grid, -np.inf).max(axis=0)
        return np.where(np.isfinite(found), found, nan)

    def _on_grid(self, name: str) -> Floats:
        return np.array(
            [
                np.where(rows < 0, nan, cluster[name][rows.clip(0)])
                for cluster, rows in zip(self.clusters, self._rows, strict=True)
            ]
        )


def _by_sample(run: RecordedRun) -> list[dict[str, Floats]]:
    """Every cluster, its operators summed up for each of its samples."""
    operators, clusters = run.operators, run.clusters
    outside = _outside(run)
    columns = {
        "arrivals": operators.values("arrival_rows_per_s") * outside,
        "processed": operators.values("processed_rows_per_s"),
        "queue": operators.values("queue_rows"),
        "load": operators.values("load"),
    }
    late = latency(operators)
    found = []
    for name, (start, stop) in clusters.spans.items():
        at = clusters.at[start:stop]
        first, last = operators.spans.get(name, (0, 0))
        sample = np.searchsorted(at, operators.at[first:last]).clip(0, len(at) - 1)
        one = {"at": at, "period_s": clusters.values("period_s", start, stop)}
        for key, values in columns.items():
            one[key] = np.zeros(len(at))
            np.add.at(one[key], sample, np.nan_to_num(values[first:last]))
        slowest = np.full(len(at), -np.inf)
        known = np.isfinite(late[first:last])
        np.maximum.at(slowest, sample[known], late[first:last][known])
        one["latency_s"] = np.where(np.isfinite(slowest), slowest, nan)
        one["executors"] = clusters.values("executors", start, stop)
        one["cores"] = one["executors"] * clusters.values("cores_per_executor", start, stop)
        found.append(one)
    return found


def _outside(run: RecordedRun) -> Floats:
    """Of each row of operators, the share of its input that no operator of the run writes.

    An operator that does not say what it reads counts in full.
    """
    codes, names = run.operators.codes("name")
    if not len(codes):
        return np.ones(0)
    last = len(codes) - 1 - np.unique(codes[::-1], return_index=True)[1]
    known = [cast(OperatorSample, row) for row in run.operators.taken(last)]
    written = {dataset for operator in known for dataset in operator.writes}
    share = {
        o.name: sum(d not in written for d in o.reads) / len(o.reads) if o.reads else 1.0
        for o in known
    }
    return np.array([share.get(name, 1.0) for name in names])[codes]


def _peak(run: RecordedRun) -> int:
    """Most executors at once: each cluster counts with its last report."""
    changes: list[tuple[float, int]] = []
    for start, stop in run.clusters.spans.values():
        count = run.clusters.values("executors", start, stop).astype(int)
        steps = np.diff(count, prepend=0)
        for i in np.flatnonzero(steps):
            changes.append((float(run.clusters.at[start + i]), int(steps[i])))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
