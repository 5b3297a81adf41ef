"""Many ways to hold executors, each tried on the cluster's own load.

A way is four numbers: how much more than now may arrive before a change takes effect
(`risk`), how much room to add when executors change (`room`), how far back and at which
quantile the load counts that executors are held for (`held`), and how much a scaling in
must save (`least_saving`). How long to hold follows from the load: a calm one is followed
closely, a bursty one is not. So every way is run in the shadow on what arrives, on a fluid
model of the queue, with the start time of executors; Spark's own allocation runs beside
them as the mark to beat. What they cost fades with a day.

Tried beside it, on the same traces and made-up inputs: to give executors back once what
they wasted outweighs a patience, to the size that would have saved most since it was last
too small (45 ways instead of 210). Smooth loads took somewhat fewer executor-hours, but
loads of many short bursts missed the target more often than with Spark's allocation.
"""

from math import ceil

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HELD_S = (0.0, 300.0, 900.0, 2700.0, 7200.0, 21_600.0)
QUANTILES = (1.0, 0.8)
_RISK_ROOM = ((0.0, 0.03), (0.0, 0.12), (0.0, 0.3), (0.1, 0.2), (0.1, 0.4), (0.3, 0.45), (0.8, 1.2))
_LEAST_SAVING = (0.1, 0.2, 0.35)
_HELD = [0, 2] + [2 * i + j for i in range(2, len(HELD_S)) for j in range(len(QUANTILES))]

WAYS: Floats = np.array(
    [
        (risk, room, held, saving)
        for risk, room in _RISK_ROOM
        for held in _HELD
        for saving in _LEAST_SAVING
    ]
)
"""One row per way: risk, room, held (index of a load that is held for), least saving."""

# Columns of the state; one row per way, and one for Spark's allocation.
ASKED, PRESENT, READY_S, QUEUED, HOURS, OVER, ACTIONS, RESTED_S = range(8)
SPARK = len(WAYS)
SHAPE = (len(WAYS) + 1, 8)
_SPARK_INTERVAL_S, _SPARK_UP, _SPARK_DOWN = 60.0, 0.9, 0.3


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
    held: float,
    rested: bool,
    facts: Floats,
) -> float:
    """Executors that a way asks for; `asked` where it asks for no change."""
    fixed, stretch, trigger, hot, aim, target, start, cores, low, high, period = facts
    risk, room, saving = way[0], way[1], way[3]
    power = asked * cores / stretch
    ahead = load * (1.0 + risk)
    later = max(0.0, queued + (ahead - power * hot) * (period + start))
    busy = min(ahead / max(power, 1e-9), 1.0)
    length = max(trigger, fixed / max(1.0 - busy, 0.03))
    foreseen = length / 2.0 + fixed + busy * length + later / max(power, 1e-9)
    if foreseen > aim or asked < low:
        until = max(0.0, queued + (load - present * cores / stretch * hot) * start)
        most = max(load * (1.0 + room), ahead) / hot + until / max(target, trigger)
        size = min(max(ceil(most * stretch / cores - 1e-9), low), high)
        if size > asked:
            return float(size)
        return asked
    if queued > 0.0 or not rested or present < asked:
        return asked
    steady = max(load, held) * (1.0 + room) / hot
    size = min(max(ceil(steady * stretch / cores - 1e-9), low), high)
    if size <= asked * (1.0 - saving) and size < asked:
        return float(size)
    return asked


@njit(cache=True)
def step(
    state: Floats, ways: Floats, held: Floats, load: float, length_s: float, fade: float,
    facts: Floats,
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
            if row[RESTED_S] >= _SPARK_INTERVAL_S - 1e-6:
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
                ways[i], load, row[QUEUED], asked, row[PRESENT], held[int(ways[i, 2])], rested,
                facts,
            )  # fmt: skip
        if size != asked:
            row[ACTIONS] += 1.0
            if i != spark:
                row[RESTED_S] = 0.0
            if size > asked:
                row[READY_S] = start
            else:
                row[PRESENT] = min(row[PRESENT], size)
            row[ASKED] = size


@njit(cache=True)
def held_loads(minutes: Floats, now_load: float) -> Floats:
    """The loads to hold executors for, by time held and quantile.

    `minutes` are the loads of the last minutes, oldest first.

    >>> held_loads(np.array([5.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 2.0)[:5]
    array([2., 2., 5., 1., 5.])
    """
    found = np.empty(len(HELD_S) * len(QUANTILES))
    for i in range(len(HELD_S)):
        back = int(HELD_S[i] / 60.0)
        last = np.sort(minutes[max(0, len(minutes) - back - 1) :])
        for j in range(len(QUANTILES)):
            known = back > 0 and len(last) > 0
            place = max(0, ceil(QUANTILES[j] * len(last)) - 1)
            found[i * len(QUANTILES) + j] = last[place] if known else now_load
    return found
