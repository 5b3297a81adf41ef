"""Items that are moved together, as single items of a smaller problem."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weir.controllers.balancing.arrays import Arrays, Ints


def merge_units(arrays: Arrays, unit_of: Ints, fixed: Sequence[tuple[int, int]] = ()) -> Arrays:
    """The problem with every unit as one item.

    `unit_of` gives the unit of every item, numbered from 0; the items of a unit
    are on one bin. `fixed` lists (unit, bin): these units go there whatever else
    happens, and what that costs is taken from the budget.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
    >>> arrays = Arrays.of(Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.2, bin="a"), Item(name="y", load=0.3, bin="a")),
    ...     budget=Budget(moves=1)))
    >>> small = merge_units(arrays, np.array([0, 0]))
    >>> small.load.tolist(), small.weight.tolist()
    ([0.5], [2.0])
    """
    count = int(unit_of.max()) + 1 if len(unit_of) else 0

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(unit_of, weights=values, minlength=count)

    home = np.zeros(count, dtype=np.int64)
    home[unit_of] = arrays.home
    movable = np.ones(count, dtype=np.bool_)
    movable[unit_of[~arrays.movable]] = False
    moves, cost = arrays.max_moves, arrays.max_cost
    for unit, target in fixed:
        moving = (unit_of == unit) & (arrays.home != target)
        moves -= int(moving.sum())
        cost -= math.fsum(arrays.cost[moving].tolist())
        home[unit] = target
        movable[unit] = False
    return replace(
        arrays,
        load=total(arrays.load),
        cost=total(arrays.cost),
        weight=total(arrays.weight),
        home=home,
        movable=movable,
        used=np.stack([total(column) for column in arrays.used.T], axis=1)
        if arrays.used.shape[1]
        else np.zeros((count, 0)),
        max_moves=moves,
        max_cost=cost,
    )


def renumber(labels: Ints) -> Ints:
    """The same grouping, numbered from 0 without gaps.

    >>> renumber(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
