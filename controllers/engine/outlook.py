"""What the Balance page shows: correlations, load distance, and every planner's plan."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from controllers.balancing.arrays import Arrays
from controllers.balancing.base import planner, planners
from controllers.balancing.explain import explain
from controllers.balancing.plan import Plan, plan_of
from controllers.balancing.problem import Bin, Item, Problem
from controllers.model.decision import Move, Reason
from controllers.model.errors import InvalidInput, WeirError
from controllers.model.series import LoadSeries, correlation_matrix

HISTORY = 360


class Matrix(Struct, frozen=True, kw_only=True):
    """Pearson's rho of every row with every column."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


class Proposal(Struct, frozen=True, kw_only=True):
    """One planner's plan for this moment, in figures and in words."""

    label: str
    plan: Plan
    words: str


class Outlook(Struct, frozen=True, kw_only=True):
    """The balance of load now, and what could be done about it."""

    at: float
    problem: Problem
    wait: str = ""  # why nothing is applied now
    planner: str = ""  # the one that the engine follows
    auto: bool = False
    periods: int = 0  # that the correlations rest on
    clusters: Matrix | None = None
    operators: Matrix | None = None
    operators_by_cluster: Matrix | None = None
    proposals: tuple[Proposal, ...] = ()
    distance: tuple[tuple[float, float], ...] = ()  # (time, load distance in points)


def outlook(
    problem: Problem,
    now: float,
    *,
    wait: str,
    chosen: str,
    auto: bool,
    before: Outlook | None = None,
) -> Outlook:
    """Everything at once; planners that cannot answer say why in their words."""
    series = {item.name: LoadSeries(item.series) for item in problem.items}
    bins = {bin_.name: bin_.capacity for bin_ in problem.bins}
    of_bin = {
        name: LoadSeries.total(series[i.name] for i in problem.items if i.bin == name).scaled(
            1.0 / capacity
        )
        for name, capacity in bins.items()
    }
    proposals = tuple(_proposal(name, problem) for name in planners())
    distance = (before.distance if before else ())[-HISTORY + 1 :]
    if proposals:
        distance = (*distance, (now, proposals[0].plan.before.load_distance))
    return Outlook(
        at=now,
        problem=problem,
        wait=wait,
        planner=chosen,
        auto=auto,
        periods=max((len(s.values) for s in series.values()), default=0),
        clusters=_square(of_bin),
        operators=_square(series),
        operators_by_cluster=_operators_by_cluster(problem, series, of_bin),
        proposals=proposals,
        distance=distance,
    )


def warm_up() -> None:
    """Let every planner plan once: the first time some of them compile for seconds."""
    bins = tuple(Bin(name=name, capacity=1.0) for name in ("a", "b", "c"))
    items = tuple(
        Item(name=f"i{k}", load=0.1 * (k + 1), bin="a", series=(0.1, 0.2 * k, 0.3))
        for k in range(6)
    )
    outlook(Problem(bins=bins, items=items), 0.0, wait="", chosen="", auto=False)


def by_hand(problem: Problem, moves: Sequence[Move]) -> Plan:
    """What moves that a person chose would bring.

    >>> from controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.5, bin="a"),),
    ... )
    >>> by_hand(problem, [Move(operator="x", source="a", target="b")]).after.load
    {'a': 0.0, 'b': 50.0}
    """
    arrays = Arrays.of(problem)
    items = {item.name: i for i, item in enumerate(problem.items)}
    bins = {bin_.name: i for i, bin_ in enumerate(problem.bins)}
    place = arrays.home.copy()
    for move in moves:
        if move.operator not in items:
            raise InvalidInput(f"there is no operator {move.operator} to move", field="operator")
        if move.target not in bins:
            raise InvalidInput(f"there is no cluster {move.target} to move to", field="target")
        place[items[move.operator]] = bins[move.target]
    return plan_of("by_hand", problem, arrays, place, Reason(text="Chosen by hand."))


def _proposal(name: str, problem: Problem) -> Proposal:
    kind = planners()[name]
    try:
        plan = planner(name).plan(problem)
        return Proposal(label=kind.label or name, plan=plan, words=explain(plan, problem))
    except WeirError as error:
        nothing = planner("no_op").plan(problem)
        return Proposal(label=kind.label or name, plan=nothing, words=str(error))


def _square(series: Mapping[str, LoadSeries]) -> Matrix:
    names = tuple(sorted(series))
    values = correlation_matrix([series[name] for name in names])
    return _matrix(names, names, values)


def _operators_by_cluster(
    problem: Problem, series: Mapping[str, LoadSeries], of_bin: Mapping[str, LoadSeries]
) -> Matrix:
    """An operator against each cluster; against its own one, without itself."""
    capacity = {bin_.name: bin_.capacity for bin_ in problem.bins}
    columns = tuple(sorted(of_bin))
    rows = sorted(problem.items, key=lambda i: i.name)
    values = np.zeros((len(rows), len(columns)))
    for i, item in enumerate(rows):
        for k, name in enumerate(columns):
            rest = of_bin[name]
            if item.bin == name:
                rest = rest - series[item.name].scaled(1.0 / capacity[name])
            values[i, k] = series[item.name].correlation(rest)
    return _matrix(tuple(i.name for i in rows), columns, values)


def _matrix(rows: tuple[str, ...], columns: tuple[str, ...], values: np.ndarray) -> Matrix:
    return Matrix(
        rows=rows,
        columns=columns,
        values=tuple(tuple(round(float(v), 4) for v in row) for row in values),
    )
