"""ALBIC: balances load and, step by step, brings items together that talk much."""

import math
from collections import defaultdict
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Struct

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.base import Deadline, Placed, Planner, Remaining, in_time, outcome
from weir.controllers.balancing.bound import lower_bound
from weir.controllers.balancing.figures import collocation
from weir.controllers.balancing.graph import partition
from weir.controllers.balancing.milp import MilpSettings, search
from weir.controllers.balancing.pairs import Pair, join_pairs, scored_pairs, sets_of
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.units import merge_units, renumber
from weir.controllers.model.settings import setting
from weir.controllers.model.words import brings

_ROUNDS = 50  # with ever smaller units, at most


class AlbicSettings(Struct, frozen=True):
    """The defaults are the paper's, except for the pairs per round."""

    max_distance: Annotated[
        float, setting("Largest load distance to accept", unit="points", ge=0)
    ] = 10.0
    max_unit_load: Annotated[
        float,
        setting("Largest load of items brought together and moved as one", unit="points", ge=0),
    ] = 25.0
    unit_load_step: Annotated[
        float, setting("Take off that when the distance is too large", unit="points", ge=0.1)
    ] = 5.0
    score_factor: Annotated[
        float, setting("A pair counts above this multiple of the mean rate", ge=0)
    ] = 1.5
    budget_share: Annotated[
        float, setting("Part of the budget to spend on new pairs", ge=0, le=1)
    ] = 0.7
    max_pairs: Annotated[
        int, setting("New pairs per round at most; the paper's is 1", ge=0, le=100_000)
    ] = 100_000


class Albic(Planner):
    """Pairs that exchange more than their share and sit together stay together, in
    units that are small enough to be moved; the best new pairs are brought together;
    then the units are balanced like single items. If the load distance comes out too
    large, again with smaller units, and at last without any. A plan that is no progress
    is dropped: under a constant load it comes to rest.

    One new pair per round, as printed, needs hundreds of rounds; here a share of the
    budget goes into new pairs.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Flow, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=tuple(Item(name=n, load=0.1, bin=b) for n, b in zip("wxyz", "abab")),
    ...     flows=(Flow(source="w", target="x", rate=9.0), Flow(source="y", target="z", rate=5.0)),
    ...     budget=Budget(moves=2),
    ... )
    >>> plan = Albic().plan(problem)
    >>> round(plan.before.collocation, 2), round(plan.after.collocation, 2)
    (0.0, 1.0)

    Madsen, Zhou, Cao, ICDE 2017, algorithm 2.
    """

    name: ClassVar[str] = "albic"
    label: ClassVar[str] = "ALBIC"
    most_items: ClassVar[int] = 3000
    Settings: ClassVar[type[Struct]] = AlbicSettings

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """Rounds with ever smaller units until the load distance is acceptable."""
        settings: AlbicSettings = self.settings
        bound = lower_bound(arrays, remaining_s)
        together, apart = scored_pairs(problem, arrays.home, settings.score_factor)
        pairs = [*together, *apart]
        limit = settings.max_unit_load
        step = max(settings.unit_load_step, limit / _ROUNDS)
        seed = int(rng.integers(2**31))
        while limit > 0.0 and pairs and in_time(remaining_s):
            place = self._round(arrays, together, apart, limit, bound, seed, remaining_s)
            refusal = self._refusal(problem, arrays, pairs, place)
            near = arrays.distance(place) <= settings.max_distance
            # A unit's cost is a sum that was rounded, so the budget is looked at again.
            if near and not refusal and arrays.affords(place):
                break
            limit -= step
        else:
            place, _ = search(arrays, bound, MilpSettings(), rng, remaining_s)
            refusal = self._refusal(problem, arrays, pairs, place)
        if refusal:
            place = arrays.home
        without = refusal or "Nothing to bring together or to balance."
        return Placed(place, outcome(arrays, place, without), bound)

    def _refusal(self, problem: Problem, arrays: Arrays, pairs: list[Pair], place: Ints) -> str:
        """Why a placement is no progress over the present one; empty if it is, or if it is that.

        Every plan comes out ahead in a fixed order of aims, so a constant load comes to
        rest: otherwise one plan can undo for ever what another has done.
        """
        if np.array_equal(place, arrays.home):
            return ""

        def rank(at: Ints) -> tuple[int, float, float, float]:
            distance = arrays.distance(at)
            beyond = max(0.0, distance - self.settings.max_distance)
            inside = sum(p.rate for p in pairs if at[p.source] == at[p.target])
            return int((~arrays.keep[at]).sum()), round(beyond, 9), -inside, round(distance, 9)

        before, after = rank(arrays.home), rank(place)
        worse = after[0] == before[0] and after[3] > before[3]
        if after < before and not (
            worse and collocation(problem, place) <= collocation(problem, arrays.home)
        ):
            return ""
        change = brings("the load distance", f"{before[3]:.2f}", f"{after[3]:.2f}")
        return f"What was found {change} points and does not bring more traffic together."

    def _round(
        self,
        arrays: Arrays,
        together: list[Pair],
        apart: list[Pair],
        limit: float,
        bound: float,
        seed: int,
        remaining_s: Remaining | None,
    ) -> Ints:
        unit_of = _units(arrays, together, limit, seed)
        whole_budget = arrays.max_moves, arrays.max_cost
        unit_of, fixed = join_pairs(
            arrays,
            unit_of,
            apart,
            limit,
            self.settings.max_pairs,
            math.floor(whole_budget[0] * self.settings.budget_share),
            whole_budget[1] * self.settings.budget_share,
        )
        unit_of, renamed = renumber(unit_of), {}
        for item, target in fixed.items():
            renamed[int(unit_of[item])] = target
        small = merge_units(arrays, unit_of, sorted(renamed.items()))
        placed, _ = search(
            small,
            min(bound, small.distance(small.home)),
            MilpSettings(exact=0),
            np.random.default_rng(seed),
            None if remaining_s is None else Deadline(remaining_s),
        )
        return placed[unit_of]


def _units(arrays: Arrays, together: list[Pair], limit: float, seed: int) -> Ints:
    """The unit of every item: sets of collocated pairs, split where they are too large."""
    label = np.arange(len(arrays.load))
    edges: dict[int, dict[tuple[int, int], float]] = defaultdict(dict)
    sets = sets_of(len(label), together)
    for pair in together:
        edges[sets[pair.source]][pair.source, pair.target] = pair.rate
    members: dict[int, list[int]] = defaultdict(list)
    for item, group in enumerate(sets):
        members[group].append(item)
    for group, items in sorted(members.items()):
        if len(items) > 1:
            _split(arrays, items, edges[group], limit, seed, label)
    return label


def _split(
    arrays: Arrays,
    items: list[int],
    edges: dict[tuple[int, int], float],
    limit: float,
    seed: int,
    label: Ints,
) -> None:
    """Cut a set into parts that are within the limit and the budget, and label them.

    Every cut makes at least two parts of what it cuts, so it ends; how deep it goes is up
    to the data, hence a list of what is left to cut and no recursion.
    """
    waiting = [(items, edges)]
    while waiting:
        items, edges = waiting.pop()
        part_of = _parts(arrays, items, edges, limit, seed)
        for part in sorted(set(part_of)):
            chosen = [item for item, p in zip(items, part_of, strict=True) if p == part]
            if len(chosen) == len(items):
                label[items] = items[0]
            elif len(chosen) > 1:
                inside = set(chosen)
                kept = {e: rate for e, rate in edges.items() if e[0] in inside and e[1] in inside}
                waiting.append((chosen, kept))


def _parts(
    arrays: Arrays,
    items: list[int],
    edges: dict[tuple[int, int], float],
    limit: float,
    seed: int,
) -> list[int]:
    """The part of every item; one for all if together they are small enough."""
    points = 100.0 * arrays.load[items] / arrays.capacity[arrays.home[items]]
    by_load = float(points.sum()) / limit
    by_moves = len(items) / max(arrays.max_moves, 1)
    by_cost = float(arrays.cost[items].sum()) / max(arrays.max_cost, 1e-300)
    parts = math.ceil(min(max(by_load, by_moves, by_cost), len(items)) - 1e-9)
    if parts <= 1:
        return [0] * len(items)
    weights = points if by_load >= max(by_moves, by_cost) else arrays.cost[items]
    position = {item: at for at, item in enumerate(items)}
    inner = {(position[a], position[b]): rate for (a, b), rate in edges.items()}
    part_of = partition(weights.tolist(), inner, parts, seed)
    if len(set(part_of)) == 1:  # METIS may leave parts empty: cut by hand rather than for ever
        part_of = [at * parts // len(items) for at in range(len(items))]
    return part_of
