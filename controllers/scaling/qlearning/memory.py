"""What the agent keeps: table, samples, window, last step, and a trail for people to see."""

from math import exp

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.scaling.base import Memory
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.need import RecentLoads
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.qlearning.states import HOUR
from weir.controllers.scaling.qlearning.table import QTable, Row
from weir.controllers.scaling.qlearning.updates import TransitionSamples, back_up, value_iteration

TRAIL = 50  # transitions kept to be shown
CURVE = 500  # rewards kept to be shown
FADE_H = 24.0
BUDGET = 1.4  # times the core hours needed: one who has spent more must save
_FREE_H = 0.5  # hours of the mean need beyond that: a beginning says little


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
    minutes: tuple[float, ...] = ()  # highest load of each of the last minutes, in cores
    minute: int | None = None  # the one that is filling
    filling: float = 0.0
    seen_h: float = 0.0  # hours that the next two stand for, fading
    needed_h: float = 0.0  # core hours that nobody could do without
    spent_h: float = 0.0  # core hours that were there
    trail: tuple[Transition, ...] = ()
    rewards: tuple[float, ...] = ()

    @property
    def mean_need(self) -> float:
        """Cores that nobody could do without, on average; 1 where nothing is known."""
        if not (self.seen_h > 0.0 and self.needed_h > 0.0):
            return 1.0
        return min(max(self.needed_h / self.seen_h, 1e-9), 1e15)

    @property
    def is_thrifty(self) -> bool:
        """It is time to save: more was spent in the last day than the budget allows."""
        return self.spent_h > BUDGET * (self.needed_h + _FREE_H * self.mean_need)

    @property
    def past(self) -> RecentLoads:
        """What the need looks back on."""
        return RecentLoads(self.minutes, self.is_thrifty)


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


def with_load(
    memory: QMemory, load_cores: float, needed: float, present: float, now: float, passed_s: float
) -> QMemory:
    """The memory with the load of this moment, and with the cores needed and there for it.

    >>> memory = fresh_memory(QSettings())
    >>> for at, load in ((0.0, 1.0), (30.0, 2.0), (60.0, 1.5), (130.0, 4.0)):
    ...     memory = with_load(memory, load, load, 4.0, at, 30.0)
    >>> memory.minutes, memory.filling
    ((2.0, 1.5), 4.0)
    """
    minute = int(now // 60.0)
    hours = min(max(passed_s, 0.0), 3600.0) / 3600.0
    kept = exp(-hours / FADE_H)
    memory = replace(
        memory,
        seen_h=kept * memory.seen_h + hours,
        needed_h=kept * memory.needed_h + needed * hours,
        spent_h=kept * memory.spent_h + present * hours,
    )
    if memory.minute == minute:
        return replace(memory, filling=max(memory.filling, load_cores))
    done = () if memory.minute is None else (float(f"{memory.filling:.4g}"),)
    return replace(
        memory,
        minutes=(*memory.minutes, *done)[-6 * HOUR :],
        minute=minute,
        filling=load_cores,
    )
