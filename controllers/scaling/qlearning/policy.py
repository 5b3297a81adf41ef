"""How an action is chosen: greedy or with some chance, always behind the monotonicity rule."""

from random import Random

from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.qlearning.states import Action
from weir.controllers.scaling.qlearning.table import Row

PREFERENCE = (Action.NONE, Action.OUT, Action.IN)
"""Among equals: do nothing rather than something, and add rather than take away."""
WORDS = {Action.IN: "scaling in", Action.NONE: "no action", Action.OUT: "scaling out"}


def feasible(last: Action, bin: int, bin_before: int) -> list[Action]:
    """What the monotonicity rule leaves; it compares states, as latencies within a bin are noise.

    Latency rose though executors were added: no scaling in. Latency fell though some
    were removed: no scaling out.

    >>> feasible(Action.OUT, 4, 3)
    [<Action.NONE: 1>, <Action.OUT: 2>]
    """
    actions = list(PREFERENCE)
    if last is Action.OUT and bin > bin_before:
        actions.remove(Action.IN)
    if last is Action.IN and bin < bin_before:
        actions.remove(Action.OUT)
    return actions


def greedy(row: Row, actions: list[Action]) -> Action:
    """The best of the actions by the table; ties go to the first in preference.

    >>> greedy((0.0, 0.0, 0.0), list(PREFERENCE))
    <Action.NONE: 1>
    """
    return max(actions, key=lambda a: row[a])


def choose(
    settings: QSettings, row: Row, actions: list[Action], epsilon: float, draw: int
) -> tuple[Action, bool]:
    """An action, and whether chance chose it.

    Chance depends on the seed and the number of the draw alone: the same history
    gives the same actions, before and after a restart.
    """
    chance = Random(f"policy {settings.seed} {draw}")
    if settings.policy is not ExplorationPolicy.GREEDY and chance.random() < epsilon:
        return chance.choice(actions), True
    return greedy(row, actions), False


def why(row: Row, action: Action, by_chance: bool) -> str:
    """Why an action was taken by the values of a row, to be said after its name.

    >>> why((0.1, 0.2, 0.3), Action.OUT, by_chance=False)
    'is worth most'
    >>> why((0.1, 0.2, 0.3), Action.NONE, by_chance=False)
    'is worth most of what is left: scaling out is ruled out by what the last change did'
    """
    if by_chance:
        return "was tried by chance"
    best = greedy(row, list(PREFERENCE))
    if action is best:
        return "is worth most"
    return f"is worth most of what is left: {WORDS[best]} is ruled out by what the last change did"


def next_epsilon(settings: QSettings, epsilon: float) -> float:
    """Epsilon after a decision; only the decreasing policy changes it, down to 0."""
    if settings.policy is ExplorationPolicy.DECREASING_EPSILON:
        return max(0.0, epsilon - settings.epsilon_step)
    return epsilon
