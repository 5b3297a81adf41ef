"""What a planner is, and how all of them are found.

A planner is a class in a module of this package with a `name`; nothing has to be
registered. `plan` is the same for all: look at the problem, answer the cases in
which there is nothing to plan, let the algorithm place the items, and hold the
result against the budget.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, fields

import weir.controllers.balancing as package
from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.plan import Plan, plan_of
from weir.controllers.balancing.problem import Problem
from weir.controllers.model.decision import Reason
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.settings import build
from weir.controllers.model.words import brings, number_of, quantity

Remaining = Callable[[], float]
"""Seconds that are left to plan in; a planner has no clock of its own."""


class Deadline:
    """Seconds that are left for a planner that is to stop by then, not to fill the time."""

    def __init__(self, remaining_s: Remaining) -> None:
        self._remaining_s = remaining_s

    def __call__(self) -> float:
        return self._remaining_s()


def in_time(remaining_s: Remaining | None) -> bool:
    """Whether there is time to go on.

    >>> in_time(None), in_time(lambda: 0.5), in_time(lambda: 0.0)
    (True, True, False)
    """
    return remaining_s is None or remaining_s() > 0.0


def fills(remaining_s: Remaining | None) -> bool:
    """Whether a planner that can use more time than it needs shall do so."""
    return remaining_s is not None and not isinstance(remaining_s, Deadline)


class NoPlannerSettings(Struct, frozen=True):
    """A planner without any setting."""


class Placed(Struct, frozen=True):
    """What an algorithm answers: the bin of every item, why, and a bound if it has one."""

    place: Any  # Ints: item position -> bin position
    reason: Reason
    bound: float | None = None


class Planner(ABC):
    """Base of all planners: `plan(problem) -> Plan`, deterministic under a seed.

    Without `remaining_s` a planner does a fixed amount of work. With it, every planner
    stops when the time is spent and answers with the best it has; one that can use more
    time goes on until then, unless it is a `Deadline`, and never ends up worse for it.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""  # as shown to people
    most_items: ClassVar[int] = 50_000  # with more of them the engine does not ask it
    Settings: ClassVar[type[Struct]] = NoPlannerSettings

    def __init__(self, settings: Struct | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()

    def plan(
        self, problem: Problem, *, seed: int = 0, remaining_s: Remaining | None = None
    ) -> Plan:
        """A placement of all items within the budget, with figures before and after."""
        arrays = Arrays.of(problem)
        tuned = self.tuned(problem.settings)
        nothing = _nothing_to_plan(problem, arrays)
        if nothing is not None:
            return plan_of(self.name, problem, arrays, arrays.home, nothing)
        placed = tuned.place(problem, arrays, np.random.default_rng(seed), remaining_s)
        _hold(self.name, problem, arrays, placed.place)
        return plan_of(self.name, problem, arrays, placed.place, placed.reason, placed.bound)

    def tuned(self, given: Mapping[str, Any]) -> "Planner":
        """The same planner with what a problem sets for it; it may set no other than declared.

        >>> planner("albic").tuned({"max_distance": 3, "cola": {"max_distance": 4}}).settings
        AlbicSettings(max_distance=3.0, max_unit_load=25.0, unit_load_step=5.0, score_factor=1.5, \
budget_share=0.7, max_pairs=100000)
        >>> planner("no_op").tuned({"speed": 3})
        Traceback (most recent call last):
        weir.controllers.model.errors.InvalidInput: settings.speed is no setting of no_op; known: none
        """
        if not given:
            return self
        own = {key: value for key, value in given.items() if key not in planners()}
        own |= own_settings(given, self.name)
        known = [field.encode_name for field in fields(self.Settings)]
        for key in own:
            if key not in known:
                text = f"is no setting of {self.name}; known: {', '.join(known) or 'none'}"
                raise InvalidInput(f"settings.{key} {text}", field=f"settings.{key}")
        try:
            return type(self)(build(self.Settings, {**asdict(self.settings), **own}))
        except InvalidInput as error:
            raise InvalidInput(f"settings.{error}", field=f"settings.{error.field}") from None

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


def own_settings(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a problem sets for the planner of that name alone."""
    own = given.get(name, {})
    if not isinstance(own, dict):
        raise InvalidInput(f"settings.{name} must be an object", field=f"settings.{name}")
    return own


def outcome(arrays: Arrays, place: Ints, without: str) -> Reason:
    """The reason in numbers; `without` says why if nothing moves."""
    before, after = arrays.distance(arrays.home), arrays.distance(place)
    moves, cost = arrays.spent(place)
    numbers = {"before": before, "after": after, "moves": float(moves), "cost": cost}
    if not moves:
        return Reason(text=without, numbers=numbers)
    change = brings("the load distance", f"{before:.2f}", f"{after:.2f}", many=moves != 1)
    text = f"{number_of(moves, 'move')} {change} points"
    return Reason(text=text, rule="load_distance", numbers=numbers)


def _nothing_to_plan(problem: Problem, arrays: Arrays) -> Reason | None:
    if problem.unknown:
        return Reason(text=f"The load of {', '.join(problem.unknown)} is not known yet.")
    if not len(arrays.load):
        return Reason(text="There are no items to place.")
    if not arrays.keep.any():
        return Reason(text="Every bin is to be emptied, so there is nowhere to move to.")
    if not arrays.movable.any():
        return Reason(text="Every item is pinned to its bin.")
    if arrays.max_moves == 0:
        return Reason(text="The budget allows no move.", rule="moves <= 0")
    cheapest = float(arrays.cost[arrays.movable].min())
    if cheapest > arrays.max_cost:
        return Reason(
            text=f"The budget allows no move: the cheapest costs {quantity(cheapest)}.",
            rule=f"cost <= {quantity(arrays.max_cost)}",
        )
    if not (arrays.load > 0).any() and bool(arrays.keep[arrays.home].all()):
        return Reason(text="No item has any load, so there is nothing to balance.")
    if int(arrays.keep.sum()) == 1 and bool(arrays.keep[arrays.home].all()):
        return Reason(text="There is only one bin to be on.")
    return None


def _hold(name: str, problem: Problem, arrays: Arrays, place: Ints) -> None:
    """An algorithm that breaks the rules is a bug: better no plan than that one."""
    moved = place != arrays.home
    if not arrays.affords(place):
        raise AssertionError(f"{name} went over the budget: {arrays.spent(place)}")
    if (moved & ~arrays.movable).any() or (moved & ~arrays.keep[place]).any():
        raise AssertionError(f"{name} moved a pinned item or moved onto a bin to be emptied")
    for at in np.flatnonzero(moved):
        allowed = problem.items[at].allowed
        if allowed is not None and problem.bins[place[at]].name not in allowed:
            raise AssertionError(f"{name} moved {problem.items[at].name} where it may not be")
