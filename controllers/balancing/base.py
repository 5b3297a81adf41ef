"""What a planner is, and how all of them are found.

A planner is a class in a module of this package with a `name`; nothing has to be
registered. `plan` is the same for all: look at the problem, answer the cases in
which there is nothing to plan, let the algorithm place the items, and hold the
result against the budget.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

import controllers.balancing as package
from controllers.balancing.arrays import Arrays, Ints
from controllers.balancing.plan import Plan, plan_of
from controllers.balancing.problem import Problem
from controllers.model.decision import Reason
from controllers.model.errors import NotFound

Remaining = Callable[[], float]
"""Seconds that are left to plan in; a planner has no clock of its own."""


class NoSettings(Struct, frozen=True):
    """A planner without any setting."""


class Placed(Struct, frozen=True):
    """What an algorithm answers: the bin of every item, why, and a bound if it has one."""

    place: Any  # Ints: item position -> bin position
    reason: Reason
    bound: float | None = None


class Planner(ABC):
    """Base of all planners: `plan(problem) -> Plan`, deterministic under a seed.

    Without `remaining_s` a planner does a fixed amount of work. With it, one that
    can use more time goes on until it is spent, and never ends up worse for it.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""  # as shown to people
    Settings: ClassVar[type[Struct]] = NoSettings

    def __init__(self, settings: Struct | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()

    def plan(
        self, problem: Problem, *, seed: int = 0, remaining_s: Remaining | None = None
    ) -> Plan:
        """A placement of all items within the budget, with figures before and after."""
        arrays = Arrays.of(problem)
        nothing = _nothing_to_plan(arrays)
        if nothing is not None:
            return plan_of(self.name, problem, arrays, arrays.home, nothing)
        placed = self.place(problem, arrays, np.random.default_rng(seed), remaining_s)
        _hold(self.name, arrays, placed.place)
        return plan_of(self.name, problem, arrays, placed.place, placed.reason, placed.bound)

    @abstractmethod
    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """The algorithm: the bin of every item, never beyond the budget."""


@cache
def planners() -> dict[str, type[Planner]]:
    """Every planner by name, in alphabetical order."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    found: dict[str, type[Planner]] = {}
    open_ = list(Planner.__subclasses__())
    while open_:
        kind = open_.pop()
        open_ += kind.__subclasses__()
        if kind.name and kind.__module__.startswith(package.__name__):
            found[kind.name] = kind
    return dict(sorted(found.items()))


def planner(name: str, settings: Struct | None = None) -> Planner:
    """The planner of that name.

    >>> planner("no_op").name
    'no_op'
    """
    known = planners()
    if name not in known:
        raise NotFound(f"there is no planner '{name}'; known: {', '.join(known)}")
    return known[name](settings)


def outcome(arrays: Arrays, place: Ints, without: str) -> Reason:
    """The reason in numbers; `without` says why if nothing moves."""
    before, after = arrays.distance(arrays.home), arrays.distance(place)
    moves, cost = arrays.spent(place)
    numbers = {"before": before, "after": after, "moves": float(moves), "cost": cost}
    if not moves:
        return Reason(text=without, numbers=numbers)
    text = (
        f"{moves} move{'' if moves == 1 else 's'} bring{'s' if moves == 1 else ''} the load "
        f"distance from {before:.2f} to {after:.2f} points"
    )
    return Reason(text=text, rule="load_distance", numbers=numbers)


def _nothing_to_plan(arrays: Arrays) -> Reason | None:
    if not len(arrays.load):
        return Reason(text="There are no items to place.")
    if not arrays.keep.any():
        return Reason(text="Every bin is to be emptied, so there is nowhere to move to.")
    if not arrays.movable.any():
        return Reason(text="Every item is pinned to its bin.")
    if arrays.max_moves == 0:
        return Reason(text="The budget allows no move.", rule="moves <= 0")
    if not (arrays.load > 0).any() and bool(arrays.keep[arrays.home].all()):
        return Reason(text="No item has any load, so there is nothing to balance.")
    if int(arrays.keep.sum()) == 1 and bool(arrays.keep[arrays.home].all()):
        return Reason(text="There is only one bin to be on.")
    return None


def _hold(name: str, arrays: Arrays, place: Ints) -> None:
    """An algorithm that breaks the rules is a bug: better no plan than that one."""
    moved = place != arrays.home
    moves, cost = arrays.spent(place)
    if moves > arrays.max_moves or cost > arrays.max_cost:
        raise AssertionError(f"{name} went over the budget: {moves} moves, cost {cost}")
    if (moved & ~arrays.movable).any() or (moved & ~arrays.keep[place]).any():
        raise AssertionError(f"{name} moved a pinned item or moved onto a bin to be emptied")
