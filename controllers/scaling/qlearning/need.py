"""What rates, costs and queues need: the rule behind the table, and the size of its steps."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from statistics import median

from msgspec import Struct

from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.qlearning.states import HOUR, Action
from weir.controllers.scaling.rates import lag_of

BUSY = 0.93  # share of the cores that the work that arrives may fill
CALM = 0.7  # below this share, cores are idle
LARGEST_CUT = 0.3  # of the executors, in one step
_USUALLY = 0.85  # share of the minutes in which loads grow less than is allowed for
_MOST_GROWTH = 1.5
_MOST_CORES = 1e15


class RecentLoads(Struct, frozen=True):
    """Highest loads of the last minutes, in cores, and whether it is time to save."""

    minutes: tuple[float, ...] = ()
    thrifty: bool = False


def needed_executors(
    facts: ClusterFacts, target_s: float, past: RecentLoads, busy: float = BUSY
) -> int:
    """Executors for what arrives and grows by in a minute, at `busy` of their cores, and for what
    waits beyond a batch, worked off within two thirds of the target; unless it is time to save,
    also for what half of the last hour's minutes brought. Those that are there while the load is
    unknown.
    """
    if facts.load_cores is None:
        return facts.executors
    waiting = sum(lag_of(o) * (o.cost_s_per_row or 0.0) for o in facts.operators)
    usual = median(past.minutes[-HOUR:]) if past.minutes and not past.thrifty else 0.0
    soon = facts.load_cores * growth(past.minutes)
    cores = max(soon / busy + waiting / (target_s * 2.0 / 3.0), usual / busy)
    return max(1, ceil(min(cores, _MOST_CORES) / facts.cores - 1e-9))


def growth(minutes: Sequence[float]) -> float:
    """By what factor loads grow from one minute to the next, or less, in most minutes.

    >>> growth([1.0, 1.2] * 30), growth([1.0] * 30 + [3.0] * 30), growth([])
    (1.2, 1.0, 1.0)
    """
    last = minutes[-HOUR:]
    grown = sorted(b / a for a, b in pairwise(last) if a > 0.0)
    return min(max(grown[int(_USUALLY * len(grown))], 1.0), _MOST_GROWTH) if grown else 1.0


def by_rule(facts: ClusterFacts, target_s: float, past: RecentLoads) -> Action:
    """What the need alone says, for states that the table knows nothing of."""
    if needed_executors(facts, target_s, past) > facts.executors:
        return Action.OUT
    calm = needed_executors(facts, target_s, past, CALM) < facts.executors
    return Action.IN if calm else Action.NONE


def towards_need(
    facts: ClusterFacts, action: Action, target_s: float, past: RecentLoads, granularity: int
) -> int:
    """Executors to add or remove: out to the need at once, in by parts and never below it."""
    missing = needed_executors(facts, target_s, past) - facts.executors
    if action is Action.OUT:
        return max(missing, granularity)
    if action is Action.IN:
        return -max(0, min(-missing, in_step(facts.executors, granularity)))
    return 0


def in_step(executors: int, granularity: int) -> int:
    """Executors that scaling in takes away where they are not needed.

    >>> in_step(4, 1), in_step(20, 1)
    (1, 6)
    """
    return max(granularity, int(LARGEST_CUT * executors))
