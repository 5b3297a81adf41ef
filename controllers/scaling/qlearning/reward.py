"""What an action was worth, seen from the state that it led to."""

from weir.controllers.scaling.qlearning.settings import RewardRule
from weir.controllers.scaling.qlearning.states import Action

IDLE_PRICE = 0.04
"""Of as many idle cores as are busy on average, where an interval over target costs 1."""
OVERSPENT = 8.0  # times as much for one who must save
CHANGE_PRICE = 0.01
_MOST = 0.5  # what idles costs less than a miss, however much it is


def reward(
    rule: RewardRule,
    action: Action,
    latency_s: float,
    before_s: float,
    target_s: float,
    rising: bool,
    idle: float | None = None,
) -> float:
    """A number in [-1, 1] by the four rules of the thesis, the later ones first, or by cost.

    4. Below the target with the workload falling (region 4), scaling in is worth more
       the lower the latency, and doing nothing costs as much; only `PREFER_SCALE_IN`.
    3. Above the target with the workload falling (region 3) and the latency not
       rising, doing nothing is right: let it settle. Where the latency goes on rising
       nothing settles, and rule 1 holds.
    2. Latency and workload both rising: scaling out is right whatever the latency did.
    1. Otherwise an action is worth something only if the latency improved.

    Cost: a decision interval over target costs 1; cores that idle a fraction of it, by `idle`,
    their number over the mean load; a change a little.

    >>> reward(RewardRule.COST, Action.NONE, 20.0, 10.0, 30.0, rising=True, idle=0.5)
    -0.02
    >>> reward(RewardRule.GENERAL, Action.OUT, 20.0, 10.0, 30.0, rising=True) > 0
    True
    >>> reward(RewardRule.PREFER_SCALE_IN, Action.NONE, 3.0, 5.0, 30.0, rising=False)
    -0.9
    """
    if rule is RewardRule.COST:
        if latency_s > target_s:
            return -1.0
        idling = 0.0 if idle is None else min(_MOST, IDLE_PRICE * max(0.0, idle))
        return -idling - (0.0 if action is Action.NONE else CHANGE_PRICE)
    n = latency_s / target_s
    below, improved, worse = n <= 1.0, latency_s < before_s, latency_s > before_s
    if rule is RewardRule.PREFER_SCALE_IN and below and not rising and not worse:
        return {Action.IN: 1.0 - n, Action.NONE: -(1.0 - n), Action.OUT: -1.0}[action]
    if not below and not rising and not worse:
        return {Action.IN: -1.0, Action.NONE: 1.0, Action.OUT: 0.0}[action]
    if rising and worse:
        return {Action.IN: -1.0, Action.NONE: -min(1.0, n), Action.OUT: min(1.0, n)}[action]
    if improved:
        return min(1.0, (before_s - latency_s) / target_s)
    if below and action is Action.NONE:
        return 0.0  # within the target, and nothing was asked for: neither good nor bad
    return -min(1.0, max(n, (latency_s - before_s) / target_s))
