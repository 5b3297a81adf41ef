"""How many executors one action moves."""

from weir.controllers.scaling.qlearning.settings import Strategy
from weir.controllers.scaling.qlearning.states import Action


def steps(
    strategy: Strategy, action: Action, in_a_row: int, waiting_batches: int, granularity: int
) -> int:
    """Executors to add (positive) or remove (negative).

    `in_a_row` counts equal decisions in a row, this one included.

    >>> [steps(Strategy.LINEAR, Action.OUT, i, 0, 1) for i in range(1, 6)]
    [1, 2, 4, 6, 8]
    >>> steps(Strategy.QUEUE_AWARE, Action.OUT, 1, 5, 1)
    5
    >>> steps(Strategy.QUEUE_AWARE, Action.IN, 1, 5, 1)
    -1
    """
    if action is Action.NONE:
        return 0
    sign = 1 if action is Action.OUT else -1
    if strategy is Strategy.LINEAR:
        return sign * granularity * (1 if in_a_row <= 1 else 2 * (in_a_row - 1))
    if strategy is Strategy.QUEUE_AWARE and action is Action.OUT:
        return max(granularity, waiting_batches)
    return sign * granularity
