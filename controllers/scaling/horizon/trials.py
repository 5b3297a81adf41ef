"""Ways to hold executors, each tried on the cluster's own load.

A way is two numbers: how much room executors leave above the load (`room`), and what must
have been wasted before some are given back (`patience`, in minutes of the mean need). What
was wasted is counted from the past: with `size` executors, (asked - size) would have been
saved since the load was last too high for `size`. So many that idle go soon, a single one
goes after long, and whatever is given back has saved more than its change costs.

How much room and patience are right follows from the load: a calm one is followed closely,
a bursty one is not. So every way is run in the shadow on what arrives, on a fluid model of
the queue, with the start time of executors; Spark's own allocation runs beside them as the
mark to beat. What they cost fades with a day.
"""

from math import ceil

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROOMS = (0.0, 0.1, 0.2, 0.4)
PATIENCE_MIN = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 128.0)
KEPT_MINUTES = 360
WAYS: Floats = np.array([(room, patience) for room in ROOMS for patience in PATIENCE_MIN])
"""One row per way: room, patience."""

# Columns of the state; one row per way, and one for Spark's allocation.
ASKED, PRESENT, READY_S, QUEUED, HOURS, OVER, ACTIONS, RESTED_S = range(8)
SPARK = len(WAYS)
SHAPE = (len(WAYS) + 1, 8)
_SPARK_INTERVAL_S, _SPARK_UP, _SPARK_DOWN = 60.0, 0.9, 0.3
_DRAINED = 2.0 / 3.0  # of the target: until then a queue is worked off
_NEWEST = 0.5  # share of the time in which nothing was short that says how many are kept


def fresh(executors: float) -> Floats:
    """Every way begins with what is there."""
    state = np.zeros(SHAPE)
    state[:, ASKED] = state[:, PRESENT] = executors
    return state


@njit(cache=True)
def wanted_executors(
    way: Floats,
    load: float,
    queued: float,
    asked: float,
    present: float,
    rested: bool,
    minutes: Floats,
    mean_need: float,
    facts: Floats,
) -> float:
    """Executors that a way asks for; `asked` where it asks for no change.

    `minutes` are the highest loads of the last minutes, oldest first.
    """
    fixed, stretch, trigger, hot, aim, target, start, cores, low, high, period = facts
    room, patience = way[0], way[1]
    power = asked * cores / stretch
    later = max(0.0, queued + (load - power * hot) * (period + start))
    busy = min(load / max(power, 1e-9), 1.0)
    length = max(trigger, fixed / max(1.0 - busy, 0.03))
    foreseen = length / 2.0 + fixed + busy * length + later / max(power, 1e-9)
    per_executor = cores / stretch
    if foreseen > aim or asked < low:
        until = max(0.0, queued + (load - present * per_executor * hot) * start)
        most = load * (1.0 + room) / hot + until / max(_DRAINED * target, trigger)
        return float(max(min(max(ceil(most / per_executor - 1e-9), low), high), asked))
    if queued > 0.0 or not rested or present < asked or asked <= low:
        return asked
    each = (1.0 + room) / hot / per_executor  # executors for a core of load
    wasted, since, most = 0.0, 0, 0.0
    for back in range(1, len(minutes) + 1):
        most = max(most, minutes[len(minutes) - back])
        size = max(ceil(most * each - 1e-9), low)
        if size >= asked:
            break
        if (asked - size) * back > wasted:
            wasted, since = (asked - size) * back, back
    if since == 0 or wasted < patience * mean_need:
        return asked
    most = 0.0
    for back in range(1, ceil(_NEWEST * since) + 1):
        most = max(most, minutes[len(minutes) - back])
    return float(max(ceil(most * each - 1e-9), low))


@njit(cache=True)
def step(
    state: Floats, ways: Floats, minutes: Floats, mean_need: float, load: float,
    length_s: float, fade: float, facts: Floats,
) -> None:  # fmt: skip
    """One period for every way, in place."""
    fixed, stretch, trigger, hot, _aim, target, start, cores, low, high, _period = facts
    parts = max(1, ceil(length_s / max(trigger, 5.0)))
    dt = length_s / parts
    spark = len(ways)
    for i in range(len(state)):
        row = state[i]
        row[HOURS] *= fade
        row[OVER] *= fade
        row[ACTIONS] *= fade
        before = row[QUEUED]
        for _ in range(parts):
            if row[ASKED] > row[PRESENT]:
                row[READY_S] -= dt
                if row[READY_S] < 0.0:
                    row[PRESENT] = row[ASKED]
            power = row[PRESENT] * cores / stretch
            row[QUEUED] = max(0.0, row[QUEUED] + (load - power * hot) * dt)
            busy = min(load / max(power, 1e-9), 1.0)
            seen = trigger / 2.0 + fixed + busy * trigger + row[QUEUED] / max(power, 1e-9)
            if seen > target:
                row[OVER] += dt / 3600.0
            row[HOURS] += row[PRESENT] * dt / 3600.0
        row[RESTED_S] += length_s
        asked = row[ASKED]
        if i == spark:
            size = asked
            # Without rows there is no batch, and without one it decides nothing.
            if row[RESTED_S] >= _SPARK_INTERVAL_S - 1e-6 and load + before > 0.0:
                row[RESTED_S] = 0.0
                interval = max(trigger, 1e-3) if trigger > 0.0 else 10.0
                # The batch that ended last began with what waited then, up to its limit.
                waited = load * interval + (before + row[QUEUED]) / 2.0
                work = min(waited, high * cores * interval) / max(power, 1e-9)
                ratio = (fixed + work) / interval
                if ratio >= _SPARK_UP:
                    size = asked + max(1.0, np.floor(min(ratio, 1e6) + 0.5))
                elif ratio <= _SPARK_DOWN:
                    size = asked - 1.0
                size = min(max(size, low), high)
        else:
            rested = row[RESTED_S] >= max(2.0 * start, 60.0)
            size = wanted_executors(
                ways[i], load, row[QUEUED], asked, row[PRESENT], rested, minutes, mean_need, facts
            )
        if size != asked:
            row[ACTIONS] += 1.0
            if i != spark:
                row[RESTED_S] = 0.0
            if size > asked:
                row[READY_S] = start
            else:
                row[PRESENT] = min(row[PRESENT], size)
            row[ASKED] = size
