"""A plan in words: why moving this from here to there helps, or that it does not."""

import numpy as np

from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Item, Problem
from weir.controllers.model.decision import Move
from weir.controllers.model.series import LoadSeries, correlation_matrix
from weir.controllers.model.words import brings, signed


def explain(plan: Plan, problem: Problem) -> str:
    """The reading aid: one sentence on the plan's weightiest move, one on the whole.

    >>> from weir.controllers.balancing.milp import Milp
    >>> from weir.controllers.balancing.problem import Bin
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.6, bin="a"), Item(name="y", load=0.5, bin="a")),
    ... )
    >>> print(explain(Milp().plan(problem), problem))
    Moving y from a to b helps because a carries 110 % of its capacity and b 0 %; \
after the plan they carry 60 % and 50 %. It brings the load distance from 55.0 to 5.0 points.
    """
    if not plan.moves:
        return plan.reason.text
    items = {item.name: item for item in problem.items}
    before, after = plan.before, plan.after
    # As precise as it is said below: what looks the same there is no help.
    evens = round(after.load_distance, 1) < round(before.load_distance, 1)
    empties = {m.operator for m in plan.moves if not evens and _is_emptied(problem, m.source)}
    move = max(plan.moves, key=lambda m: (m.operator in empties, items[m.operator].load))
    helps = evens or bool(empties)
    verb = "helps because" if helps else "does not help:"
    if not helps and after.collocation > before.collocation:
        helps, verb = True, "helps the traffic, not the balance:"
    reasons = [_load_reason(problem, plan, move)]
    if helps:
        reasons += _correlation_reason(problem, items, move)
        reasons += _traffic_reason(problem, plan, move)
    others = len(plan.moves) - 1
    total = f"With {others} more {'move' if others == 1 else 'moves'} it" if others else "It"
    was, is_ = f"{before.load_distance:.1f}", f"{after.load_distance:.1f}"
    return (
        f"Moving {move.operator} from {move.source} to {move.target} {verb} "
        f"{', and '.join(reasons)}; after the plan they carry {after.load[move.source]:.0f} % and "
        f"{after.load[move.target]:.0f} %. {total} {brings('the load distance', was, is_)} points."
    )


def _is_emptied(problem: Problem, name: str) -> bool:
    return any(b.name == name and not b.keep for b in problem.bins)


def _load_reason(problem: Problem, plan: Plan, move: Move) -> str:
    load = plan.before.load
    if _is_emptied(problem, move.source):
        return f"{move.source} is to be emptied and {move.target} carries {load[move.target]:.0f} %"
    return (
        f"{move.source} carries {load[move.source]:.0f} % of its capacity and "
        f"{move.target} {load[move.target]:.0f} %"
    )


def _correlation_reason(problem: Problem, items: dict[str, Item], move: Move) -> list[str]:
    """Whether its load rises with what stays behind more than with what it joins."""
    mine = items[move.operator].series
    if len(mine) < 2:
        return []
    rows = [LoadSeries(mine)]
    for place in (move.source, move.target):
        others = [
            LoadSeries(i.series)
            for i in problem.items
            if i.bin == place and i.name != move.operator and i.series
        ]
        rows.append(LoadSeries.total(others) if others else LoadSeries((0.0,) * len(mine)))
    with_source, with_target = correlation_matrix(rows)[0, 1:]
    if not np.round(with_source, 2) > np.round(with_target, 2):  # nor where one is not known
        return []
    return [
        f"its load rises and falls with the rest of {move.source} (correlation "
        f"{signed(with_source)}) more than with {move.target} ({signed(with_target)})"
    ]


def _traffic_reason(problem: Problem, plan: Plan, move: Move) -> list[str]:
    """Whether the plan brings it together with what it exchanges data with."""
    partners = sorted(
        {
            f.target if f.source == move.operator else f.source
            for f in problem.flows
            if move.operator in (f.source, f.target) and f.source != f.target and f.rate > 0
        }
    )
    met = [p for p in partners if plan.placement[p] == move.target]
    return [f"it exchanges data with {', '.join(met)} there"] if met else []
