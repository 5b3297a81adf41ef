"""Dealing parts out to bins, the heaviest first to where the load stays lowest.

Compiled by numba and kept on disk. COLA deals again after every cut, hundreds of parts to
hundreds of bins hundreds of times: item by item in Python that takes seconds.
"""
# numba's decorator has no types, so nothing under it can have any for mypy.
# mypy: allow-untyped-decorators, allow-untyped-defs, allow-untyped-calls

from collections.abc import Sequence

import numpy as np
from numba import njit

from weir.controllers.balancing.arrays import Arrays, Ints


def deal(arrays: Arrays, parts: Sequence[Ints]) -> Ints:
    """The bin of every item, given parts of movable items, heaviest first.

    Among bins that would be equally full the one that most of the part is on already is
    taken; a part that fits nowhere stays where it is.
    """
    place = arrays.home.copy()
    if not parts:
        return place
    used = np.zeros_like(arrays.limit)
    np.add.at(used, place, arrays.used)
    load = np.zeros(len(arrays.capacity))
    np.add.at(load, place[~arrays.movable], arrays.load[~arrays.movable])
    starts = np.cumsum([0, *(len(part) for part in parts)])
    _deal(
        np.concatenate(parts), starts, np.flatnonzero(arrays.keep), arrays.load, arrays.home,
        arrays.used, arrays.limit, arrays.capacity, place, used, load,
    )  # fmt: skip
    return place


@njit(cache=True)
def _deal(items, starts, kept, sizes, home, uses, limit, capacity, place, used, load):
    """Changes `place`, `used` and `load`, part by part."""
    here = np.zeros(len(capacity), dtype=np.int64)
    need = np.zeros(limit.shape[1])
    for at in range(len(starts) - 1):
        part = items[starts[at] : starts[at + 1]]
        here[:] = 0
        need[:] = 0.0
        size = 0.0
        for item in part:
            here[home[item]] += 1
            size += sizes[item]
            for r in range(len(need)):
                need[r] += uses[item, r]
        target, lowest = -1, 0.0
        for b in kept:
            fits = True
            for r in range(len(need)):
                if used[b, r] + need[r] > limit[b, r]:
                    fits = False
            if not fits:
                continue
            after = np.rint((load[b] + size) / capacity[b] * 1e9)
            if target < 0 or after < lowest or (after == lowest and here[b] > here[target]):
                target, lowest = b, after
        for item in part:
            if target >= 0:
                for r in range(len(need)):
                    used[place[item], r] -= uses[item, r]
                    used[target, r] += uses[item, r]
                place[item] = target
            load[place[item]] += sizes[item]
