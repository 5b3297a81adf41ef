"""What a stretch of workload would have cost under certain thresholds."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from msgspec import Struct
from numba import njit
from numpy.typing import NDArray


class ThresholdPair(Struct, frozen=True):
    """What is searched for: bounds of the load and how many periods they must be broken."""

    upper: float = 0.8
    lower: float = 0.3
    upper_breaches: int = 2
    lower_breaches: int = 6


class Prices(Struct, frozen=True):
    """What an executor and a late second cost, and when a second is late."""

    executor_s: float = 1.0
    late_s: float = 10.0
    change: float = 5.0
    target_s: float = 10.0


class SimulatedCluster(Struct, frozen=True):
    """The cluster to simulate: where it starts and how far it may go."""

    executors: int
    cores: int
    low: int
    high: int


def cost(
    load_cores: Sequence[float],
    period_s: float,
    thresholds: ThresholdPair,
    prices: Prices,
    size: SimulatedCluster,
) -> float:
    """Cost of the thresholds on a workload: executors, lateness and changes.

    A fluid queue: work arrives as recorded (in cores), the executors do what they
    can, the rest waits; a queue longer than the target is late by as much. A change
    takes effect in the next period, by one step to the middle of the two bounds.

    >>> calm = [1.0] * 20
    >>> size = SimulatedCluster(executors=8, cores=1, low=1, high=8)
    >>> cost(calm, 5.0, ThresholdPair(lower=0.3), Prices(), size) < cost(
    ...     calm, 5.0, ThresholdPair(lower=0.0), Prices(), size)
    True
    """
    t, p = thresholds, prices
    return float(
        _cost(
            np.array(load_cores, dtype=float), period_s, t.upper, t.lower, t.upper_breaches,
            t.lower_breaches, p.executor_s, p.late_s, p.change, p.target_s, size.executors,
            size.cores, size.low, size.high,
        )
    )  # fmt: skip


@njit(cache=True)
def _cost(
    load_cores: NDArray[np.float64], period_s: float, upper: float, lower: float,
    upper_breaches: int, lower_breaches: int, executor_price: float, late_price: float,
    change_price: float, target_s: float, executors: int, cores: int, low: int, high: int,
) -> float:  # fmt: skip
    waiting = total = 0.0
    above = below = 0
    for load in load_cores:
        able = max(1, executors * cores) * period_s
        waiting = max(0.0, waiting + load * period_s - able)
        latency_s = waiting / (able / period_s)
        total += executor_price * executors * period_s
        if latency_s > target_s:
            # Late by how much, capped so that one hopeless stretch does not hide the rest.
            total += late_price * period_s * min(10.0, latency_s / target_s)
        share = (load * period_s + waiting) / able
        above = above + 1 if share > upper else 0
        below = below + 1 if share < lower else 0
        if above >= upper_breaches or below >= lower_breaches:
            target = _size(load, upper, lower, cores, low, high)
            if target != executors:
                total += change_price
                executors = target
            above = below = 0
    return total


def wanted_executors(load_cores: float, thresholds: ThresholdPair, size: SimulatedCluster) -> int:
    """Executors that bring the load to the middle of the two bounds, within the limits.

    >>> wanted_executors(4.0, ThresholdPair(upper=0.8, lower=0.4), SimulatedCluster(executors=1, cores=1, low=1, high=9))
    7
    """
    t, s = thresholds, size
    return int(_size(load_cores, t.upper, t.lower, s.cores, s.low, s.high))


@njit(cache=True)
def _size(load: float, upper: float, lower: float, cores: int, low: int, high: int) -> int:
    needed = ceil(load / ((upper + lower) / 2.0) / cores - 1e-9)
    return int(min(max(needed, float(low)), float(high)))


def compile_cost() -> None:
    """Let the kernel run once: the first time it compiles for seconds.

    >>> compile_cost()
    """
    cost([1.0], 1.0, ThresholdPair(), Prices(), SimulatedCluster(1, 1, 1, 1))
