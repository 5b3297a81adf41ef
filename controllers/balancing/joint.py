"""One plan for size and place: the cheapest sizes and places of all clusters together.

Clusters' scalers say how many executors each needs for what it runs now; planners say where
operators could be. Neither knows what the other could save: two cores that one cluster lacks
and another has to spare are one move, not two changes of size. So every placement that a
planner proposes, and every single move, is tried with the sizes that go with it, and the
cheapest wins. In executors:

    executors + moves x MOVE + changes of size x STEP
        + RISK x cores x (load - CALM)^2 for every cluster above CALM
        + OVER per core of work above the limit, and LATE per part of the target missed

Beside the winner stand what balancing alone, scaling alone and doing nothing would come to.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from weir.controllers.balancing.latency import Timing, latency_s
from weir.controllers.balancing.problem import Item, Problem
from weir.controllers.model.decision import Move

MOVE = 0.25  # an operator stands still for seconds, and its state is loaded again
STEP = 0.25  # executors start and stop, and every action unsettles a cluster
CALM, RISK = 0.5, 4.0
OVER, LATE = 10.0, 2.0
STAYS = 0.5  # another plan must be better by this than the one that people look at
UTILISATION_IN = 0.6  # after a move away, so full a smaller cluster may be
SEARCHED = 300  # items; with more of them only the planners' placements are tried


class Way(StrEnum):
    """What an option changes."""

    BOTH = "size and place"
    PLACE = "balance only"
    SIZE = "scale only"
    NOTHING = "do nothing"


class ClusterSize(Struct, frozen=True, kw_only=True):
    """A cluster as something whose size can be chosen."""

    name: str
    executors: int
    cores: int = 1  # of an executor
    low: int = 1
    high: int = 1
    wanted: int | None = None  # by its scaler, for what it runs now; None: content


class Option(Struct, frozen=True, kw_only=True):
    """One way to go on, and what it comes to."""

    way: Way
    moves: tuple[Move, ...] = ()
    sizes: dict[str, int] = {}  # of the clusters that change
    before: dict[str, int] = {}  # their present sizes
    executors: int = 0  # over all clusters
    latency_s: float | None = None  # of the slowest operator; None: not known or without end
    pause_s: float = 0.0
    load: float = 0.0  # per core, of the fullest cluster
    cost: float = 0.0  # in executors


class JointProblem(Struct, frozen=True, kw_only=True):
    """All that the search looks at."""

    problem: Problem
    sites: dict[str, ClusterSize]
    timings: dict[str, Timing] = {}
    target_s: float | None = None
    limit: float = 0.8  # load per core that a cluster is to stay below
    most_executors: int | None = None  # over all clusters


def best_options(
    question: JointProblem,
    placements: Iterable[Mapping[str, str]],
    *,
    may_move: bool = True,
    search: bool = True,
    proposed: tuple[Move, ...] = (),
) -> tuple[Option, ...]:
    """The best option first, then the other ways, each once.

    Without `search` only the given placements are tried. What is `proposed` to people already stays until another option is better by `STAYS`.

    >>> from weir.controllers.balancing.problem import Bin
    >>> problem = Problem(
    ...     bins=(Bin(name="wide", capacity=2.0), Bin(name="narrow", capacity=1.0)),
    ...     items=(Item(name="x", load=0.3, bin="wide"), Item(name="y", load=0.5, bin="narrow"),
    ...            Item(name="z", load=0.6, bin="narrow")))
    >>> sites = {"wide": ClusterSize(name="wide", executors=2, high=4, wanted=1),
    ...          "narrow": ClusterSize(name="narrow", executors=1, high=4, wanted=2)}
    >>> found = best_options(JointProblem(problem=problem, sites=sites), [])
    >>> [(o.way.value, len(o.moves), o.sizes) for o in found][:2]
    [('balance only', 1, {}), ('scale only', 0, {'wide': 1, 'narrow': 2})]
    """
    home = question.problem.placement
    found = [
        _option(question, home, {}),
        _option(question, home, _sizes(question, home)),
    ]
    if may_move:
        tried = [dict(p) for p in placements]
        if search and len(home) <= SEARCHED:
            tried += _single_moves(question.problem)
            best = min(
                (_option(question, p, _sizes(question, p)) for p in tried),
                key=_rank,
                default=None,
            )
            most = question.problem.budget.moves
            if best is not None and best.moves and (most is None or most >= 2):
                placed = home | {m.operator: m.target for m in best.moves}
                tried += [placed | p for p in _changes(question.problem, best)]
        for place in tried:
            for sizes in (_sizes(question, place), {}):
                found.append(_option(question, place, sizes))
    found = [o for o in found if _affords(question, o)]
    by_way: dict[Way, Option] = {}
    for option in sorted(found, key=lambda o: _rank(o, proposed)):
        by_way.setdefault(option.way, option)
    return tuple(sorted(by_way.values(), key=lambda o: _rank(o, proposed)))


def _rank(option: Option, proposed: tuple[Move, ...] = ()) -> tuple[float, int, int, str]:
    stays = STAYS if proposed and set(option.moves) == set(proposed) else 0.0
    return (
        round(option.cost - stays, 6),
        len(option.moves) + len(option.sizes),
        option.executors,
        option.way,
    )


def _single_moves(problem: Problem) -> list[dict[str, str]]:
    home = problem.placement
    return [
        home | {item.name: target} for item in problem.items for target in _targets(problem, item)
    ]


def _changes(problem: Problem, best: Option) -> list[dict[str, str]]:
    moved = {m.operator for m in best.moves}
    return [
        {item.name: target}
        for item in problem.items
        if item.name not in moved
        for target in _targets(problem, item)
    ]


def _targets(problem: Problem, item: Item) -> list[str]:
    if item.pinned:
        return []
    return [
        b.name
        for b in problem.bins
        if b.keep and b.name != item.bin and (item.allowed is None or b.name in item.allowed)
    ]


def _sizes(question: JointProblem, place: Mapping[str, str]) -> dict[str, int]:
    """The size of every cluster that should have another one, with operators placed so.

    A scaler's answer holds for what its cluster runs now. Where that changes, the load per
    executor that it asked for goes along with the operators.
    """
    now, then = _loads(question, question.problem.placement), _loads(question, place)
    sizes: dict[str, int] = {}
    for name, site in question.sites.items():
        asked = site.executors if site.wanted is None else site.wanted
        if abs(then[name] - now[name]) > 1e-12:
            asked = _new_size(site, now[name], then[name], question.limit)
        asked = min(max(asked, site.low), site.high)
        if asked != site.executors:
            sizes[name] = asked
    return sizes


def _new_size(site: ClusterSize, now: float, then: float, limit: float) -> int:
    full = limit
    if site.wanted and now > 0.0:
        full = min(max(now / (site.wanted * site.cores), UTILISATION_IN), limit)
    least = math.ceil(then / (site.cores * full) - 1e-9)
    calm = math.ceil(then / (site.cores * UTILISATION_IN) - 1e-9)
    if then > now or least >= site.executors:
        return max(least, site.executors) if site.wanted is None else max(least, 1)
    return max(1, min(calm, site.executors))


def _loads(question: JointProblem, place: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for item in question.problem.items:
        found[place[item.name]] += item.load
    return found


def _option(question: JointProblem, place: Mapping[str, str], sizes: Mapping[str, int]) -> Option:
    problem = question.problem
    moves = tuple(
        Move(operator=i.name, source=i.bin, target=place[i.name])
        for i in problem.items
        if place[i.name] != i.bin
    )
    loads = _loads(question, place)
    on: dict[str, list[Item]] = defaultdict(list)
    for item in problem.items:
        on[place[item.name]].append(item)
    executors, cost, fullest, slowest = 0, 0.0, 0.0, 0.0
    for name, site in question.sites.items():
        size = sizes.get(name, site.executors)
        cores = max(size * site.cores, 1)
        load = loads[name] / cores
        executors += size
        fullest = max(fullest, load)
        cost += RISK * cores * max(0.0, load - CALM) ** 2
        cost += OVER * cores * max(0.0, load - question.limit)
        for item in on[name]:
            timing = question.timings.get(item.name)
            if timing is not None:
                waits = latency_s(item.load, loads[name] - item.load, cores, timing)
                slowest = max(slowest, waits)
    left = sum(1 for b in problem.bins if not b.keep for _ in on[b.name])
    cost += executors + STEP * len(sizes) + MOVE * len(moves) + OVER * left
    if question.target_s and slowest > question.target_s:
        cost += LATE * (min(slowest / question.target_s, 10.0) - 1.0)
    costs = {i.name: i.move_cost for i in problem.items}
    pause = problem.pause
    way = (Way.BOTH if sizes else Way.PLACE) if moves else (Way.SIZE if sizes else Way.NOTHING)
    return Option(
        way=way,
        moves=moves,
        sizes=dict(sizes),
        before={name: question.sites[name].executors for name in sizes},
        executors=executors,
        latency_s=slowest if 0.0 < slowest < math.inf else None,
        pause_s=sum(pause.base_s + pause.s_per_cost * costs[m.operator] for m in moves),
        load=fullest,
        cost=cost,
    )


def _affords(question: JointProblem, option: Option) -> bool:
    """Within the budget of moves and the executors that there may be over all clusters."""
    costs = {i.name: i.move_cost for i in question.problem.items}
    spent = sum(costs[m.operator] for m in option.moves)
    larger = [name for name, n in option.sizes.items() if n > question.sites[name].executors]
    most = question.most_executors
    within = most is None or not larger or option.executors <= most
    # More executors only where a scaler asks for them: it knows the load to come.
    asked = all(
        (question.sites[name].wanted or 0) > question.sites[name].executors for name in larger
    )
    return within and asked and question.problem.budget.allows(len(option.moves), spent)
