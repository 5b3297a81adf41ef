"""A problem as numpy arrays, for planners that count in thousands of items."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weir.controllers.balancing.check import check
from weir.controllers.balancing.problem import Problem, resource_map

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Arrays:
    """Items by position, bins by position; `home` is the bin an item is on now."""

    load: Floats
    cost: Floats
    home: Ints
    movable: Bools
    capacity: Floats
    keep: Bools
    used: (
        Floats  # item x resource; a set of allowed bins counts as one, see `_allowed_as_resources`
    )
    limit: Floats  # bin x resource; what a plan may bring a bin to
    max_moves: int
    max_cost: float
    weight: Floats  # moves that one item counts for; more than 1 for a unit of several

    @classmethod
    def of(cls, problem: Problem) -> "Arrays":
        """Check the problem and take it apart.

        >>> from weir.controllers.balancing.problem import Bin, Item
        >>> arrays = Arrays.of(Problem(bins=(Bin(name="a", capacity=4.0),),
        ...                            items=(Item(name="x", load=1.0, bin="a"),)))
        >>> arrays.target, arrays.max_moves
        (0.25, 1)
        """
        check(problem)
        items, bins, budget = problem.items, problem.bins, problem.budget
        index = {b.name: position for position, b in enumerate(bins)}
        load = np.array([i.load for i in items], dtype=np.float64)
        cost = np.array([i.move_cost for i in items], dtype=np.float64)
        home = np.array([index[i.bin] for i in items], dtype=np.int64)
        capacity = np.array([b.capacity for b in bins], dtype=np.float64)
        keep = np.array([b.keep for b in bins], dtype=np.bool_)
        used, limit = _resources(problem, home, capacity)
        only, where = _allowed_as_resources(problem)
        return cls(
            load=load,
            cost=cost,
            home=home,
            movable=~np.array([i.pinned for i in items], dtype=np.bool_),
            capacity=capacity,
            keep=keep,
            used=np.hstack([used, only]) if only.shape[1] else used,
            limit=np.hstack([limit, where]) if only.shape[1] else limit,
            max_moves=len(items) if budget.moves is None else min(budget.moves, len(items)),
            max_cost=math.inf if budget.cost is None else float(budget.cost),
            weight=np.ones(len(items)),
        )

    @cached_property
    def target(self) -> float:
        """The load per capacity at which all kept bins would be equal."""
        room = float(self.capacity[self.keep].sum())
        return float(self.load.sum()) / room if room > 0 else 0.0

    def bin_load(self, place: Ints) -> Floats:
        """Sum of loads on every bin."""
        return np.bincount(place, weights=self.load, minlength=len(self.capacity)).astype(
            np.float64
        )

    def points(self, place: Ints) -> Floats:
        """Load of every bin in percentage points of its capacity."""
        return 100.0 * self.bin_load(place) / self.capacity

    def distance(self, place: Ints) -> float:
        """Load distance: the largest |load - mean| of a kept bin, in points."""
        off = np.abs(self.points(place) - 100.0 * self.target)[self.keep]
        return float(off.max(initial=0.0))

    def sides(self, place: Ints) -> tuple[float, float]:
        """Points by which the fullest kept bin is above the mean and the emptiest below it."""
        off = (self.points(place) - 100.0 * self.target)[self.keep]
        return float(off.max(initial=0.0)), float((-off).max(initial=0.0))

    def left(self, place: Ints) -> float:
        """Load that is still on bins that are to be emptied."""
        return float(self.load[~self.keep[place]].sum()) if len(place) else 0.0

    def spent(self, place: Ints) -> tuple[int, float]:
        """Moves and cost of going from the present to `place`."""
        return self.account(place)[:2]

    def account(self, place: Ints) -> tuple[int, float, float]:
        """The same, and what rounding has taken from the cost."""
        moved = place != self.home
        costs = self.cost[moved].tolist()
        cost = math.fsum(costs)
        return round(self.weight[moved].sum()), cost, math.fsum([*costs, -cost])

    def affords(self, place: Ints) -> bool:
        """Whether going there is within the budget."""
        moves, cost = self.spent(place)
        return moves <= self.max_moves and cost <= self.max_cost


def _resources(problem: Problem, home: Ints, capacity: Floats) -> tuple[Floats, Floats]:
    """Use by item and limit by bin.

    A bin that states no limit of a resource has its capacity as limit: both are
    then counted in one unit. Where an item uses more than any bin's capacity the
    unit must be another, and the limit is the most that a bin carries now, so that
    a plan makes no new hot spot. A bin that is above its limit may stay there.
    """
    if not any([i.resources for i in problem.items]):  # noqa: C419 - a list is faster
        return np.zeros((len(problem.items), 0)), np.zeros((len(capacity), 0))
    by_item = [resource_map(i.resources) for i in problem.items]
    names = sorted({name for found in by_item for name in found})
    used = np.array([[f.get(n, 0.0) for n in names] for f in by_item], dtype=np.float64)
    used = used.reshape(len(by_item), len(names))
    limit = np.full((len(capacity), len(names)), np.inf)
    stated = [resource_map(b.resources) for b in problem.bins]
    for column, name in enumerate(names):
        present = np.bincount(home, weights=used[:, column], minlength=len(capacity))
        highest = float(present.max(initial=0.0))
        one_unit = float(used[:, column].max(initial=0.0)) <= float(capacity.max())
        limit[:, column] = [
            max(found.get(name, size if one_unit else highest), now)
            for found, size, now in zip(stated, capacity, present, strict=True)
        ]
    return used, limit


def _allowed_as_resources(problem: Problem) -> tuple[Floats, Floats]:
    """Allowed bins in the form of resources: who respects those respects these.

    The items that may only be on a certain set of bins use one unit of a resource of
    their own, of which the bins of that set have any amount and the others nothing.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> _allowed_as_resources(Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=1.0, bin="a", allowed=()), Item(name="y", load=1.0, bin="a")),
    ... ))
    (array([[1.],
           [0.]]), array([[inf],
           [ 0.]]))
    """
    items, bins = problem.items, problem.bins
    groups: dict[frozenset[str], list[int]] = {}
    for position, item in enumerate(items):
        if item.allowed is not None:
            groups.setdefault(frozenset((*item.allowed, item.bin)), []).append(position)
    groups = {group: found for group, found in groups.items() if len(group) < len(bins)}
    used, limit = np.zeros((len(items), len(groups))), np.zeros((len(bins), len(groups)))
    for column, (group, found) in enumerate(groups.items()):
        used[found, column] = 1.0
        limit[[b.name in group for b in bins], column] = np.inf
    return used, limit
