"""What the Balance page shows: correlations, load distance, and every planner's plan."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Remaining, planner, planners
from weir.controllers.balancing.explain import explain
from weir.controllers.balancing.plan import Plan, plan_of
from weir.controllers.balancing.problem import Bin, Item, Problem
from weir.controllers.engine.propose.rings import RingOutlook
from weir.controllers.model.decision import Move, Reason
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.controllers.model.series import LoadSeries, correlation_matrix
from weir.controllers.model.words import are, by_number, number_of

HISTORY = 360
SHOWN = 60
"""Operators and clusters in the matrices: nobody reads more, and the work grows as the square."""
LARGE = 300
"""With more operators than this, not every planner is asked every time."""
Allow = Callable[[str], Remaining | None]
"""Starts the time limit of the planner of that name."""


class Matrix(Struct, frozen=True, kw_only=True):
    """Pearson's rho of every row with every column."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]  # None: too few periods to say
    periods: tuple[tuple[int, ...], ...] = ()  # that each value rests on


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
    periods: int = 0  # that the correlations rest on at most
    clusters: Matrix | None = None
    operators: Matrix | None = None
    operators_by_cluster: Matrix | None = None
    proposals: tuple[Proposal, ...] = ()
    left_out: dict[str, str] = {}  # planners that were not asked, and why
    distance: tuple[tuple[float, float], ...] = ()  # (time, load distance in points)
    drained: tuple[str, ...] = ()  # clusters that were to be emptied and are: they can be ended
    content_since: float | None = None  # the followed planner finds nothing worth a move
    rings: tuple[RingOutlook, ...] = ()  # of the operators that are sliced
    first_load: tuple[float, float] | None = None  # when all were first told, and the mean load

    @property
    def mean_load(self) -> float | None:
        """Mean load of the clusters, in points; None if it is not known."""
        if not self.proposals or self.problem.unknown:
            return None
        loads = self.proposals[0].plan.before.load.values()
        return sum(loads) / len(loads) if loads else None

    @property
    def load_index(self) -> float | None:
        """Mean load now over mean load at the start, as ALBIC has it."""
        now, first = self.mean_load, self.first_load
        return now / first[1] if now is not None and first is not None and first[1] > 0.0 else None

    def ring(self, operator: str) -> RingOutlook | None:
        """The ring of an operator; None if it is not sliced."""
        return next((r for r in self.rings if r.operator == operator), None)


def outlook(
    problem: Problem,
    now: float,
    *,
    wait: str,
    chosen: str,
    auto: bool,
    before: Outlook | None = None,
    turn: int = 0,
    allow: Allow | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Outlook:
    """Everything at once; planners that cannot answer say why in their words.

    In a large world only the chosen planner and one other are asked, each in its turn; what the
    others said before stands while the operators are where they were. `left_out` are planners
    that are not to be asked, and why; so are those that the world is too large for.
    """
    left_out = {**_too_large(problem), **(left_out or {})}
    series = {item.name: LoadSeries(item.series) for item in problem.items}
    operators, clusters = _fullest(series), _fullest(_of_bins(problem, series))
    proposals = _proposals(problem, chosen, before, turn, allow, left_out)
    distance: tuple[tuple[float, float], ...] = ()
    if proposals and not problem.unknown:
        distance = ((now, proposals[0].plan.before.load_distance),)
    view = Outlook(
        at=now,
        problem=problem,
        wait=wait,
        planner=chosen,
        auto=auto,
        periods=max((len(s.values) for s in series.values()), default=0),
        clusters=_square(clusters),
        operators=_square(operators),
        operators_by_cluster=_operators_by_cluster(problem, operators, clusters),
        proposals=proposals,
        left_out=left_out,
        distance=distance,
    )
    return continue_outlook(view, before)


def continue_outlook(view: Outlook, before: Outlook | None, told: bool = True) -> Outlook:
    """With the load distances of the view before it, and the load that it all began with.

    Both begin with the first view in which the load of every operator is `told`: while some
    are still starting, what the others do is neither the load nor how uneven it is.
    """
    first, past = (before.first_load, before.distance) if before is not None else (None, ())
    mean = view.mean_load
    if first is None and told and mean:
        first = (view.at, mean)
    fresh = view.distance if told or past else ()
    return replace(view, distance=(*past, *fresh)[-HISTORY:], first_load=first)


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

    >>> from weir.controllers.balancing.problem import Bin, Item
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
        allowed = problem.items[items[move.operator]].allowed
        if allowed is not None and move.target not in allowed:
            raise InvalidInput(f"{move.target} cannot run {move.operator}", field="target")
        place[items[move.operator]] = bins[move.target]
    return plan_of("by_hand", problem, arrays, place, Reason(text="Chosen by hand."))


def _proposals(
    problem: Problem,
    chosen: str,
    before: Outlook | None,
    turn: int,
    allow: Allow | None,
    left_out: Mapping[str, str],
) -> tuple[Proposal, ...]:
    names = list(planners())
    able = [name for name in names if name not in left_out]
    asked = set(able)
    if len(problem.items) > LARGE and able:
        asked &= {chosen, able[turn % len(able)]}
    still = before is not None and before.problem.placement == problem.placement
    known = {p.plan.planner: p for p in before.proposals} if before and still else {}
    found: list[Proposal] = []
    nothing = planner("no_op").plan(problem) if left_out else None
    for name in names:
        if name in left_out and nothing is not None:
            found.append(_nothing(name, nothing, f"Left out: {left_out[name]}."))
        elif name in asked:
            found.append(_proposal(name, problem, allow))
        elif name in known:
            found.append(known[name])
    return tuple(found)


def _too_large(problem: Problem) -> dict[str, str]:
    """The planners that would take too long this time, and why."""
    count = len(problem.items)
    return {
        name: f"{number_of(count, 'operator')} {are(count)} more than the {kind.most_items} up to which it is asked"
        for name, kind in planners().items()
        if count > kind.most_items
    }


def _fullest(series: Mapping[str, LoadSeries]) -> dict[str, LoadSeries]:
    """Those with the most load, if there are many."""
    if len(series) <= SHOWN:
        return dict(series)
    first = sorted(series, key=lambda name: (-series[name].mean, name))[:SHOWN]
    return {name: series[name] for name in first}


def _proposal(name: str, problem: Problem, allow: Allow | None) -> Proposal:
    try:
        plan = planner(name).plan(problem, remaining_s=allow(name) if allow else None)
    except WeirError as error:
        return _nothing(name, planner("no_op").plan(problem), str(error))
    label = planners()[name].label or name
    return Proposal(label=label, plan=plan, words=explain(plan, problem))


def _nothing(name: str, plan: Plan, words: str) -> Proposal:
    """The row of a planner that has no plan; `plan` is one that moves nothing."""
    plan = replace(plan, planner=name, reason=Reason(text=words))
    return Proposal(label=planners()[name].label or name, plan=plan, words=words)


def _of_bins(problem: Problem, series: Mapping[str, LoadSeries]) -> dict[str, LoadSeries]:
    """Load per capacity of every cluster over time; of one without operators it is 0."""
    nothing = LoadSeries((0.0,) * max((len(s.values) for s in series.values()), default=0))
    on: dict[str, list[LoadSeries]] = defaultdict(list)
    for item in problem.items:
        on[item.bin].append(series[item.name])
    found = {}
    for bin_ in problem.bins:
        inside = on[bin_.name]
        total = LoadSeries.total(inside) if inside else nothing
        found[bin_.name] = total.scaled(1.0 / bin_.capacity)
    return found


def _square(series: Mapping[str, LoadSeries]) -> Matrix:
    names = tuple(sorted(series, key=by_number))
    rows = [series[name] for name in names]
    lengths = [len(s.values) for s in rows]
    return _matrix(names, names, correlation_matrix(rows), np.minimum.outer(lengths, lengths))


def _operators_by_cluster(
    problem: Problem, series: Mapping[str, LoadSeries], of_bin: Mapping[str, LoadSeries]
) -> Matrix:
    """An operator against each cluster; against its own one, the others there."""
    columns = tuple(sorted(of_bin, key=by_number))
    on: dict[str, list[Item]] = defaultdict(list)
    for item in problem.items:
        on[item.bin].append(item)
    longest = max((len(i.series) for i in problem.items), default=0)
    rows = sorted(
        (i for i in problem.items if i.name in series), key=lambda item: by_number(item.name)
    )
    values = np.zeros((len(rows), len(columns)))
    shared = np.zeros((len(rows), len(columns)), dtype=int)
    for i, item in enumerate(rows):
        others = [LoadSeries(o.series) for o in on[item.bin] if o.name != item.name]
        rest = LoadSeries.total(others) if others else LoadSeries((0.0,) * longest)
        against = [rest if name == item.bin else of_bin[name] for name in columns]
        shared[i] = [min(len(item.series), len(other.values)) for other in against]
        values[i] = correlation_matrix([LoadSeries(item.series), *against])[0, 1:]
    return _matrix(tuple(i.name for i in rows), columns, values, shared)


def _matrix(
    rows: tuple[str, ...], columns: tuple[str, ...], values: np.ndarray, periods: np.ndarray
) -> Matrix:
    return Matrix(
        rows=rows,
        columns=columns,
        values=tuple(
            tuple(None if np.isnan(v) else round(float(v), 4) for v in row) for row in values
        ),
        periods=tuple(map(tuple, periods.tolist())),
    )
