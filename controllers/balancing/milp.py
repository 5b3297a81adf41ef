"""The planner of the ALBIC paper's optimisation model, solved for speed.

The model: every item on exactly one bin, at most this many moves (or this much
cost), the smallest d such that every kept bin is within d points of the mean,
and then the tightest limits on both sides of it. Given to an open solver as it stands it is slower than Flux and worse, so:

    (a handful of items) all placements, else
    swap-greedy -> narrower bands -> ruin and recreate -> the better of that and Flux
        -> (few items, or time given) HiGHS on the bins that are farthest out
        -> the other side of the mean tightened as far as the budget goes
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Struct

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.base import (
    Deadline,
    Placed,
    Planner,
    Remaining,
    fills,
    in_time,
    outcome,
)
from weir.controllers.balancing.bound import lower_bound
from weir.controllers.balancing.every import best_of_all
from weir.controllers.balancing.flux import flux_place
from weir.controllers.balancing.kernel import improve
from weir.controllers.balancing.polish import polish, solve
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.shake import aim, shake
from weir.controllers.balancing.spend import evacuate, trim
from weir.controllers.balancing.world import SearchState, SearchWorld, copy_of, state_of, world_of
from weir.controllers.model.settings import setting

_STEPS = 500  # of swap-greedy between two looks at the clock
_NARROWER = (0.5, 0.0)  # shares of the easier side that are aimed at
_TRIED = 20_000  # items in all tries of ruin and recreate between two looks


class MilpSettings(Struct, frozen=True):
    """How much the search does before it looks at the clock."""

    narrowings: Annotated[int, setting("Narrower bands to try", ge=0, le=50)] = 1
    tries: Annotated[int, setting("Rounds of ruin and recreate, at least", ge=0, le=10_000)] = 50
    most_tries: Annotated[
        int, setting("The same, at most, where moves are many or items few", ge=0, le=10_000)
    ] = 200
    chunk: Annotated[int, setting("Rounds between two looks at the clock", ge=1, le=10_000)] = 50
    exact: Annotated[
        int, setting("Given time, solve exactly up to this many items x bins", ge=0, le=5000)
    ] = 150


class Milp(Planner):
    """The smallest load distance within the budget, with a bound that says how near it is.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=10.0), Bin(name="b", capacity=10.0)),
    ...     items=tuple(Item(name=f"i{k}", load=k + 1.0, bin="a") for k in range(4)),
    ...     budget=Budget(moves=1),
    ... )
    >>> plan = Milp().plan(problem)
    >>> [m.operator for m in plan.moves], plan.after.load_distance
    (['i3'], 10.0)

    Madsen, Zhou, Cao: Integrative dynamic reconfiguration in a parallel stream
    processing engine, ICDE 2017, section 4.3.1; the mean is not rounded up, and
    constraint (5) is left out, as both only do harm.
    """

    name: ClassVar[str] = "milp"
    label: ClassVar[str] = "Optimiser"
    Settings: ClassVar[type[Struct]] = MilpSettings

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """The better of the search and Flux; more time is spent on more tries."""
        del problem
        bound = lower_bound(arrays, remaining_s)
        best, bound = search(arrays, bound, self.settings, rng, remaining_s)
        return Placed(
            best, outcome(arrays, best, "No move makes the load distance smaller."), bound
        )


def search(
    arrays: Arrays,
    bound: float,
    settings: MilpSettings,
    rng: np.random.Generator,
    remaining_s: Remaining | None = None,
) -> tuple[Ints, float]:
    """The best placement found, and the bound (raised if it was proven optimal)."""
    if arrays.keep.all() and (known := best_of_all(arrays)):
        best = min([arrays.home, *known], key=lambda place: _rank(arrays, place))
        return best, arrays.distance(best)
    world = world_of(arrays)
    flux = flux_place(arrays, world, remaining_s)  # first: without time it is the answer
    found = _narrow(arrays, world, bound, settings.narrowings, remaining_s)
    random = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    best_place, distance = found.copy(), arrays.distance(found)
    state = state_of(arrays, found)
    # Few items make cheap tries, and many moves leave much to try.
    wanted = max(arrays.max_moves // 2, 6000 // len(world.load))
    tries = max(settings.tries, min(settings.most_tries, wanted))
    _shake(world, state, tries, bound, random, distance, best_place, remaining_s)
    candidates = [arrays.home, flux, found, best_place]
    if remaining_s is not None and fills(remaining_s):
        optimal = False
        if len(arrays.load) * len(arrays.capacity) <= settings.exact and remaining_s() > 0.0:
            exact = solve(arrays, remaining_s())
            candidates.append(exact.place)
            bound, optimal = max(bound, exact.bound), exact.optimal
        if not optimal:
            candidates += _longer(arrays, bound, settings, random, best_place, remaining_s)
    if not arrays.keep.all():
        emptied = state_of(arrays, evacuate(arrays, arrays.home, remaining_s))
        _improve(world, emptied, bound, remaining_s)
        candidates = [
            evacuate(arrays, place, remaining_s) for place in (*candidates, emptied.place)
        ]
    best = min(candidates, key=lambda place: _rank(arrays, place))
    candidates = [best, *_tighten(arrays, world, best, remaining_s)]
    best = trim(arrays, min(candidates, key=lambda place: _rank(arrays, place)))
    return best, min(bound, arrays.distance(best))


def _improve(
    world: SearchWorld,
    state: SearchState,
    over: float,
    remaining_s: Remaining | None,
    under: float | None = None,
) -> None:
    """Swap-greedy to its end, or as far as the time goes; the band is even unless said."""
    under = over if under is None else under
    while in_time(remaining_s) and not improve(world, state, over, under, _STEPS):
        pass  # it ends: every step fills the state's log


def _tighten(
    arrays: Arrays, world: SearchWorld, place: Ints, remaining_s: Remaining | None
) -> Iterator[Ints]:
    """Placements that bring the bins on the easier side of the mean nearer to it."""
    over, under = arrays.sides(place)
    bands = [(over, share * under) for share in _NARROWER if over >= under > 0.0]
    bands += [(share * over, under) for share in _NARROWER if under >= over > 0.0]
    for above, below in bands:
        state = state_of(arrays, place)
        _improve(world, state, above, remaining_s, below)
        yield state.place


def _shake(
    world: SearchWorld,
    state: SearchState,
    tries: int,
    bound: float,
    random: np.ndarray,
    distance: float,
    best_place: Ints,
    remaining_s: Remaining | None,
) -> float:
    """That many tries, or as many as the time allows; see `shake`."""
    tau, chunk = aim(bound, distance), max(1, _TRIED // len(world.load))
    while tries > 0 and in_time(remaining_s):
        distance, tau = shake(
            world, state, min(tries, chunk), bound, random, distance, tau, best_place
        )
        tries -= chunk
    return distance


def _narrow(
    arrays: Arrays, world: SearchWorld, bound: float, times: int, remaining_s: Remaining | None
) -> Ints:
    """Swap-greedy with no band, then with bands between the bound and the best so far."""
    start = state_of(arrays, arrays.home)
    state = copy_of(start)
    _improve(world, state, 0.0, remaining_s)
    best, distance, low = state.place, arrays.distance(state.place), bound
    for _ in range(times):
        tau = (low + distance) / 2.0
        state = copy_of(start)
        _improve(world, state, tau, remaining_s)
        reached = arrays.distance(state.place)
        if reached < distance:
            best, distance = state.place, reached
        if reached > tau:
            low = tau
    return best


def _longer(
    arrays: Arrays,
    bound: float,
    settings: MilpSettings,
    random: np.ndarray,
    start: Ints,
    remaining_s: Remaining,
) -> Iterator[Ints]:
    """Go on while there is time: rounds of ruin and recreate, HiGHS on what is farthest out.

    Every step depends on the seed and the steps before it, never on the clock, so
    a longer time only adds steps.
    """
    world = world_of(arrays)
    best, distance, chunk = start, arrays.distance(start), settings.chunk
    state = state_of(arrays, best)
    rounds = 0
    while remaining_s() > 0.0 and distance - bound > 1e-9:
        candidate = best.copy()
        reached = _shake(
            world, state, chunk, bound, random, distance, candidate, Deadline(remaining_s)
        )
        if reached < distance:
            best, distance = candidate, reached
            yield best
        elif rounds % 8 == 7:
            sub = polish(arrays, best, random, remaining_s())
            if sub is not None and arrays.distance(sub) < distance:
                best, distance = sub, arrays.distance(sub)
                yield best
            state = state_of(arrays, best)
        rounds += 1


def _rank(arrays: Arrays, place: Ints) -> tuple[float, float, int, float]:
    """Distance first, then both sides together, to a hundredth of a point, then fewer moves.
    Load left on bins to be emptied counts as distance: twice the points by which it lowers
    the kept ones, or the last items would never go. So does, with a point, every such bin that
    is not empty: one small item keeps a whole bin from being ended."""
    moves, cost = arrays.spent(place)
    left = 100.0 * arrays.left(place) / float(arrays.capacity[arrays.keep].sum())
    held = len(np.unique(place[~arrays.keep[place]]))
    distance, both = arrays.distance(place), sum(arrays.sides(place))
    return round(distance + 2.0 * left + held, 9), round(both, 2), moves, cost
