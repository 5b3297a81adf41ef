"""COLA: cuts the whole graph into balanced parts, from scratch each time."""

import heapq
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Struct

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.base import Placed, Planner, Remaining, in_time, outcome
from weir.controllers.balancing.deal import deal
from weir.controllers.balancing.graph import partition
from weir.controllers.balancing.problem import Problem
from weir.controllers.model.decision import Reason
from weir.controllers.model.settings import setting
from weir.controllers.model.words import number_of, quantity


class ColaSettings(Struct, frozen=True):
    """When the parts are balanced well enough to stop cutting."""

    max_distance: Annotated[
        float, setting("Cut on above this load distance", unit="points", ge=0)
    ] = 5.0


class Cola(Planner):
    """Everything in one part; cut the heaviest part in two, along the least traffic,
    until the parts, dealt out to the bins largest first, are within the distance.

    It looks at where items are only to break ties, so it moves nearly all of them.
    It is meant for a first placement: if that is beyond the budget, nothing moves.

    >>> from weir.controllers.balancing.problem import Bin, Flow, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=tuple(Item(name=n, load=0.2, bin=b) for n, b in zip("wxyz", "abab")),
    ...     flows=(Flow(source="w", target="x", rate=9.0), Flow(source="y", target="z", rate=5.0)),
    ... )
    >>> Cola().plan(problem).after.collocation
    1.0

    Khandekar et al., COLA: Optimizing stream processing applications via graph
    partitioning, Middleware 2009, as described in Madsen et al., ICDE 2017.
    """

    name: ClassVar[str] = "cola"
    label: ClassVar[str] = "COLA"
    most_items: ClassVar[int] = 3000
    Settings: ClassVar[type[Struct]] = ColaSettings

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """Cut, deal out, look; and again with one more part."""
        seed = int(rng.integers(2**31))
        edges = _edges(problem)
        free = np.flatnonzero(arrays.movable)
        heap = [(-float(arrays.load[free].sum()), int(free[0]), free)]
        place = deal(arrays, [p for *_, p in sorted(heap)])
        best = place
        # Each round makes one part more, and there are never more parts than items.
        while arrays.distance(place) > self.settings.max_distance and in_time(remaining_s):
            if len(heap[0][2]) < 2:
                break
            _, _, heaviest = heapq.heappop(heap)
            for part in _cut(arrays, heaviest, edges, seed):
                heapq.heappush(heap, (-float(arrays.load[part].sum()), int(part[0]), part))
            place = deal(arrays, [p for *_, p in sorted(heap)])
            if arrays.distance(place) < arrays.distance(best):
                best = place
        if not arrays.affords(best):
            moves, cost = arrays.spent(best)
            text = f"Placing everything anew takes {number_of(moves, 'move')} of cost {quantity(cost)}, beyond the budget."
            return Placed(
                arrays.home,
                Reason(
                    text=text, rule="moves <= budget", numbers={"moves": float(moves), "cost": cost}
                ),
            )
        return Placed(best, outcome(arrays, best, "Everything is where this planner puts it."))


def _edges(problem: Problem) -> list[dict[int, float]]:
    """By item: where it sends how much."""
    position = {item.name: at for at, item in enumerate(problem.items)}
    edges: list[dict[int, float]] = [{} for _ in problem.items]
    for flow in problem.flows:
        if flow.rate > 0.0:
            to = edges[position[flow.source]]
            to[position[flow.target]] = to.get(position[flow.target], 0.0) + flow.rate
    return edges


def _cut(arrays: Arrays, items: Ints, edges: list[dict[int, float]], seed: int) -> list[Ints]:
    """Items in two parts of about the same load."""
    position = {int(item): at for at, item in enumerate(items)}
    inner = {
        (at, position[other]): rate
        for item, at in position.items()
        for other, rate in edges[item].items()
        if other in position
    }
    part_of = np.array(partition(arrays.load[items].tolist(), inner, 2, seed))
    found = [items[part_of == part] for part in np.unique(part_of)]
    if len(found) == 1 and len(items) > 1:  # METIS may leave a part empty
        return [items[: len(items) // 2], items[len(items) // 2 :]]
    return found
