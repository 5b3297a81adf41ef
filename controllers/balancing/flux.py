"""Flux: the largest suitable item from the fullest bin to the emptiest, pair by pair."""
# numba's decorator has no types, so nothing under it can have any for mypy.
# mypy: allow-untyped-decorators

from typing import ClassVar

import numpy as np
from numba import njit

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.base import Placed, Planner, Remaining, in_time, outcome

# kernel.py e837eeef, see there
from weir.controllers.balancing.kernel import FINE, is_allowed, relocate
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.spend import evacuate
from weir.controllers.balancing.world import SearchState, SearchWorld, state_of, world_of

_AT_ONCE = 64  # passes between two looks at the clock


class Flux(Planner):
    """Sort the bins by load; move the largest item that makes their loads vary less
    from the first to the last, from the second to the second last, and so on; sort
    again, until the budget is spent or nothing is suitable.

    An item is suitable if it is smaller than the difference of the two loads (for
    bins of equal capacity). Asking for less than half of the difference is the
    weaker reading: it ends at nearly twice the distance. Bins to be emptied are
    emptied first; the original knows none.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.5, bin="a"), Item(name="y", load=0.3, bin="a")),
    ... )
    >>> [m.operator for m in Flux().plan(problem).moves]
    ['x']

    Shah et al., Flux: An adaptive partitioning operator for continuous query
    systems, ICDE 2003, as described in Madsen et al., ICDE 2017, section 2.2.
    """

    name: ClassVar[str] = "flux"
    label: ClassVar[str] = "Flux"

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """Passes over the paired bins until one changes nothing."""
        del problem, rng
        place = flux_place(arrays, world_of(arrays), remaining_s)
        return Placed(place, outcome(arrays, place, "No pair of bins has a suitable item."))


def flux_place(arrays: Arrays, world: SearchWorld, remaining_s: Remaining | None = None) -> Ints:
    """The placement that Flux ends at, or is at when the time ends.

    Every move makes the loads vary less by more than rounding could, so no placement comes
    back; the limit on passes is there because that alone may take very long.
    """
    state = state_of(arrays, evacuate(arrays, arrays.home, remaining_s))
    left = 4 * len(arrays.load) + _AT_ONCE
    while left > 0 and in_time(remaining_s) and _passes(world, state, _AT_ONCE):
        left -= _AT_ONCE
    return state.place


@njit(cache=True)
def _passes(world: SearchWorld, state: SearchState, most: int) -> bool:
    """That many passes at most; whether the last one still moved something."""
    # Fields are taken out once: each access to a tuple of arrays counts references.
    load, home, movable, scale, mean = (
        world.load,
        world.home,
        world.movable,
        world.scale,
        world.mean,
    )
    members, count, raw, spent = state.members, state.counts, state.raw, state.spent
    kept = np.flatnonzero(world.kept)
    moved = True
    for _ in range(most):
        if not moved:
            break
        moved = False
        state.log[0, 0] = 0
        by_load = kept[np.argsort(-(raw * scale)[kept], kind="mergesort")]
        for pair in range(len(kept) // 2):
            hot, cold = by_load[pair], by_load[len(kept) - 1 - pair]
            on_hot, on_cold = raw[hot] * scale[hot], raw[cold] * scale[cold]
            a, b = on_hot - mean, on_cold - mean
            fine = FINE * (abs(on_hot) + abs(on_cold) + mean)
            least = fine * (abs(a) + abs(b) + fine)
            for k in range(count[hot] - 1, -1, -1):
                item = members[hot, k]
                size = load[item]
                after = (a - size * scale[hot]) ** 2 + (b + size * scale[cold]) ** 2
                if a * a + b * b - after <= least or not movable[item]:
                    continue  # not suitable: the two would not vary less
                more = (int(cold != home[item]) - int(hot != home[item])) * world.weight[item]
                if spent[0] + more <= world.max_moves and is_allowed(
                    world, state, hot, item, cold, -1
                ):
                    relocate(world, state, item, cold)
                    moved = True
                    break
    return moved
