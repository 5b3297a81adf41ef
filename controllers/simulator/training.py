"""The Q-table to start from: trained on simulated input of many kinds.

Rounds of decreasing epsilon collect what each action leads to in each state, and value
iteration makes the next round's table of it; the last one is for the greedy policy. States
are latency over target, so targets and triggers of any length share one table.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.trace import Trace
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.memory import QMemory, solve_by_samples
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.qlearning.states import StateSpace
from weir.controllers.scaling.qlearning.table import QTable, Visits
from weir.controllers.scaling.qlearning.updates import TransitionSamples
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.recording import Floats
from weir.controllers.simulator.run import simulate
from weir.controllers.simulator.scenario import Scenario, world_of

EPSILONS = (0.5, 0.3, 0.2, 0.1, 0.05)
FEWEST_VISITS = 20
"""An action that was tried more rarely in a state is worth less there than any other."""
_HOURS = 24.0
_NEVER_S = 1e15


class Lesson(Struct, frozen=True):
    """One input, and the latency to stay below."""

    world: WorldModel
    target_s: float


def lessons(seed: int = 1, of_each_kind: int = 5) -> list[Lesson]:
    """Inputs of every kind: waves, steps, ramps, spikes, wandering and bursty ones, rare floods,
    loads that come and go, counts with heavy tails.

    >>> len(lessons(of_each_kind=1))
    9
    """
    chance = np.random.default_rng(seed)
    return [_lesson(shape(chance), chance) for _ in range(of_each_kind) for shape in _SHAPES]


def train(
    given: Sequence[Lesson], seed: int = 1, on_round: Callable[[int], None] = lambda _: None
) -> QTable:
    """A table for a target of 1 s, by which every other target is served."""
    settings = QSettings(
        policy=ExplorationPolicy.EPSILON,
        discount_factor=0.97,
        learning_factor=0.0,  # value iteration learns, between the rounds
        value_iteration_time_s=_NEVER_S,
        seed=seed,
    )
    space = StateSpace.of(settings)
    table = QTable.of([(0.0, 0.0, 0.0)] * len(space), space.width_s)
    samples = TransitionSamples()
    for number, epsilon in enumerate(EPSILONS):
        for at, lesson in enumerate(given):
            own = replace(
                settings,
                target_latency_s=lesson.target_s,
                epsilon=epsilon,
                seed=seed + number * len(given) + at,
            )
            begun = QMemory(
                table=replace(table, width_s=own.bin_s), epsilon=epsilon, epsilon_set=epsilon
            )
            scaler = QLearning(own, Scope(cluster=lesson.world.focus))
            samples = samples.with_all(simulate(lesson.world, scaler, memory=begun).memory.samples)
        solved = solve_by_samples(QMemory(table=table, epsilon=epsilon, samples=samples), settings)
        table = _cautious(replace(solved.table, visits=tuple(_visits(samples, len(space)))))
        on_round(number)
    return _round(replace(table, width_s=space.width_s / settings.target_latency_s))


def _visits(samples: TransitionSamples, states: int) -> Iterator[Visits]:
    for state in range(states):
        counts = [sum(samples.transitions.get(f"{state},{a}", {}).values()) for a in range(3)]
        yield counts[0], counts[1], counts[2]


def _cautious(table: QTable) -> QTable:
    """Actions that were hardly tried worth least; states without any other count as unseen."""
    values, visits = [], []
    for row, seen in zip(table.values, table.visits, strict=True):
        known = [v for v, n in zip(row, seen, strict=True) if n >= FEWEST_VISITS]
        floor = min(known, default=0.0) - 1.0 if known else 0.0
        a, b, c = (v if n >= FEWEST_VISITS else floor for v, n in zip(row, seen, strict=True))
        values.append((a, b, c))
        visits.append(seen if len(known) > 1 else (0, 0, 0))
    return replace(table, values=tuple(values), visits=tuple(visits))


def _round(table: QTable) -> QTable:
    values = tuple((round(a, 4), round(b, 4), round(c, 4)) for a, b, c in table.values)
    return replace(table, values=values)


def _lesson(rates: Floats, chance: np.random.Generator) -> Lesson:
    """The input on a cluster of some size, with some trigger and target."""
    minutes = np.arange(len(rates))
    rates = rates * np.exp(chance.normal(0.0, chance.uniform(0.02, 0.1), len(rates)))
    trigger_s = float(chance.choice([2.0, 5.0, 10.0, 10.0]))
    scenario = Scenario(
        max_executors=int(chance.integers(8, 33)),
        cores_per_executor=int(chance.choice([1, 1, 2, 4])),
        executor_start_s=float(chance.uniform(5.0, 20.0)),
        trigger_s=trigger_s,
        overhead_s=trigger_s * float(chance.uniform(0.02, 0.1)),
        period_s=float(chance.choice([10.0, 30.0, 60.0])),
    )
    most = scenario.max_executors * scenario.cores_per_executor
    cost = chance.uniform(0.5, 0.8) * most / float(np.percentile(rates, 99))
    trace = Trace(times=tuple((60.0 * minutes).tolist()), rows_per_s=tuple(rates.tolist()))
    world = world_of(trace, replace(scenario, cost_s_per_row=float(cost)))
    return Lesson(world, trigger_s * float(chance.choice([3.0, 3.0, 4.0, 6.0])))


def _minutes() -> Floats:
    return np.arange(int(_HOURS * 60), dtype=float)


def _wave(chance: np.random.Generator) -> Floats:
    period = chance.uniform(120.0, 1440.0)
    phase, depth = chance.uniform(0.0, 6.3), chance.uniform(0.2, 0.8)
    return np.asarray(100.0 * (1.0 + depth * np.sin(2.0 * np.pi * _minutes() / period + phase)))


def _steps(chance: np.random.Generator) -> Floats:
    every = int(chance.integers(20, 180))
    levels = chance.uniform(30.0, 200.0, int(_HOURS * 60) // every + 1)
    return np.repeat(levels, every)[: int(_HOURS * 60)]


def _ramp(chance: np.random.Generator) -> Floats:
    every = chance.uniform(60.0, 360.0)
    return np.asarray(40.0 + 160.0 * np.abs((_minutes() / every) % 2.0 - 1.0))


def _spikes(chance: np.random.Generator) -> Floats:
    every, long = chance.uniform(60.0, 300.0), chance.uniform(2.0, 15.0)
    height = chance.uniform(1.5, 5.0)
    return np.where(_minutes() % every < long, 60.0 * height, 60.0)


def _wandering(chance: np.random.Generator) -> Floats:
    steps = chance.normal(0.0, chance.uniform(0.01, 0.05), int(_HOURS * 60))
    level = np.cumsum(steps) - 0.01 * np.arange(len(steps)) * steps.mean()
    return np.asarray(100.0 * np.exp(np.clip(level, -1.5, 1.5)))


def _bursts(chance: np.random.Generator) -> Floats:
    """Counts of five minutes each that vary much from one to the next."""
    count = int(_HOURS * 12)
    spread = chance.uniform(0.1, 0.5)
    day = 1.0 + 0.5 * np.sin(2.0 * np.pi * np.arange(count) / count + chance.uniform(0.0, 6.3))
    return np.repeat(100.0 * day * np.exp(chance.normal(0.0, spread, count)), 5)


def _floods(chance: np.random.Generator) -> Floats:
    """Now and then much more for a while, on a calm day."""
    rates = 60.0 * (1.0 + 0.3 * np.sin(2.0 * np.pi * (_minutes() / 1440.0 + chance.uniform())))
    for _ in range(int(chance.integers(4, 16))):
        first, length = int(chance.integers(0, len(rates))), int(chance.exponential(15.0)) + 2
        rates[first : first + length] += 40.0 * (1.0 + chance.pareto(2.0))
    return rates


def _come_and_go(chance: np.random.Generator) -> Floats:
    low, mean = chance.uniform(0.1, 0.5), chance.uniform(20.0, 120.0)
    lengths = chance.exponential(mean, int(_HOURS * 60)) + 3.0
    turns = np.searchsorted(np.cumsum(lengths), _minutes())
    return np.where(turns % 2 == 0, 150.0, 150.0 * low)


def _tails(chance: np.random.Generator) -> Floats:
    """Counts of five minutes each, now and then many times the usual one."""
    count = int(_HOURS * 12)
    day = 1.0 + chance.uniform(0.0, 0.6) * np.sin(
        2.0 * np.pi * (np.arange(count) / 288.0 + chance.uniform())
    )
    return np.repeat(day * (1.0 + chance.pareto(chance.uniform(1.8, 4.0), count)), 5)


_SHAPES = (
    _wave, _steps, _ramp, _spikes, _wandering, _bursts, _floods, _come_and_go, _tails
)  # fmt: skip
