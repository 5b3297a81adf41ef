"""Pairs of items that exchange much: finding them, and choosing new ones to bring together."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.problem import Problem


class Pair(NamedTuple):
    """Two items by position and the traffic from the first to the second."""

    source: int
    target: int
    rate: float


def scored_pairs(problem: Problem, place: Ints, factor: float) -> tuple[list[Pair], list[Pair]]:
    """Pairs above `factor` times the mean rate of their first item: on one bin, and apart.

    The mean is over all slices of the operators that the item sends to, whether they
    receive rows or not: one that feeds 2 of 40 sends each far more than its share.
    Highest rate first.
    """
    position = {item.name: at for at, item in enumerate(problem.items)}
    sends: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for flow in problem.flows:
        if flow.rate > 0.0 and flow.source != flow.target:
            sends[position[flow.source]][position[flow.target]] += flow.rate
    operator = _operators(problem, sends)
    slices = Counter(operator)
    together: list[Pair] = []
    apart: list[Pair] = []
    for source, targets in sends.items():
        downstream = {operator[target] for target in targets}
        mean = sum(targets.values()) / sum(slices[name] for name in downstream)
        for target, rate in targets.items():
            if rate > mean * factor:
                same = place[source] == place[target]
                (together if same else apart).append(Pair(source, target, rate))
    for pairs in (together, apart):
        pairs.sort(key=lambda p: (-p.rate, p.source, p.target))
    return together, apart


def _operators(problem: Problem, sends: Mapping[int, Mapping[int, float]]) -> list[str]:
    """The operator of every item; where none is named, those equally far from a source are one."""
    named = [item.operator for item in problem.items]
    if all(named):
        return named
    fed = {target for targets in sends.values() for target in targets}
    depth = [0 if at not in fed else -1 for at in range(len(named))]
    waiting = deque(at for at, found in enumerate(depth) if found == 0)
    while waiting:
        source = waiting.popleft()
        for target in sends.get(source, ()):
            if depth[target] < 0:
                depth[target] = depth[source] + 1
                waiting.append(target)
    return [name or f"#{at}" for name, at in zip(named, depth, strict=True)]


def sets_of(count: int, pairs: list[Pair]) -> list[int]:
    """The connected set of every item, named by its smallest member.

    >>> sets_of(4, [Pair(0, 2, 1.0), Pair(2, 3, 1.0)])
    [0, 1, 0, 0]
    """
    parent = list(range(count))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for pair in pairs:
        a, b = root(pair.source), root(pair.target)
        parent[max(a, b)] = min(a, b)
    return [root(item) for item in range(count)]


def join_pairs(
    arrays: Arrays,
    unit_of: Ints,
    apart: list[Pair],
    limit: float,
    most_pairs: int,
    moves: int,
    cost: float,
) -> tuple[Ints, dict[int, int]]:
    """Join the units of the best new pairs as far as moves and cost go.

    Two single items, or two units, go to the emptier of their two bins; a single
    item goes to the unit. What would come to more than `limit` points stays apart: it
    would only be cut again. Returns the units and, by item, the bin it must go to.
    """
    unit_of = unit_of.copy()
    members: dict[int, list[int]] = defaultdict(list)
    for item, unit in enumerate(unit_of.tolist()):
        members[unit].append(item)
    load = arrays.bin_load(arrays.home)
    used = np.zeros_like(arrays.limit)
    np.add.at(used, arrays.home, arrays.used)
    fixed: dict[int, int] = {}
    pairs = 0
    for pair in apart:
        if pairs >= most_pairs or moves <= 0:
            break
        a, b = int(unit_of[pair.source]), int(unit_of[pair.target])
        if a == b or pair.source in fixed or pair.target in fixed:
            continue
        stays, goes = _direction(arrays, members[a], members[b], load)
        target, source = int(arrays.home[stays[0]]), int(arrays.home[goes[0]])
        size = float(arrays.load[goes].sum())
        price = float(arrays.cost[goes].sum())
        need = used[target] + arrays.used[goes].sum(axis=0)
        if (
            len(goes) > moves
            or price > cost
            or not arrays.movable[goes].all()
            or not arrays.keep[target]
            or 100.0 * (size + float(arrays.load[stays].sum())) > limit * arrays.capacity[target]
            or bool((need > arrays.limit[target]).any())
        ):
            continue
        moves, cost, pairs = moves - len(goes), cost - price, pairs + 1
        load[source] -= size
        load[target] += size
        used[source] -= arrays.used[goes].sum(axis=0)
        used[target] = need
        for item in goes:
            unit_of[item] = unit_of[stays[0]]
        for item in (*stays, *goes):
            fixed[item] = target
        members[int(unit_of[stays[0]])] = [*stays, *goes]
    return unit_of, fixed


def _direction(
    arrays: Arrays, a: list[int], b: list[int], load: np.ndarray
) -> tuple[list[int], list[int]]:
    """Which of two units stays and which goes."""
    if (len(a) > 1) != (len(b) > 1):
        return (a, b) if len(a) > 1 else (b, a)
    at_a, at_b = arrays.home[a[0]], arrays.home[b[0]]
    emptier_a = load[at_a] / arrays.capacity[at_a] <= load[at_b] / arrays.capacity[at_b]
    return (a, b) if (emptier_a and arrays.keep[at_a]) or not arrays.keep[at_b] else (b, a)
