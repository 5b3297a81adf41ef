"""What a stretch of workload would have cost under certain thresholds."""

from collections.abc import Sequence
from math import ceil

from msgspec import Struct


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
    t = thresholds
    executors, waiting, total = size.executors, 0.0, 0.0
    above = below = 0
    for load in load_cores:
        able = max(1, executors * size.cores) * period_s
        waiting = max(0.0, waiting + load * period_s - able)
        latency_s = waiting / (able / period_s)
        total += prices.executor_s * executors * period_s
        if latency_s > prices.target_s:
            # Late by how much, capped so that one hopeless stretch does not hide the rest.
            total += prices.late_s * period_s * min(10.0, latency_s / prices.target_s)
        share = (load * period_s + waiting) / able
        above = above + 1 if share > t.upper else 0
        below = below + 1 if share < t.lower else 0
        if above >= t.upper_breaches or below >= t.lower_breaches:
            target = wanted_executors(load, t, size)
            if target != executors:
                total += prices.change
                executors = target
            above = below = 0
    return total


def wanted_executors(load_cores: float, thresholds: ThresholdPair, size: SimulatedCluster) -> int:
    """Executors that bring the load to the middle of the two bounds, within the limits.

    >>> wanted_executors(4.0, ThresholdPair(upper=0.8, lower=0.4), SimulatedCluster(executors=1, cores=1, low=1, high=9))
    7
    """
    middle = (thresholds.upper + thresholds.lower) / 2.0
    return min(max(ceil(load_cores / middle / size.cores - 1e-9), size.low), size.high)
