"""The arrays that the compiled loops work on, as two named tuples.

`SearchWorld` is the problem and never changes; `SearchState` is a placement in the making
with its account. Both hold plain arrays, so numba takes them as they are.
"""

from typing import NamedTuple

import numpy as np

from weir.controllers.balancing.arrays import Arrays, Bools, Floats, Ints

_NEAR = 48
_MANY = 200  # bins; with more of them fewer partners each are enough


class SearchWorld(NamedTuple):
    """The problem: items, bins, limits."""

    load: Floats
    cost: Floats
    weight: Floats  # moves that one item counts for
    home: Ints
    movable: Bools
    use: Floats  # item x resource
    limit: Floats  # bin x resource
    kept: Bools
    scale: Floats  # points per unit of load, by bin
    mean: float  # points
    max_moves: float
    max_cost: float
    by_home: Ints  # items, one bin's after the other's
    first: Ints  # where each bin's begin in `by_home`
    near: int  # partners that are looked at for a step


class SearchState(NamedTuple):
    """A placement: who is where, sorted by load within each bin, and what it has cost."""

    place: Ints
    members: Ints  # bin x slot -> item, smallest first
    counts: Ints
    raw: Floats  # load by bin
    used: Floats  # bin x resource
    spent: Floats  # moves, cost, and what was rounded away from the cost
    log: Ints  # row 0: number of entries; then (item, where it was)


def world_of(arrays: Arrays) -> SearchWorld:
    """The unchanging part for the compiled loops."""
    bins = len(arrays.capacity)
    return SearchWorld(
        load=arrays.load,
        cost=arrays.cost,
        weight=arrays.weight,
        home=arrays.home,
        movable=arrays.movable,
        use=np.ascontiguousarray(arrays.used),  # another layout would be compiled again
        limit=np.ascontiguousarray(arrays.limit),
        kept=arrays.keep,
        scale=100.0 / arrays.capacity,
        mean=100.0 * arrays.target,
        max_moves=float(arrays.max_moves),
        max_cost=arrays.max_cost,
        by_home=np.argsort(arrays.home, kind="stable"),
        first=np.concatenate(
            [[0], np.cumsum(np.bincount(arrays.home, minlength=len(arrays.capacity)))]
        ),
        near=min(_NEAR if bins <= _MANY else _NEAR // 2, bins),
    )


def state_of(arrays: Arrays, place: Ints) -> SearchState:
    """A state at that placement.

    >>> from weir.controllers.balancing.problem import Bin, Item, Problem
    >>> arrays = Arrays.of(Problem(
    ...     bins=(Bin(name="a", capacity=1.0),),
    ...     items=(Item(name="x", load=0.3, bin="a"), Item(name="y", load=0.1, bin="a"))))
    >>> state_of(arrays, arrays.home).members[0, :2].tolist()
    [1, 0]
    """
    items, bins = len(arrays.load), len(arrays.capacity)
    counts = np.bincount(place, minlength=bins).astype(np.int64)
    # A bin may come to hold several times what it holds now, but not everything:
    # bins x items would not fit into the cache.
    kept = max(int(arrays.keep.sum()), 1)
    width = int(min(items, max(4 * int(counts.max(initial=0)), 2 * items // kept) + 16))
    members = np.zeros((bins, width + 1), dtype=np.int64)
    by_bin = np.lexsort((arrays.load, place))
    start = np.cumsum(counts) - counts
    members[place[by_bin], np.arange(items) - start[place[by_bin]]] = by_bin
    used = np.zeros_like(arrays.limit)
    np.add.at(used, place, arrays.used)
    return SearchState(
        place=place.copy(),
        members=members,
        counts=counts,
        raw=arrays.bin_load(place),
        used=used,
        spent=np.array(arrays.account(place), dtype=np.float64),
        log=np.zeros((4 * items + 16, 2), dtype=np.int64),
    )


def copy_of(state: SearchState) -> SearchState:
    """A state of its own at the same placement."""
    return state._replace(**{name: getattr(state, name).copy() for name in SearchState._fields})
