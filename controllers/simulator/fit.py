"""What an operator's batches tell about it: trigger, cost, overhead, parallelism.

    run time of a batch     = batch_work_s + rows x cost                    (core seconds)
    processing time         = overhead_s + stretch x run time / cores that it can use

Both are lines; they are fitted with a loss that lets single slow batches be slow, and
only where the sizes of the batches differ enough to tell the slope from the intercept.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.optimize import least_squares

from weir.controllers.simulator.model import usable_cores
from weir.controllers.simulator.recording import Floats, OperatorSeries

_COST_BATCHES = 6  # a live agent averages the cost over so many batches
_SPREAD = 0.15  # coefficient of variation below which a slope says nothing
_BETTER = 0.85  # residual of a parallelism to be believed, against none
_MOST_JITTER = 0.5

Mask = NDArray[np.bool_]


class CalibrationFit(Struct, frozen=True, kw_only=True):
    """What the batches of one operator tell."""

    trigger_s: float
    cost_s_per_row: float
    batch_work_s: float = 0.0
    overhead_s: float = 0.0
    stretch: float = 1.0
    parallelism: int | None = None
    max_rows: int | None = None
    jitter: float = 0.0


def fit_operator(o: OperatorSeries, when: Mask) -> CalibrationFit | None:
    """The fit on some of the periods; None where nothing was processed in them."""
    index = batches_of(o, when)
    cost, work = _costs(o, index, when)
    if cost is None:
        return None
    trigger = _trigger_s(o, index)
    if not index.size:  # no batches: rows flow, so let each take what a second can do
        usual = float(np.nanmedian(o.cores[when & o.runs]))
        return CalibrationFit(
            trigger_s=1.0, cost_s_per_row=cost, max_rows=max(1, int(usual / cost))
        )
    if index.size < 3:
        return CalibrationFit(trigger_s=trigger, cost_s_per_row=cost)
    rows, took, cores = o["batch_rows"][index], o["processing_s"][index], o.cores[index]
    run_s = work + cost * rows
    overhead, stretch, parallelism = _processing(o, run_s, took, np.maximum(cores, 1.0), index)
    usable = _usable(np.maximum(cores, 1.0), parallelism)
    expected = overhead + stretch * run_s / usable
    off = np.log(np.maximum(took, 1e-3) / np.maximum(expected, 1e-3))
    jitter = 1.4826 * float(np.median(np.abs(off - np.median(off))))
    return CalibrationFit(
        trigger_s=trigger,
        cost_s_per_row=cost,
        batch_work_s=work,
        overhead_s=overhead,
        stretch=stretch,
        parallelism=parallelism,
        max_rows=_max_rows(o, index),
        jitter=min(_MOST_JITTER, jitter),
    )


def batches_of(o: OperatorSeries, when: Mask) -> NDArray[np.int64]:
    """Periods that show a batch for the first time."""
    ids, rows = o["batch_id"], o["batch_rows"]
    fresh = np.ones(len(ids), dtype=bool)
    fresh[1:] = ids[1:] != ids[:-1]
    good = when & o.runs & fresh & np.isfinite(o["processing_s"]) & (np.nan_to_num(rows) > 0)
    return np.flatnonzero(good)


def _costs(o: OperatorSeries, index: NDArray[np.int64], when: Mask) -> tuple[float | None, float]:
    """Core seconds per row, and per batch."""
    measured = index[np.isfinite(o["cost_s_per_row"][index])]
    if measured.size >= 3:
        costs = o["cost_s_per_row"][measured]
        rows = _smooth(o["batch_rows"][measured])
        middle = float(np.median(costs))
        if _spread(rows) >= _SPREAD:
            work, cost = line(rows, costs * rows, slope=(0.2 * middle, 5.0 * middle))
            return cost, work
        return middle, 0.0
    if index.size >= 3:  # no task times: from the clock alone
        rows = o["batch_rows"][index] / np.maximum(o.cores[index], 1.0)
        if _spread(rows) >= _SPREAD:
            return max(line(rows, o["processing_s"][index])[1], 1e-12), 0.0
        return float(np.median(o["processing_s"][index] / rows)), 0.0
    return _saturated_cost(o, when), 0.0


def _saturated_cost(o: OperatorSeries, when: Mask) -> float | None:
    """Without batches: where an operator is behind, what it processes is all that it can."""
    rate, latency = o["processed_rows_per_s"], o["latency_s"]
    works = when & o.runs & (np.nan_to_num(rate) > 0) & np.isfinite(latency)
    if not works.any():
        return None
    behind = works & (latency > 5.0 * np.median(latency[works]))
    if behind.sum() >= 3:
        return float(np.median(o.cores[behind])) / float(np.median(rate[behind]))
    # It has always kept up: it can do at least what it did in its busiest moments.
    return float(np.median(o.cores[works])) / float(np.quantile(rate[works], 0.99))


def _processing(
    o: OperatorSeries, run_s: Floats, took: Floats, cores: Floats, index: NDArray[np.int64]
) -> tuple[float, float, int | None]:
    """Overhead, stretch and parallelism of the batches."""
    tasks = np.nan_to_num(o["tasks"][index]) / np.maximum(np.nan_to_num(o["batches"][index]), 1.0)
    per_batch = round(float(np.median(tasks)))
    one_stage = per_batch if per_batch >= 1 and not o.last.stateful else None
    if np.unique(cores).size == 1:
        return (*_overhead(run_s / _usable(cores, one_stage), took), one_stage)
    # Few tasks and slow cores look alike where few sizes were seen: cores are not faster
    # than they are, and of what explains the times equally well the most tasks are believed.
    tried: dict[int | None, tuple[float, float, float]] = {}
    for parallelism in (None, *range(1, 17)):
        x = run_s / _usable(cores, parallelism)
        overhead, stretch = _overhead(x, took, least=0.8)
        tried[parallelism] = (
            overhead,
            stretch,
            float(np.median(np.abs(took - overhead - stretch * x))),
        )
    best = min(residual for _, _, residual in tried.values())
    bar = max(best / _BETTER, 1e-9)
    order = (one_stage, None, *range(16, 0, -1))
    found = next(p for p in order if p in tried and tried[p][2] <= bar)
    return tried[found][0], tried[found][1], found


def _overhead(x: Floats, took: Floats, least: float = 0.3) -> tuple[float, float]:
    if _spread(x) >= _SPREAD:
        return line(x, took, slope=(least, 5.0))
    gap = float(np.median(took - x))
    if gap >= 0.0:
        return gap, 1.0
    return 0.0, float(np.median(took) / max(np.median(x), 1e-9))


def _trigger_s(o: OperatorSeries, index: NDArray[np.int64]) -> float:
    told = o["trigger_s"][np.isfinite(o["trigger_s"])]
    if told.size and np.median(told) > 0:
        return float(np.median(told))
    if index.size < 3:
        return 0.0
    steps = np.diff(o["batch_id"][index])
    gaps = np.diff(o["batch_at"][index])[steps > 0] / steps[steps > 0]
    gap, took = float(np.median(gaps)) if gaps.size else 0.0, np.median(o["processing_s"][index])
    if gap <= 1.15 * took + 0.05:
        return 0.0  # back to back
    return round(gap, 1) if gap >= 0.5 else gap


def _max_rows(o: OperatorSeries, index: NDArray[np.int64]) -> int | None:
    """The admission limit, if batches were cut off at one while more rows waited."""
    rows, queue = o["batch_rows"][index], o["queue_rows"][index]
    most = float(rows.max())
    full = (rows >= 0.99 * most) & (np.nan_to_num(queue) > 1.2 * most)
    return int(most) if full.sum() >= 3 else None


def line(x: Floats, y: Floats, slope: tuple[float, float] = (0.0, np.inf)) -> tuple[float, float]:
    """Intercept (at least 0) and slope of a line that outliers do not bend.

    >>> x = np.arange(1.0, 21.0)
    >>> intercept, slope = line(x, np.where(x == 11.0, 90.0, 1.0 + 2.0 * x))
    >>> round(intercept), round(slope, 1)
    (1, 2.0)
    """
    x_unit, y_unit = max(float(np.median(x)), 1e-12), max(float(np.median(y)), 1e-12)
    low, high = slope[0] * x_unit / y_unit, slope[1] * x_unit / y_unit
    start = np.array([0.05, min(max(0.95, low * 1.01 + 1e-9), high * 0.99)])
    found = least_squares(
        lambda p: p[0] + p[1] * x / x_unit - y / y_unit,
        start,
        bounds=([0.0, low], [np.inf, high]),
        loss="soft_l1",
        f_scale=0.05,
    ).x
    return float(found[0] * y_unit), float(found[1] * y_unit / x_unit)


def _usable(cores: Floats, parallelism: int | None) -> Floats:
    return np.array([usable_cores(float(c), parallelism) for c in cores])


def _spread(values: Floats) -> float:
    mean = float(np.mean(values))
    return float(np.std(values)) / mean if mean > 0 else 0.0


def _smooth(values: Floats) -> Floats:
    """Mean of each value and those before it, as far as a live agent averages."""
    total = np.cumsum(values)
    n = min(_COST_BATCHES, len(values))
    head = total[:n] / np.arange(1, n + 1)
    return np.concatenate([head, (total[n:] - total[:-n]) / n])
