"""What rates, costs and queues need: the rule behind the table, and the size of its steps."""

from math import ceil

from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.qlearning.states import Action
from weir.controllers.scaling.rates import lag_of

BUSY = 0.75  # share of the cores that the work that arrives may fill
CALM = 0.6  # below this share, cores are idle
LARGEST_CUT = 0.25  # of the executors, in one step


def needed_executors(facts: ClusterFacts, target_s: float, busy: float = BUSY) -> int:
    """Executors for what arrives at `busy` of their cores, and for what waits beyond a batch,
    worked off within two thirds of the target; those that are there while the load is unknown.
    """
    if facts.load_cores is None:
        return facts.executors
    waiting = sum(lag_of(o) * (o.cost_s_per_row or 0.0) for o in facts.operators)
    cores = facts.load_cores / busy + waiting / (target_s * 2.0 / 3.0)
    return max(1, ceil(cores / facts.cores - 1e-9))


def by_rule(facts: ClusterFacts, target_s: float) -> Action:
    """What the need alone says, for states that the table knows nothing of."""
    if needed_executors(facts, target_s) > facts.executors:
        return Action.OUT
    calm = needed_executors(facts, target_s, CALM) < facts.executors
    return Action.IN if calm else Action.NONE


def is_overloaded(facts: ClusterFacts, target_s: float) -> bool:
    """More arrives and waits than the executors can work off in time."""
    return needed_executors(facts, target_s, busy=1.0) > facts.executors


def towards_need(facts: ClusterFacts, action: Action, target_s: float, granularity: int) -> int:
    """Executors to add or remove: out to the need at once, in by parts and never below it."""
    missing = needed_executors(facts, target_s) - facts.executors
    if action is Action.OUT:
        return max(missing, granularity)
    if action is Action.IN:
        return min(0, max(missing, -max(granularity, int(LARGEST_CUT * facts.executors))))
    return 0
