"""Inputs for a last look: thirteen kinds of load, drawn again from every seed.

`horizon` was tuned on other draws of such kinds; the draws that the benchmark takes played
no part in it.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.scaler_inputs import HOURS, sized
from weir.controllers.simulator import Trace, WorldModel

Floats = NDArray[np.float64]


def unseen(seed: int, hours: float = HOURS) -> dict[str, WorldModel]:
    """One input of every kind, with one rate a minute."""
    chance = np.random.default_rng(seed)
    count = int(hours * 60)
    times = tuple((60.0 * np.arange(count)).tolist())
    worlds = {}
    for name, rates in _shapes(chance, count).items():
        at_least = np.maximum(rates, 0.01)
        world = sized(Trace(times=times, rows_per_s=tuple(at_least.tolist())))
        worlds[f"{name}, seed {seed}"] = _drifting(world, chance) if name == "drift" else world
    return worlds


def _shapes(chance: Generator, count: int) -> dict[str, Floats]:
    minutes = np.arange(count)
    day = np.sin(2.0 * np.pi * (minutes / 1440.0 - chance.uniform()))
    base = 100.0 * (1.0 + 0.2 * day)
    bursts = 60.0 * (1.0 + 0.3 * day)
    for _ in range(int(chance.integers(10, 30))):
        first, length = int(chance.integers(0, count)), int(chance.exponential(12.0)) + 2
        bursts[first : first + length] += chance.pareto(2.0) * 60.0 + 30.0
    turn = int(chance.integers(120, 720))
    every, length = int(chance.integers(60, 400)), int(chance.integers(3, 20))
    means = chance.uniform(4.0, 30.0) * (1.0 + 0.5 * day[::5])
    swing = chance.uniform(0.3, 0.7)
    workday = np.where((minutes / 1440.0) % 2.0 < 1.0, 1.0, 0.45)
    return {
        "daily": 100.0 * (1.0 + swing * day) * _noise(chance, count, 0.1),
        "bursts": bursts * _noise(chance, count, 0.08),
        "steps": _levels(chance, count, 240.0) * _noise(chance, count, 0.05),
        "ramps": (30.0 + 170.0 * np.abs((minutes / turn) % 2.0 - 1.0))
        * _noise(chance, count, 0.07),
        "sawtooth": (30.0 + 170.0 * ((minutes / turn) % 1.0)) * _noise(chance, count, 0.07),
        "heavy tail": np.repeat(30.0 + 30.0 * chance.pareto(1.8, count // 5 + 1), 5)[:count],
        "counts": np.repeat(chance.poisson(means).astype(float), 5)[:count] + 0.3,
        "correlated": 100.0 * np.exp(_wander(chance, count, 0.97, 0.5, 5)),
        "wandering": base
        * np.exp(_wander(chance, count, 0.995, 0.3) + _wander(chance, count, 0.5, 0.12)),
        "on and off": _on_off(chance, count) * _noise(chance, count, 0.07),
        "weekly": 100.0 * (1.0 + 0.6 * day) * workday * np.exp(_wander(chance, count, 0.9, 0.08)),
        "drift": base * _noise(chance, count, 0.05),
        "spikes": np.where(minutes % every < length, chance.uniform(150.0, 400.0), 60.0)
        * _noise(chance, count, 0.05),
    }


def _noise(chance: Generator, count: int, spread: float) -> Floats:
    return np.exp(chance.normal(0.0, spread, count))


def _wander(chance: Generator, count: int, keep: float, spread: float, every: int = 1) -> Floats:
    """A series that returns to 0, each value `keep` times the one before and a little else."""
    pushes = chance.normal(0.0, spread * (1.0 - keep * keep) ** 0.5, count // every + 1)
    values = np.zeros(len(pushes))
    for i in range(1, len(pushes)):
        values[i] = keep * values[i - 1] + pushes[i]
    return np.repeat(values, every)[:count]


def _levels(chance: Generator, count: int, mean_minutes: float) -> Floats:
    rates, first = np.zeros(count), 0
    while first < count:
        length = int(chance.exponential(mean_minutes)) + 20
        rates[first : first + length] = chance.uniform(20.0, 200.0)
        first += length
    return rates


def _on_off(chance: Generator, count: int) -> Floats:
    rates, first, on = np.zeros(count), 0, True
    while first < count:
        length = int(chance.exponential(40.0 if on else 80.0)) + 5
        rates[first : first + length] = 150.0 if on else 30.0
        first, on = first + length, not on
    return rates


def _drifting(world: WorldModel, chance: Generator) -> WorldModel:
    """The cost of a row changes slowly, all the time."""
    operator = world.operators[0]
    first, last = chance.uniform(0.4, 0.8), chance.uniform(0.8, 1.3)
    costs = np.linspace(first, last, world.periods) * np.array(operator.cost_s_per_row)
    return replace(world, operators=(replace(operator, cost_s_per_row=tuple(costs.tolist())),))
