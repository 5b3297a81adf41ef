"""Dealing parts out: as by hand, item by item, but much faster."""

import numpy as np
import pytest
from msgspec.structs import replace

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.deal import deal
from weir.controllers.balancing.problem import Bin, Item, Problem


def by_hand(arrays: Arrays, parts: list[Ints]) -> list[int]:
    """The same, written down plainly."""
    place = arrays.home.copy()
    load = np.zeros(len(arrays.capacity))
    np.add.at(load, place[~arrays.movable], arrays.load[~arrays.movable])
    for part in parts:

        def fits(b: int, part: Ints = part) -> bool:
            used = arrays.used[place == b].sum(axis=0) + arrays.used[part].sum(axis=0)
            return bool((used <= arrays.limit[b]).all())

        here = {b: int((arrays.home[part] == b).sum()) for b in range(len(load))}
        size = arrays.load[part].sum()
        open_ = [b for b in np.flatnonzero(arrays.keep) if fits(int(b))]
        if open_:
            place[part] = min(
                open_, key=lambda b: (round((load[b] + size) / arrays.capacity[b], 9), -here[b], b)
            )
        np.add.at(load, place[part], arrays.load[part])
    return [int(b) for b in place]


@pytest.mark.parametrize("seed", range(8))
def test_it_deals_as_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bins = tuple(
        Bin(name=f"b{i}", capacity=float(rng.integers(1, 4)), keep=i != 4) for i in range(5)
    )
    items = tuple(
        Item(
            name=f"i{k}", load=float(rng.random()), bin=f"b{rng.integers(5)}",
            pinned=bool(rng.random() < 0.1), resources={"memory": float(rng.random())},
        )
        for k in range(40)
    )  # fmt: skip
    arrays = Arrays.of(Problem(bins=bins, items=items))
    free = rng.permutation(np.flatnonzero(arrays.movable))
    parts = sorted(np.array_split(free, 12), key=lambda p: -float(arrays.load[p].sum()))
    assert deal(arrays, parts).tolist() == by_hand(arrays, parts)


def test_a_part_that_fits_nowhere_stays() -> None:
    bins = tuple(Bin(name=n, capacity=1.0, resources={"memory": 1.0}) for n in "ab")
    item = Item(name="x", load=0.5, bin="a", resources={"memory": 1.0})
    filler = replace(item, name="y", bin="b", pinned=True)
    arrays = Arrays.of(Problem(bins=bins, items=(item, filler)))
    assert deal(arrays, [np.array([0])]).tolist() == [0, 1]
    assert deal(arrays, []).tolist() == [0, 1]
