"""Static mapping: the largest item first, to the bin that stays emptiest."""

from typing import ClassVar

import numpy as np

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Placed, Planner, Remaining, in_time, outcome
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.spend import Ledger, evacuate


class StaticGreedy(Planner):
    """Longest-processing-time greedy with capacities, as if nothing were placed yet.

    Meant for the first placement, so it moves much. Where the budget ends, items
    stay; if that leaves the load distance no smaller than it is, nothing moves.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="big", capacity=2.0), Bin(name="small", capacity=1.0)),
    ...     items=(Item(name="x", load=1.0, bin="small"), Item(name="y", load=0.5, bin="small")),
    ... )
    >>> StaticGreedy().plan(problem).placement
    {'x': 'big', 'y': 'small'}

    Wu: DoDo, chapter 6.2.1; Zhang et al., IJCAI 2011.
    """

    name: ClassVar[str] = "static_greedy"
    label: ClassVar[str] = "Static greedy"

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """Deal the items out again, those that may not move first."""
        del problem, rng
        kept = np.flatnonzero(arrays.keep)
        dealt = np.zeros(len(arrays.capacity))
        np.add.at(dealt, arrays.home[~arrays.movable], arrays.load[~arrays.movable])
        ledger = Ledger(arrays, evacuate(arrays, arrays.home, remaining_s))
        movable = np.flatnonzero(arrays.movable)
        for item in movable[np.argsort(-arrays.load[movable], kind="stable")]:
            if not in_time(remaining_s):
                break
            after = (dealt[kept] + arrays.load[item]) / arrays.capacity[kept]
            least = kept[after <= after.min() * (1 + 1e-12)]
            here = ledger.place[item]
            stuck = here == arrays.home[item] and ledger.moves >= arrays.max_moves
            if here not in least and not stuck:  # among equals the item stays where it is
                for target in kept[np.argsort(after, kind="stable")]:
                    if target == here or ledger.move(int(item), int(target)):
                        break
            dealt[ledger.place[item]] += arrays.load[item]
        place = ledger.place
        better = arrays.distance(place) < arrays.distance(arrays.home) - 1e-9
        # Items, not load: one that has none at the moment keeps a bin from being ended, too.
        drains = arrays.keep[place].sum() > arrays.keep[arrays.home].sum()
        if not better and not drains:
            place = arrays.home
        return Placed(place, outcome(arrays, place, "Dealing out again brings nothing."))
