"""A whole run in a few figures and a few series, over all its clusters: for comparisons."""

from math import nan

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.timeline import BESIDE, latency

POINTS = 240
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
    step = max(run.info.period_s, run.info.duration_s / POINTS)
    first = run.info.first_at - run.info.period_s
    count = max(1, int(np.ceil((run.info.last_at - first) / step - 1e-9)))
    operators, clusters = run.operators, run.clusters
    period_s = clusters.values("period_s")

    def bins(at: Floats) -> NDArray[np.int64]:
        ends = np.ceil((at - first) / step - 1e-9).astype(np.int64)
        return (ends - 1).clip(0, count - 1)

    def mean(at: Floats, values: Floats, weight: Floats | float) -> Floats:
        found = np.full(count, 0.0)
        known = np.isfinite(values)
        w = weight if isinstance(weight, float) else weight[known]
        np.add.at(found, bins(at[known]), values[known] * w)
        seen = np.zeros(count)
        np.add.at(seen, bins(at), 1.0)
        return np.where(seen > 0, found / step, nan)

    per = run.info.period_s
    slowest = np.full(count, -np.inf)
    late = latency(operators)
    known = np.isfinite(late)
    np.maximum.at(slowest, bins(operators.at[known]), late[known])
    capacity = clusters.values("executors") * clusters.values("cores_per_executor")
    cores = mean(clusters.at, capacity, period_s)
    load = mean(operators.at, operators.values("load"), per)
    return RunSeries(
        elapsed_s=(np.arange(count, dtype=np.float64) + 1) * step,
        arrival_rows_per_s=mean(operators.at, operators.values("arrival_rows_per_s"), per),
        processed_rows_per_s=mean(operators.at, operators.values("processed_rows_per_s"), per),
        latency_s=np.where(np.isfinite(slowest), slowest, nan),
        queue_rows=mean(operators.at, operators.values("queue_rows"), per),
        executors=mean(clusters.at, clusters.values("executors"), period_s),
        load=load / np.maximum(cores, 1.0),
    )


def run_figures(run: RecordedRun, target_latency_s: float) -> RunFigures:
    """The figures; latency is that of the slowest operator at each moment."""
    operators, clusters = run.operators, run.clusters
    arrivals = np.nan_to_num(operators.values("arrival_rows_per_s")) * run.info.period_s
    executors = clusters.values("executors")
    hours = float((executors * clusters.values("period_s")).sum() / 3600)
    late = _slowest(operators.at, latency(operators))
    p50, p95, p99 = np.percentile(late, [50, 95, 99]) if late.size else (None, None, None)
    duration_s = run.info.duration_s + run.info.period_s
    rows = float(arrivals.sum())
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
        failed_tasks=int(np.nan_to_num(clusters.values("failed_tasks")).sum()),
        actions=len({(a.kind, a.id) for a in run.actions if a.kind not in BESIDE}),
    )


def _slowest(at: Floats, values: Floats) -> Floats:
    """The largest value of each moment."""
    known = np.isfinite(values)
    moments, which = np.unique(at[known], return_inverse=True)
    top = np.full(len(moments), -np.inf)
    np.maximum.at(top, which, values[known])
    return top


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
