"""All placements of a problem so small that they can be counted: what is best is then known."""

import itertools
import math

import numpy as np

from weir.controllers.balancing.arrays import Arrays, Ints

MOST = 1024
"""Placements to look at; beyond that the search is faster."""
_EQUAL = 0.005  # points: which of these is best is for the caller to say
_KEPT = 16


def best_of_all(arrays: Arrays) -> list[Ints] | None:
    """The placements with the smallest load distance, those with fewest moves first; None where
    there are too many to count.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
    >>> loads = {"a": (4.0, 5.0, 10.0), "b": (5.0, 13.0)}
    >>> items = [Item(name=f"{b}{k}", load=k, bin=b) for b, found in loads.items() for k in found]
    >>> bins = (Bin(name="a", capacity=50.0), Bin(name="b", capacity=100.0))
    >>> arrays = Arrays.of(Problem(bins=bins, items=tuple(items), budget=Budget(moves=4)))
    >>> round(arrays.distance(best_of_all(arrays)[0]), 2)
    1.33
    """
    kept = np.flatnonzero(arrays.keep).tolist()
    choices = [
        sorted({*kept, home}) if movable else [home]
        for home, movable in zip(arrays.home.tolist(), arrays.movable.tolist(), strict=True)
    ]
    if math.prod(map(len, choices)) > MOST:
        return None
    places = np.array(list(itertools.product(*choices)), dtype=arrays.home.dtype)
    on = places[:, :, None] == np.arange(len(arrays.capacity))
    moves = (places != arrays.home) @ arrays.weight
    fits = np.einsum("pib,ir->pbr", on, arrays.used) <= arrays.limit * (1.0 + 1e-9)
    points = 100.0 * np.einsum("pib,i->pb", on, arrays.load) / arrays.capacity
    off = np.abs(points - 100.0 * arrays.target)[:, arrays.keep].max(axis=1, initial=0.0)
    off[~fits.all(axis=(1, 2)) | (moves > arrays.max_moves)] = np.inf
    order = [p for p in np.lexsort((moves, off)) if np.isfinite(off[p])]
    affordable = (p for p in order if arrays.affords(places[p]))
    first = next(affordable, None)
    if first is None:
        return []
    near = [p for p in affordable if off[p] <= off[first] + _EQUAL]
    return [places[p] for p in sorted([first, *near], key=lambda p: moves[p])[:_KEPT]]
