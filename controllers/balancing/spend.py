"""Keeping account of moves, cost and resources while a placement is changed step by step."""

import numpy as np

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.base import Remaining, in_time
from weir.controllers.balancing.kernel import add_exactly


class Ledger:
    """A placement in the making that refuses what the budget or a limit forbids.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
    >>> ledger = Ledger(Arrays.of(Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.5, bin="a"), Item(name="y", load=0.2, bin="a")),
    ...     budget=Budget(moves=1))))
    >>> ledger.move(0, 1), ledger.move(1, 1)
    (True, False)
    """

    def __init__(self, arrays: Arrays, place: Ints | None = None) -> None:
        self.arrays = arrays
        self.place: Ints = (arrays.home if place is None else place).copy()
        self.load = arrays.bin_load(self.place)
        self.moves, self.cost, self._rest = arrays.account(self.place)
        self.used = np.zeros_like(arrays.limit)
        np.add.at(self.used, self.place, arrays.used)

    def can(self, item: int, target: int) -> bool:
        """Whether the item may go there now."""
        arrays, source = self.arrays, self.place[item]
        if source == target or not arrays.movable[item]:
            return False
        home = arrays.home[item]
        if target != home and not arrays.keep[target]:
            return False
        more = int(target != home) - int(source != home)
        if self.moves + more * arrays.weight[item] > arrays.max_moves:
            return False
        if more > 0 and add_exactly(self.cost, self._rest, arrays.cost[item])[0] > arrays.max_cost:
            return False
        return bool((self.used[target] + arrays.used[item] <= arrays.limit[target]).all())

    def move(self, item: int, target: int) -> bool:
        """Move the item if it may; whether it was done."""
        if not self.can(item, target):
            return False
        arrays, source = self.arrays, int(self.place[item])
        home = arrays.home[item]
        more = int(target != home) - int(source != home)
        self.moves += round(more * arrays.weight[item])
        self.cost, self._rest = add_exactly(self.cost, self._rest, more * arrays.cost[item])
        self.load[source] -= arrays.load[item]
        self.load[target] += arrays.load[item]
        self.used[source] -= arrays.used[item]
        self.used[target] += arrays.used[item]
        self.place[item] = target
        return True


def evacuate(arrays: Arrays, place: Ints, remaining_s: Remaining | None = None) -> Ints:
    """Empty the bins that are not kept: largest item first, to where it fits best.

    Stops where the budget or the time ends; the rest follows with the next plan.
    """
    waiting = np.flatnonzero(~arrays.keep[place] & arrays.movable)
    if not len(waiting):
        return place
    ledger = Ledger(arrays, place)
    kept = np.flatnonzero(arrays.keep)
    for item in sorted(waiting, key=lambda i: (-arrays.load[i], i)):
        if not in_time(remaining_s):
            break
        after = (ledger.load[kept] + arrays.load[item]) / arrays.capacity[kept]
        for position in np.argsort(after, kind="stable"):
            if ledger.move(int(item), int(kept[position])):
                break
    return ledger.place


def trim(arrays: Arrays, place: Ints) -> Ints:
    """Without the moves that neither side of the mean needs, dearest first.

    >>> from weir.controllers.balancing.problem import Bin, Item, Problem
    >>> arrays = Arrays.of(Problem(
    ...     bins=tuple(Bin(name=n, capacity=1.0) for n in "abc"),
    ...     items=(Item(name="x", load=0.9, bin="a"), Item(name="y", load=0.1, bin="b"))))
    >>> trim(arrays, np.array([0, 2])).tolist()
    [0, 1]
    """
    above, below = (side / 100.0 + 1e-12 for side in arrays.sides(place))
    ledger = Ledger(arrays, place)
    moved = np.flatnonzero((place != arrays.home) & arrays.keep[arrays.home])
    for item in sorted(moved, key=lambda i: (-arrays.cost[i], i)):
        size, here, home = arrays.load[item], int(ledger.place[item]), int(arrays.home[item])
        less = (ledger.load[here] - size) / arrays.capacity[here] - arrays.target
        more = (ledger.load[home] + size) / arrays.capacity[home] - arrays.target
        if -below <= less <= above and -below <= more <= above:
            ledger.move(int(item), home)
    return ledger.place
