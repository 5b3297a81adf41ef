"""What the agent keeps: table, samples, window, last step, and a trail for people to see."""

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.scaling.base import Memory
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.qlearning.table import QTable, Row
from weir.controllers.scaling.qlearning.updates import TransitionSamples, back_up, value_iteration

TRAIL = 50  # transitions kept to be shown
CURVE = 500  # rewards kept to be shown


class Sighting(Struct, frozen=True):
    """The figures of one period."""

    at: float
    latency_s: float
    rows_per_s: float


class LearningStep(Struct, frozen=True):
    """A decision that was taken and not yet judged."""

    at: float
    state: int
    action: int
    latency_s: float
    rows_per_s: float
    executors: int
    row: Row | None = None  # values that the action was chosen by; None: there was no choice yet
    by_chance: bool = False
    more: int | None = None  # executors that it asked for beside those; None: not known


class Transition(Struct, frozen=True):
    """A decision that was judged: from where, what, what it was worth, to where."""

    at: float
    state: int
    action: int
    reward: float
    following: int


class QMemory(Memory, frozen=True, kw_only=True):
    """All that the agent knows."""

    table: QTable
    epsilon: float
    epsilon_set: float | None = None  # the setting that epsilon began with
    draws: int = 0
    window: tuple[Sighting, ...] = ()
    last: LearningStep | None = None
    in_a_row: int = 0
    samples: TransitionSamples = TransitionSamples()
    sampling_since: float | None = None  # time of the first of the samples
    solved: bool = False  # value iteration has been done
    trail: tuple[Transition, ...] = ()
    rewards: tuple[float, ...] = ()


def fresh_memory(settings: QSettings) -> QMemory:
    """A memory that has learned nothing yet; also what a reset gives.

    >>> fresh_memory(QSettings()).epsilon
    0.1
    """
    return QMemory(
        table=initial_table(settings), epsilon=settings.epsilon, epsilon_set=settings.epsilon
    )


def epsilon_of(memory: QMemory, settings: QSettings) -> float:
    """The share of chance now: as set, or what is left of it where it decreases.

    >>> memory = replace(fresh_memory(QSettings()), epsilon=0.03)
    >>> epsilon_of(memory, QSettings()), epsilon_of(memory, QSettings(epsilon=0.5))
    (0.1, 0.5)
    >>> epsilon_of(memory, QSettings(policy=ExplorationPolicy.DECREASING_EPSILON))
    0.03
    """
    begun = (
        settings.policy is ExplorationPolicy.DECREASING_EPSILON
        and memory.epsilon_set == settings.epsilon
    )
    return memory.epsilon if begun else settings.epsilon


def with_table(memory: QMemory, table: QTable) -> QMemory:
    """The memory with another table; trail, curve, samples and open step of the old one end."""
    return replace(
        memory,
        table=table,
        last=None,
        in_a_row=0,
        samples=TransitionSamples(),
        sampling_since=None,
        solved=False,
        trail=(),
        rewards=(),
    )


def solve_by_samples(memory: QMemory, settings: QSettings) -> QMemory:
    """With the table set by value iteration wherever samples say something."""
    model = memory.samples.model()
    # What the samples lead to but never left keeps the worth that the table gives it.
    never_left = {i: max(row) for i, row in enumerate(memory.table.values) if i not in model}
    known = never_left | value_iteration(
        model,
        settings.discount_factor,
        settings.theta,
        settings.value_iteration_count,
        terminal=never_left,
    )
    values = [list(row) for row in memory.table.values]
    for state, actions in model.items():
        for action, outcomes in actions.items():
            values[state][action] = back_up(outcomes, known, settings.discount_factor)
    rows = tuple((r[0], r[1], r[2]) for r in values)
    return replace(memory, table=replace(memory.table, values=rows), solved=True)
