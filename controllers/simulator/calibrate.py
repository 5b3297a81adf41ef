"""From a recorded run to a world that behaves like it.

1. Arrivals, places and cost per row over time are taken from the recording as they are.
2. Trigger, overhead, parallelism and admission limit are fitted on single batches.
3. The world is run as the cluster was run, and overhead and latency offset are moved
   until the median of what it shows is the median of what was recorded.

Executor start and shutdown are the median times from a change of what was asked for to
the change of what was there; the pause of a move is the median of the recorded pauses.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from weir.controllers.model.errors import InvalidInput
from weir.controllers.simulator.fit import CalibrationFit, Mask, batches_of, fit_operator
from weir.controllers.simulator.model import ClusterModel, OperatorModel, WorldModel
from weir.controllers.simulator.recording import (
    Floats,
    OperatorSeries,
    Recording,
    Whole,
    upstream_of,
)
from weir.controllers.simulator.run import OperatorRun, simulate
from weir.controllers.simulator.sampling import ARRIVAL_S

EXECUTOR_START_S, DECOMMISSION_S, MOVE_PAUSE_S = 10.0, 3.0, 6.5
"""Where a recording shows none."""

_SMOOTH = 15  # periods over which cost and output per row are smoothed
_ROUNDS = 3
_WARM_UP_S, _WARM_BATCHES = 60.0, 12


def calibrate_world(recording: Recording, until: int | None = None) -> WorldModel:
    """The world of a recording, fitted on its first `until` periods (None: on all).

    With `until`, cost and output per row beyond it are the medians before it, so that
    nothing but arrivals, places and requests is known of the rest.
    """
    n = recording.periods
    when = np.arange(n) < (n if until is None else until)
    warm = {o.name: warm_periods(o, when, recording.ends) for o in recording.operators}
    fits = {o.name: fit_operator(o, warm[o.name]) for o in recording.operators}
    used = [o for o in recording.operators if fits[o.name] is not None]
    if not used:
        raise InvalidInput(
            "run: no operator in it has processed rows, so there is nothing to simulate",
            field="run",
        )
    feeds = upstream_of(used)
    named = {o.name: o for o in used}
    world = WorldModel(
        begin=recording.begin,
        ends=tuple(recording.ends.tolist()),
        focus=recording.focus,
        clusters=tuple(_cluster(recording, i, when) for i in range(len(recording.clusters))),
        operators=tuple(
            _operator(
                o,
                fits[o.name] or CalibrationFit(trigger_s=1.0, cost_s_per_row=0.0),
                when,
                recording.ends,
                named.get(feeds.get(o.name, "")),
            )
            for o in used
        ),
        move_pause_s=_median([o["pause_s"] for o in used], MOVE_PAUSE_S),
    )  # fmt: skip
    return _refine(world, recording, int(when.sum()), warm)


def _operator(
    o: OperatorSeries,
    fit: CalibrationFit,
    when: Mask,
    ends: Floats,
    upstream: OperatorSeries | None,
) -> OperatorModel:
    arrivals = np.nan_to_num(o["arrival_rows_per_s"])
    gain: tuple[float, ...] = ()
    if upstream is not None:
        came = np.where(when, arrivals, 0.0)
        sent = np.where(when, np.nan_to_num(upstream["processed_rows_per_s"]), 0.0)
        overall = came.sum() / max(sent.sum(), 1e-9)
        near = _window_sum(sent)
        ratio = np.where(near > 0, _window_sum(came) / np.maximum(near, 1e-9), overall)
        gain = tuple(np.where(when, ratio, overall).tolist())
    cost = o["cost_s_per_row"] - fit.batch_work_s / np.maximum(np.nan_to_num(o["batch_rows"]), 1.0)
    low, high = 0.2 * fit.cost_s_per_row, 5.0 * fit.cost_s_per_row
    known = when & np.isfinite(cost)  # what comes after must not shine through the window
    cost = _window_median(np.clip(np.where(known, cost, fit.cost_s_per_row), low, high))
    return OperatorModel(
        name=o.name,
        rows_per_s=tuple(in_their_time(arrivals, ends).tolist()),
        cost_s_per_row=tuple(np.where(when, cost, fit.cost_s_per_row).tolist()),
        place=tuple(o.place.tolist()),
        upstream="" if upstream is None else upstream.name,
        rows_per_row=gain,
        reads=o.last.reads,
        writes=o.last.writes,
        trigger_s=fit.trigger_s,
        overhead_s=fit.overhead_s,
        batch_work_s=fit.batch_work_s,
        stretch=fit.stretch,
        parallelism=fit.parallelism,
        max_rows=fit.max_rows,
        jitter=fit.jitter,
        queue_rows=known_before(o["queue_rows"]),
        stateful=o.last.stateful,
        state_bytes=o.last.state_bytes,
    )


def _cluster(recording: Recording, number: int, when: Mask) -> ClusterModel:
    last, present, asked = (
        recording.clusters[number],
        recording.executors[number],
        recording.asked[number],
    )
    told = bool((present != asked).any())
    seen = recording.ends[when], asked[when], present[when]
    peak = int(max(present.max(), asked.max(), 1))
    there = present[present > 0]  # before its first executor a cluster says nothing about sizes
    least = int(there.min()) if there.size else 1
    return ClusterModel(
        name=last.name,
        executors=int(there[0]) if there.size else 1,
        cores_per_executor=max(1, last.cores_per_executor),
        min_executors=max(1, min(last.min_executors, least)),
        max_executors=max(last.max_executors, peak),
        executor_start_s=_delay_s(*seen, 1) or EXECUTOR_START_S,
        decommission_s=_delay_s(*seen, -1) or DECOMMISSION_S,
        recorded=tuple(present.tolist()),
        asked=tuple(asked.tolist()) if told else (),
    )


def _delay_s(ends: Floats, asked: Whole, present: Whole, way: int) -> float | None:
    """Median time from asking for more (way 1) or fewer (-1) until they are there or gone."""
    found = []
    for i in np.flatnonzero(np.sign(np.diff(asked)) == way) + 1:
        for j in range(i, len(ends)):
            if j > i and asked[j] != asked[i]:
                break
            if way * (present[j] - asked[i]) >= 0:
                # Both moments are known to a period only; half of one is the best guess.
                found.append(ends[j] - ends[i] + (ends[i] - ends[i - 1]) / 2)
                break
    return float(np.median(found)) if found else None


def warm_periods(o: OperatorSeries, when: Mask, ends: Floats) -> Mask:
    """The periods to fit on without the operator's first minute, if enough batches are left.

    A new query compiles, starts workers and fills caches: what its first batches take
    says nothing of the later ones.
    """
    first = batches_of(o, when)[:1]
    if not first.size:
        return when
    rest = when & (ends > ends[first[0]] + _WARM_UP_S)
    return rest if batches_of(o, rest).size >= _WARM_BATCHES else when


def in_their_time(arrivals: Floats, ends: Floats) -> Floats:
    """Arrivals moved to when they came: agents average them over the last ten seconds.

    >>> in_their_time(np.array([0.0, 0.0, 4.0, 8.0]), np.array([2.0, 4.0, 6.0, 8.0])).tolist()
    [4.0, 8.0, 8.0, 8.0]
    """
    period_s = float(np.median(np.diff(ends))) if len(ends) > 1 else ARRIVAL_S
    late = max(0, round((ARRIVAL_S / period_s - 1.0) / 2.0))
    return arrivals[np.minimum(np.arange(len(arrivals)) + late, len(arrivals) - 1)]


def _refine(
    world: WorldModel, recording: Recording, until: int, warm: Mapping[str, Mask]
) -> WorldModel:
    """Overheads and offsets at which the world shows the medians of the recording."""
    series = {o.name: o for o in recording.operators}
    calm = replace(world, operators=tuple(replace(o, jitter=0.0) for o in world.operators))
    for number in range(_ROUNDS):
        outcome = simulate(calm.part(0, until))
        calm = replace(
            calm,
            operators=tuple(
                _closer(o, series[o.name], run, warm[o.name], last=number == _ROUNDS - 1)
                for o, run in zip(calm.operators, outcome.operators, strict=True)
            ),
        )
    return replace(
        calm,
        operators=tuple(
            replace(o, jitter=w.jitter)
            for o, w in zip(calm.operators, world.operators, strict=True)
        ),
    )


def _closer(
    o: OperatorModel, seen: OperatorSeries, run: OperatorRun, warm: Mask, last: bool
) -> OperatorModel:
    took, shown = _both(seen["processing_s"], run.processing_s, warm)
    if took.size and not last:
        middle = float(np.median(took))
        gap = float(np.clip(np.median(took - shown), -0.5 * middle, 0.5 * middle))
        if o.overhead_s + gap >= 0.0:
            o = replace(o, overhead_s=o.overhead_s + gap)
        else:  # faster than its cores allow: they are used better than was thought
            factor = float(np.clip(np.median(took / np.maximum(shown, 1e-6)), 0.5, 2.0))
            o = replace(o, overhead_s=0.0, stretch=max(0.05, o.stretch * factor))
    latency, simulated = _both(seen["latency_s"], run.latency_s, warm)
    if latency.size:
        gap = float(np.median(latency - simulated))
        o = replace(o, latency_offset_s=o.latency_offset_s + gap)
    return o


def _both(recorded: Floats, simulated: Sequence[float | None], when: Mask) -> tuple[Floats, Floats]:
    """Recorded and simulated figures of those of the periods that have both."""
    shown = np.array([np.nan if v is None else v for v in simulated])
    real = recorded[: len(shown)]
    good = np.isfinite(real) & np.isfinite(shown) & when[: len(shown)]
    return real[good], shown[good]


def known_before(values: Floats, at: int = 0) -> float:
    """The last value up to a moment, or 0."""
    known = values[: at + 1][np.isfinite(values[: at + 1])]
    return float(known[-1]) if known.size else 0.0


def _median(series: list[Floats], default: float) -> float:
    values = (
        np.concatenate([v[np.isfinite(v) & (v > 0)] for v in series]) if series else np.empty(0)
    )
    return float(np.median(values)) if values.size else default


def _window_sum(values: Floats) -> Floats:
    return np.convolve(np.nan_to_num(values), np.ones(_SMOOTH), mode="same")[: len(values)]


def _window_median(values: Floats) -> Floats:
    half = _SMOOTH // 2
    padded = np.pad(values, half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _SMOOTH)
    return np.asarray(np.median(windows, axis=1), dtype=np.float64)
