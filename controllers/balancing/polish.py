"""The optimisation model itself, for HiGHS: whole for few items, or for a few bins.

Binaries x[i, k] put item i on bin k; minimise d with, for the bins at hand,
load_k - mean <= over, mean - load_k <= under, both at most d, moves and cost within
the budget, and ever smaller weights on over + under, on moves and on what is left on
bins to be emptied. The paper's d_u and d_l are d - over and d - under.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from weir.controllers.balancing.arrays import Arrays, Ints

_SIDES_WEIGHT = 1e-2  # of over + under: a side is tightened only where d allows it
_MOVE_WEIGHT = 1e-4  # points per move: ties go to fewer moves
_LEFT_WEIGHT = 1e-3  # per share of the load that stays on bins to be emptied
_NODES = 2000  # of the search tree; the same on every machine, unlike a time limit


@dataclass(frozen=True)
class Solved:
    """A placement and what is proven about the load distance."""

    place: Ints
    bound: float
    optimal: bool


def solve(arrays: Arrays, seconds: float = float("inf")) -> Solved:
    """The whole problem, for few items and bins.

    >>> from weir.controllers.balancing.problem import Bin, Item, Problem
    >>> arrays = Arrays.of(Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.5, bin="a"), Item(name="y", load=0.5, bin="a"))))
    >>> solve(arrays).place.tolist() in ([0, 1], [1, 0])
    True
    """
    items = np.arange(len(arrays.load))
    bins = np.arange(len(arrays.capacity))
    place, bound, optimal = _solve(arrays, arrays.home, items, bins, seconds)
    if place is None:
        return Solved(arrays.home, bound, optimal=False)
    return Solved(place, bound, optimal)


def polish(
    arrays: Arrays, place: Ints, random: np.ndarray, seconds: float, bins: int = 5
) -> Ints | None:
    """A better placement of the items on a few bins, or None.

    The bins: the one farthest out, half of the others from the far end of the
    other side, the rest at random. None as well if the time ends in between.
    """
    dev = arrays.points(place) - 100.0 * arrays.target
    kept = np.flatnonzero(arrays.keep)
    worst = kept[np.argmax(np.abs(dev[kept]))]
    others = kept[kept != worst]
    opposite = others[np.argsort(dev[others] * np.sign(dev[worst]), kind="stable")]
    rng = np.random.default_rng(int(random[0] >> np.uint64(1)))
    chosen = [worst, *opposite[: bins // 2]]
    rest = rng.permutation(opposite[bins // 2 :])[: bins - len(chosen)]
    group = np.array(sorted([*chosen, *rest]), dtype=np.int64)
    items = np.flatnonzero(np.isin(place, group) & arrays.movable)
    if not len(items) or len(items) * len(group) > 1500 or arrays.used.shape[1]:
        return None
    return _solve(arrays, place, items, group, seconds)[0]


def _solve(
    arrays: Arrays, place: Ints, items: Ints, bins: Ints, seconds: float
) -> tuple[Ints | None, float, bool]:
    """Re-place `items` on `bins`, everything else as in `place`; a bound; whether it is proven."""
    n, m = len(items), len(bins)
    binaries = n * m
    bin_of = np.tile(np.arange(m), n)
    item_of = np.repeat(np.arange(n), m)
    target, home = bins[bin_of], arrays.home[items][item_of]
    moves = (target != home) * arrays.weight[items][item_of]
    fixed = np.setdiff1d(np.arange(len(arrays.load)), items)
    fixed_load = np.bincount(
        place[fixed], weights=arrays.load[fixed], minlength=len(arrays.capacity)
    )[bins]
    scale = 100.0 / arrays.capacity[bins]
    mean = 100.0 * arrays.target
    load = arrays.load[items][item_of]
    keep = arrays.keep[bins]

    upper = np.ones(binaries + 3)  # then d, over, under
    upper[binaries:] = np.inf
    forbidden = (moves > 0) & (~arrays.keep[target] | ~arrays.movable[items][item_of])
    upper[:binaries][forbidden] = 0.0

    rows, columns, values = [item_of], [np.arange(binaries)], [np.ones(binaries)]
    low, high = [np.ones(n)], [np.ones(n)]
    row = n
    for side, sign in ((binaries + 1, 1.0), (binaries + 2, -1.0)):  # sign * (load - mean) <= side
        rows += [row + bin_of, row + np.arange(m)]
        columns += [np.arange(binaries), np.full(m, side)]
        values += [sign * load * scale[bin_of] * keep[bin_of], np.full(m, -1.0)]
        rest = sign * (mean - fixed_load * scale)
        low.append(np.full(m, -np.inf))
        high.append(np.where(keep, rest, np.inf))
        row += m
        rows.append(np.full(2, row))  # side <= d
        columns.append(np.array([side, binaries]))
        values.append(np.array([1.0, -1.0]))
        low.append(np.array([-np.inf]))
        high.append(np.array([0.0]))
        row += 1
    spent_moves = float(arrays.weight[fixed][place[fixed] != arrays.home[fixed]].sum())
    rows.append(np.full(binaries, row))
    columns.append(np.arange(binaries))
    values.append(moves)
    low.append(np.array([-np.inf]))
    high.append(np.array([arrays.max_moves - spent_moves]))
    row += 1
    if np.isfinite(arrays.max_cost):
        spent = float(arrays.cost[fixed][place[fixed] != arrays.home[fixed]].sum())
        rows.append(np.full(binaries, row))
        columns.append(np.arange(binaries))
        values.append(moves * arrays.cost[items][item_of])
        low.append(np.array([-np.inf]))
        high.append(np.array([arrays.max_cost - spent]))
        row += 1
    for r in range(arrays.used.shape[1]):
        taken = np.bincount(
            place[fixed], weights=arrays.used[fixed, r], minlength=len(arrays.capacity)
        )[bins]
        rows.append(row + bin_of)
        columns.append(np.arange(binaries))
        values.append(arrays.used[items, r][item_of])
        low.append(np.full(m, -np.inf))
        high.append(arrays.limit[bins, r] - taken)
        row += m
    matrix = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(row, binaries + 3),
    ).tocsc()
    objective = np.zeros(binaries + 3)
    objective[:binaries] = _MOVE_WEIGHT * moves
    total = float(arrays.load.sum())
    if total > 0.0:
        objective[:binaries] += _LEFT_WEIGHT * (~keep[bin_of]) * load / total
    objective[binaries:] = 1.0, _SIDES_WEIGHT, _SIDES_WEIGHT
    limits: dict[str, float | bool] = {"node_limit": _NODES, "mip_rel_gap": 1e-6}
    if np.isfinite(seconds):
        limits["time_limit"] = max(seconds, 0.01)
    answer = milp(
        objective,
        integrality=np.append(np.ones(binaries), np.zeros(3)),
        bounds=Bounds(np.zeros(binaries + 3), upper),
        constraints=LinearConstraint(matrix, np.concatenate(low), np.concatenate(high)),
        options=limits,
    )
    proven = getattr(answer, "mip_dual_bound", None)
    # The objective counts moves, leftovers and both sides too: the rest of the bound is for d,
    # of which neither side is more.
    weights = _MOVE_WEIGHT * min(arrays.max_moves, arrays.weight[items].sum()) + _LEFT_WEIGHT
    least = 0.0 if proven is None else (float(proven) - weights) / (1.0 + 2.0 * _SIDES_WEIGHT)
    bound = max(0.0, least)
    if answer.x is None or (answer.status == 1 and np.isfinite(seconds) and answer.mip_gap > 1e-6):
        return None, bound if np.isfinite(bound) else 0.0, False
    result = place.copy()
    result[items] = bins[np.argmax(answer.x[:binaries].reshape(n, m), axis=1)]
    holds = arrays.affords(result) and _resources_hold(arrays, result)
    return (result if holds else None), bound, answer.status == 0


def _resources_hold(arrays: Arrays, place: Ints) -> bool:
    used = np.zeros_like(arrays.limit)
    np.add.at(used, place, arrays.used)
    return bool((used <= arrays.limit * (1 + 1e-9)).all())
