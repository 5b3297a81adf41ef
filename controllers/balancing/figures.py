"""What a placement is worth: the figures that stand before and after in every plan."""

import numpy as np
from msgspec import Struct

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.problem import Problem
from weir.controllers.model.series import LoadSeries, correlation_matrix


class PlanFigures(Struct, frozen=True, kw_only=True):
    """One placement in numbers; points are per cent of a bin's capacity."""

    load_distance: float  # points
    variance: float  # of the kept bins' loads, points squared
    load: dict[str, float]  # points, by bin
    correlation_sum: float  # over all pairs of kept bins
    collocation: float  # share of the traffic that stays on its bin
    left_on_draining: float  # load that is still on bins to be emptied


def figures(problem: Problem, arrays: Arrays, place: Ints) -> PlanFigures:
    """The figures of a placement (item position -> bin position)."""
    points = arrays.points(place)
    kept = points[arrays.keep]
    return PlanFigures(
        load_distance=arrays.distance(place),
        variance=float(kept.var()) if len(kept) else 0.0,
        load={b.name: float(p) for b, p in zip(problem.bins, points, strict=True)},
        correlation_sum=correlation_sum(problem, arrays, place),
        collocation=collocation(problem, place),
        left_on_draining=arrays.left(place),
    )


def bin_series(problem: Problem, place: Ints) -> list[LoadSeries]:
    """Load per capacity of every bin over time."""
    on: list[list[LoadSeries]] = [[] for _ in problem.bins]
    for item, position in zip(problem.items, place, strict=True):
        if item.series:
            on[position].append(LoadSeries(item.series))
    return [
        LoadSeries.total(found).scaled(1.0 / b.capacity)
        for found, b in zip(on, problem.bins, strict=True)
    ]


def correlation_sum(problem: Problem, arrays: Arrays, place: Ints) -> float:
    """Sum of rho over the pairs of kept bins where it is known; more means that they rise and fall together."""
    if not any([item.series for item in problem.items]):  # noqa: C419 - a list is faster
        return 0.0
    kept = [s for s, keep in zip(bin_series(problem, place), arrays.keep, strict=True) if keep]
    longest = max((len(s.values) for s in kept), default=0)
    # A bin without items has no series: it is constant, not a reason to compare nothing.
    kept = [s if s.values else LoadSeries((0.0,) * longest) for s in kept]
    return float(np.nansum(np.triu(correlation_matrix(kept), 1)))


def collocation(problem: Problem, place: Ints) -> float:
    """Share of the traffic whose two ends are on the same bin; 1 without traffic."""
    if not problem.flows:
        return 1.0
    position = {item.name: int(p) for item, p in zip(problem.items, place, strict=True)}
    total = sum(f.rate for f in problem.flows)
    if total <= 0.0:
        return 1.0
    stays = sum(f.rate for f in problem.flows if position[f.source] == position[f.target])
    return stays / total
