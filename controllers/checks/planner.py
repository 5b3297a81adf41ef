"""Checks that every planner passes, without any test framework.

>>> from weir.controllers.balancing.base import planner
>>> check_planner(planner("static_greedy"))
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from weir.controllers.balancing.base import Planner
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem, resource_map
from weir.controllers.checks import require
from weir.controllers.model.errors import InvalidInput

SEEDS = range(12)
ROUNDING = 1e-9


def check_planner(planner: Planner, *, seed: int = 0) -> None:
    """The same seed gives the same plan; every plan holds to the rules; nonsense is refused."""
    for name, problem in problems():
        plan = planner.plan(problem, seed=seed)
        check_plan(problem, plan, name)
        again = planner.plan(problem, seed=seed)
        require(plan == again, f"{name}: two plans with one seed differ")
    for name, problem in unplannable():
        plan = planner.plan(problem, seed=seed)
        require(not plan.moves, f"{name}: it moves something where nothing is to be planned")
        require(bool(plan.reason.text), f"{name}: it does not say why it moves nothing")
    _refuses_nonsense(planner)
    _stops_in_time(planner)


def check_plan(problem: Problem, plan: Plan, name: str = "plan") -> None:
    """Nothing lost or doubled, the budget kept, every item where it may be, figures that agree."""
    items = {i.name: i for i in problem.items}
    keep = {b.name: b.keep for b in problem.bins}
    require(set(plan.placement) == set(items), f"{name}: it loses or invents an item")
    times = Counter(m.operator for m in plan.moves)
    require(max(times.values(), default=1) == 1, f"{name}: it moves an item twice")
    for item in problem.items:
        away = plan.placement[item.name] != item.bin
        require(away == (item.name in times), f"{name}: moves and placement of {item.name} differ")
    for move in plan.moves:
        item = items[move.operator]
        require(item.bin == move.source, f"{name}: {item.name} is not in {move.source}")
        require(
            plan.placement[item.name] == move.target, f"{name}: {item.name} ends somewhere else"
        )
        require(keep[move.target], f"{name}: {item.name} goes to a bin that is to be emptied")
        require(not item.pinned, f"{name}: {item.name} is pinned")
        may = item.allowed is None or move.target in item.allowed
        require(may, f"{name}: {item.name} may not be in {move.target}")
    cost = math.fsum(items[m.operator].move_cost for m in plan.moves)
    require(problem.budget.allows(len(plan.moves), cost), f"{name}: it goes over the budget")
    require(_close(plan.migration_cost, cost), f"{name}: its cost is not that of its moves")
    require(bool(plan.reason.text), f"{name}: it gives no reason")
    loads = math.fsum(plan.after.load[b.name] * b.capacity for b in problem.bins)
    total = 100.0 * math.fsum(i.load for i in problem.items)
    require(_close(loads, total), f"{name}: load appears or is lost")
    if plan.bound is not None:
        low = plan.bound <= plan.after.load_distance + ROUNDING
        require(low, f"{name}: its plan is better than its bound")
    _keeps_resources(problem, plan, name)


def problems() -> Iterator[tuple[str, Problem]]:
    """Problems of all kinds, the same each time: pinned, draining, tight, uneven, with flows."""
    for seed in SEEDS:
        yield f"random problem {seed}", random_problem(seed)
    yield "constant load", _of([[20.0, 20.0], [20.0]], series=True)
    yield "a bin to be emptied", _of([[9.0, 0.0], [1.0]], keep=(False, True))


def unplannable() -> Iterator[tuple[str, Problem]]:
    """Problems in which there is nothing to plan."""
    yield "empty", Problem(bins=(), items=())
    yield "no items", _of([[], []])
    yield "a single bin", _of([[1.0, 2.0]])
    yield "no load", _of([[0.0, 0.0], [0.0]])
    yield "no moves allowed", replace(_of([[9.0, 1.0], []]), budget=Budget(moves=0))
    yield "nowhere to go", _of([[9.0], [1.0]], keep=(False, False))
    one = _of([[60.0, 30.0], []])
    unknown = replace(one.items[1], known=False)
    yield "a load that is not known", replace(one, items=(one.items[0], unknown))


def random_problem(seed: int) -> Problem:
    """A few items on a few bins, with whatever a problem may say."""
    rng = np.random.default_rng(seed)
    bins = [f"b{k}" for k in range(rng.integers(2, 6))]
    names = [f"i{k}" for k in range(rng.integers(1, 24))]
    limited = seed % 3 == 0
    made = tuple(
        Item(
            name=name,
            load=float(rng.choice([0.0, rng.uniform(0.01, 60.0)], p=[0.1, 0.9])),
            bin=str(rng.choice(bins)),
            move_cost=float(rng.uniform(0.0, 10.0)),
            series=tuple(rng.uniform(0.0, 60.0, 4).tolist()),
            resources={"memory": float(rng.uniform(0.0, 40.0))} if limited else {},
            pinned=bool(rng.random() < 0.1),
            allowed=tuple(bins[:2]) if rng.random() < 0.1 else None,
        )
        for name in names
    )
    return Problem(
        bins=tuple(
            Bin(
                name=name,
                capacity=float(rng.choice([1.0, 4.0, 100.0])),
                keep=k == 0 or bool(rng.random() < 0.8),
                resources={"memory": 80.0} if limited else None,
            )
            for k, name in enumerate(bins)
        ),
        items=made,
        flows=tuple(
            Flow(source=str(a), target=str(b), rate=float(rng.uniform(0.0, 10.0)))
            for a, b in (rng.choice(names, 2) for _ in range(len(names) // 2))
        ),
        budget=Budget(
            moves=int(rng.integers(0, 7)) if seed % 2 else None,
            cost=float(rng.uniform(0.0, 60.0)) if seed % 4 == 0 else None,
        ),
    )


def _of(
    loads: list[list[float]], keep: tuple[bool, ...] | None = None, series: bool = False
) -> Problem:
    return Problem(
        bins=tuple(
            Bin(name=f"b{i}", capacity=100.0, keep=keep is None or keep[i])
            for i in range(len(loads))
        ),
        items=tuple(
            Item(name=f"b{i}i{k}", load=load, bin=f"b{i}", series=(load,) * 4 if series else ())
            for i, row in enumerate(loads)
            for k, load in enumerate(row)
        ),
    )


def _keeps_resources(problem: Problem, plan: Plan, name: str) -> None:
    """No bin gets more of a resource than it has, unless it had more before."""
    before, after = _used(problem, problem.placement), _used(problem, plan.placement)
    for b in problem.bins:
        for resource, limit in resource_map(b.resources).items():
            most = max(limit, before[b.name, resource])
            kept = after[b.name, resource] <= most * (1.0 + ROUNDING)
            require(kept, f"{name}: {b.name} gets more {resource} than it has")


def _used(problem: Problem, placement: dict[str, str]) -> dict[tuple[str, str], float]:
    total: dict[tuple[str, str], float] = defaultdict(float)
    for item in problem.items:
        for resource, amount in resource_map(item.resources).items():
            total[placement[item.name], resource] += amount
    return total


def _refuses_nonsense(planner: Planner) -> None:
    good = _of([[1.0, 2.0], [3.0]])
    for bad in (math.nan, math.inf, -1.0):
        item = replace(good.items[0], load=bad)
        try:
            planner.plan(replace(good, items=(item, *good.items[1:])))
        except InvalidInput:
            continue
        require(False, f"a load of {bad} is not refused")


def _stops_in_time(planner: Planner) -> None:
    """With no time left it answers with the best that it has, and that holds to the rules."""
    problem = random_problem(3)
    check_plan(problem, planner.plan(problem, remaining_s=lambda: 0.0), "without time")


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
