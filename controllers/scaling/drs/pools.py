"""Latency of operators that share cores as Spark's FAIR pools do: whoever is idle lends its cores.

DRS's processors belong to one operator each. A pool's cores do not: while its operator waits for
its trigger, the others use them. So what counts is not how much each needs but who goes first
where batches meet: a short batch that goes before a long one gains much and costs it little. Here
the operators' batches are played through, with work that flows:

    a batch begins with the trigger, or right after the one before it, and takes all that came
    its work = rows x cost, on the cores that its pool gets; then a fixed time on no core
    latency of its rows = half the time in which they came + the batch
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf

from msgspec import Struct

from weir.controllers.model.shares import first_cores

LEAST_BATCH_S = 0.05
PERIODS, FIRST = 10, 4
"""Of the longest: so many are played, and these first ones do not count."""
NEVER = inf


class PoolLoad(Struct, frozen=True, kw_only=True):
    """One operator: what arrives, what a row costs, and how its batches come."""

    name: str
    rows_per_s: float
    cost_s: float  # of a row, on one core
    trigger_s: float = 0.0
    fixed_s: float = 0.0  # of a batch, whatever its size

    @property
    def cores(self) -> float:
        """Cores that it needs on average."""
        return self.rows_per_s * self.cost_s


@dataclass
class _Batches:
    """An operator's batches as they are played."""

    load: PoolLoad
    weight: float
    first: float  # cores that come to it before others; 0: nobody has any of its own
    next: float = 0.0  # when it begins, or ends its fixed time
    taken: float = 0.0  # all that came until then is in this batch or in one before
    since: float = 0.0  # the same of the batch before
    left: float = 0.0  # work of the present batch, in core seconds
    working: bool = False
    waiting: bool = True  # for its trigger

    def begin(self, now: float) -> None:
        self.since, self.taken = self.taken, now
        self.left = self.load.cores * (self.taken - self.since)
        self.waiting, self.working = False, True

    def rest(self, now: float) -> None:
        """Its work is done; what is left takes no core."""
        self.working = False
        self.next = now + max(self.load.fixed_s, LEAST_BATCH_S)

    def end(self, now: float) -> tuple[float, float]:
        """The rows of the batch, and their latency all together."""
        rows = self.load.rows_per_s * (self.taken - self.since)
        latency = (self.taken - self.since) / 2.0 + (now - self.taken)
        trigger = self.load.trigger_s
        self.waiting = True
        self.next = now if now - self.taken >= trigger else (floor(now / trigger) + 1) * trigger
        return rows, rows * latency


def latency_s(loads: Sequence[PoolLoad], weights: Mapping[str, int], cores: int) -> float:
    """Mean latency of all rows with these weights; `NEVER` where the cores do not keep up.

    >>> short = PoolLoad(name="short", rows_per_s=100.0, cost_s=0.002, trigger_s=2.0)
    >>> long = PoolLoad(name="long", rows_per_s=20.0, cost_s=0.04, trigger_s=2.0)
    >>> by_need = latency_s((short, long), {"short": 1, "long": 3}, 4)
    >>> short_first = latency_s((short, long), {"short": 3, "long": 1}, 4)
    >>> round(by_need, 2), round(short_first, 2)
    (1.47, 1.24)
    """
    known = [load for load in loads if load.rows_per_s > 0.0]
    if sum(load.cores for load in known) >= cores:
        return NEVER
    least = first_cores({load.name: weights.get(load.name, 1) for load in loads}, cores)
    each = [
        _Batches(load, float(weights.get(load.name, 1)), float(least[load.name])) for load in known
    ]
    longest = max((max(load.trigger_s, load.fixed_s, LEAST_BATCH_S) for load in known), default=0.0)
    now, rows, total = 0.0, 0.0, 0.0
    while now < PERIODS * longest:
        for one in each:
            if one.working and one.left <= 1e-9:
                one.rest(now)
            if not one.working and one.next <= now:
                if not one.waiting:
                    count, waited = one.end(now)
                    if now > FIRST * longest:
                        rows, total = rows + count, total + waited
                if one.next <= now:
                    one.begin(now)
        busy = [one for one in each if one.working]
        given = _given(busy, cores)
        step = min(
            [one.left / given[i] for i, one in enumerate(busy)]
            + [one.next - now for one in each if not one.working]
        )
        for i, one in enumerate(busy):
            one.left -= given[i] * step
        now += step
    return total / rows if rows else 0.0


def _given(busy: Sequence[_Batches], cores: int) -> list[float]:
    """Cores of each that works. Whoever has none is next in Spark's scheduler, so each gets one if
    there are enough; those that come to it first; and what is left by weight."""
    each = min(1.0, cores / max(len(busy), 1))
    own = [max(one.first, each) for one in busy]
    spare, weights = cores - sum(own), sum(one.weight for one in busy)
    return [mine + spare * one.weight / weights for mine, one in zip(own, busy, strict=True)]
