"""A sizing question as people write it down, and its answer.

    {"operators": [{"name": "extract", "lambda": 13, "mu": 1.9, "ca2": 1, "cs2": 1}, ...],
     "external": {"extract": 13},
     "routing": [{"from": "extract", "to": "match", "share": 10}]}

Rates are rows per second, `mu` is of one processor while it is busy. A `lambda` that
is given is taken as measured, and must not contradict `external` and `routing`; one that
is left out (or 0) follows from them. `share` is rows sent per row that arrives. ca2 and
cs2 default to 1.
"""

from collections.abc import Callable
from math import ceil, isfinite

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import UNREADABLE, InvalidInput
from weir.controllers.scaling.drs.allocate import (
    LARGEST,
    Allocation,
    assign_processors,
    min_processors,
)
from weir.controllers.scaling.drs.network import Network, Station, arrival_rates, check_loops

_MOST_VARIED = 1e12  # of ca2 and cs2; beyond it the waiting time is no number any more
_AGREES = 0.05  # a measured rate may be off by so much
_UNKNOWN = "Object contains unknown field `"


class OperatorSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operator of the question."""

    name: str
    mu: float
    arrivals: float | None = msgspec.field(name="lambda", default=None)
    ca2: float | None = None
    cs2: float | None = None


class Route(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows that one operator sends to another, per row that arrives."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    share: float = 1.0


class SizingProblem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole question."""

    operators: tuple[OperatorSpec, ...]
    external: dict[str, float] = {}
    routing: tuple[Route, ...] = ()


class SizingAnswer(Struct, frozen=True, kw_only=True):
    """Processors of each operator and what they bring."""

    allocation: dict[str, int]
    total: int
    sojourn_s: float
    sojourn_by_operator: dict[str, float]
    utilisation: dict[str, float]


def read_problem(raw: bytes | str) -> SizingProblem:
    """The question from its JSON; an `InvalidInput` names the field that is wrong."""
    try:
        return msgspec.json.decode(raw, type=SizingProblem)
    except UNREADABLE as error:  # also ValidationError
        text, _, at = str(error).partition(" - at `$")
        field = at.strip("`.") or "problem"
        if text.startswith(_UNKNOWN):
            field = f"{field}.{text.removeprefix(_UNKNOWN).rstrip('`')}"
            text = "there is no such field"
        raise InvalidInput(f"{field}: {text}", field=field) from None


def network_of(problem: SizingProblem) -> Network:
    """The queueing network of a question.

    >>> text = '{"operators": [{"name": "a", "mu": 4}], "external": {"a": 10}}'
    >>> network_of(read_problem(text)).stations[0].arrivals
    10.0
    """
    _check(problem)
    names = [o.name for o in problem.operators]
    routing: dict[tuple[str, str], float] = {}
    for r in problem.routing:
        routing[r.source, r.target] = routing.get((r.source, r.target), 0.0) + r.share
    check_loops(names, routing)
    _check_rates(problem, arrival_rates(names, problem.external, routing))
    known = {o.name: o.arrivals for o in problem.operators if o.arrivals}
    rates = arrival_rates(names, problem.external, routing, known)
    stations = tuple(
        Station(
            name=o.name,
            arrivals=rates[o.name],
            rate=o.mu,
            ca2=1.0 if o.ca2 is None else o.ca2,
            cs2=1.0 if o.cs2 is None else o.cs2,
        )
        for o in problem.operators
    )
    for i, station in enumerate(stations):
        if not station.offered <= LARGEST:
            raise InvalidInput(
                f"operators[{i}].mu: {station.name} would need more than {LARGEST} processors",
                field=f"operators[{i}].mu",
            )
    return Network(stations=stations, external=_entering(problem, rates))


def size(
    problem: SizingProblem, scaler: str, k_max: int | None, t_max_s: float | None
) -> SizingAnswer:
    """Answer a question the way the named scaler would.

    With neither `k_max` nor `t_max_s` it is the least allocation that keeps up.

    >>> text = '{"operators": [{"name": "a", "mu": 4}], "external": {"a": 10}}'
    >>> size(read_problem(text), "drs", k_max=5, t_max_s=None).allocation
    {'a': 5}
    """
    if scaler not in SIZERS:
        known = ", ".join(SIZERS)
        raise InvalidInput(f"scaler: '{scaler}' cannot size; one of: {known}", field="scaler")
    if k_max is not None and t_max_s is not None:
        raise InvalidInput("k_max: give either k_max or t_max, not both", field="k_max")
    if t_max_s is not None and not isfinite(t_max_s):
        raise InvalidInput("t_max: it must be a number of seconds", field="t_max")
    network = network_of(problem)
    processors = SIZERS[scaler](network, k_max, t_max_s).processors
    names = [s.name for s in network.stations]
    answer = SizingAnswer(
        allocation=dict(zip(names, processors, strict=True)),
        total=sum(processors),
        sojourn_s=network.sojourn_s(processors),
        sojourn_by_operator={
            s.name: s.sojourn_s(k) for s, k in zip(network.stations, processors, strict=True)
        },
        utilisation=dict(zip(names, network.utilisation(processors), strict=True)),
    )
    figures = (*answer.sojourn_by_operator.values(), *answer.utilisation.values())
    if not all(isfinite(figure) for figure in (answer.sojourn_s, *figures)):
        raise InvalidInput("problem: its rates are too far apart for an answer", field="problem")
    return answer


Sizer = Callable[[Network, int | None, float | None], Allocation]


def _drs(network: Network, k_max: int | None, t_max_s: float | None) -> Allocation:
    if t_max_s is not None:
        return min_processors(network, t_max_s)
    return assign_processors(network, network.least if k_max is None else k_max)


def _mmk(network: Network, k_max: int | None, t_max_s: float | None) -> Allocation:
    """DRS without the measured variability: every queue is M/M/k."""
    plain = tuple(msgspec.structs.replace(s, ca2=1.0, cs2=1.0) for s in network.stations)
    return _drs(msgspec.structs.replace(network, stations=plain), k_max, t_max_s)


def _at_load(bound: float) -> Sizer:
    """So many processors that none is busier than `bound`."""

    def sizer(network: Network, k_max: int | None, t_max_s: float | None) -> Allocation:
        if t_max_s is not None:
            raise InvalidInput(
                "t_max: only drs and mmk know a time, the others go by utilisation", field="t_max"
            )
        wanted = tuple(max(s.least, ceil(s.offered / bound - 1e-9)) for s in network.stations)
        if k_max is not None and sum(wanted) > k_max:
            raise InvalidInput(
                f"k_max: {k_max} processors are too few, a utilisation of {bound:g} needs "
                f"{sum(wanted)}",
                field="k_max",
            )
        return Allocation(wanted)

    return sizer


SIZERS: dict[str, Sizer] = {
    "drs": _drs,
    "mmk": _mmk,
    "dodo": _at_load(0.8),
    "rate_based": _at_load(0.7),
}


def _entering(problem: SizingProblem, rates: dict[str, float]) -> float:
    """Rows per second from outside: as given, else what arrives at operators nobody feeds."""
    if problem.external:
        entering = sum(problem.external.values())
    else:
        fed = {r.target for r in problem.routing if r.share > 0}
        entering = sum(rate for name, rate in rates.items() if name not in fed)
    if entering <= 0.0 < sum(rates.values()):
        raise InvalidInput(
            "external: rows arrive at operators but none from outside", field="external"
        )
    return entering


def _check(problem: SizingProblem) -> None:
    names: set[str] = set()
    if not problem.operators:
        raise InvalidInput("operators: at least one is needed", field="operators")
    for i, o in enumerate(problem.operators):
        at = f"operators[{i}]"
        if not o.name or o.name in names:
            raise InvalidInput(f"{at}.name: '{o.name}' is empty or taken", field=f"{at}.name")
        names.add(o.name)
        _number(o.mu, f"{at}.mu", positive=True)
        for key, value in (("lambda", o.arrivals), ("ca2", o.ca2), ("cs2", o.cs2)):
            _number(value, f"{at}.{key}")
            if key != "lambda" and (value or 0.0) > _MOST_VARIED:
                raise InvalidInput(
                    f"{at}.{key}: {value:g} is above {_MOST_VARIED:g}", field=f"{at}.{key}"
                )
        if o.arrivals is None and not problem.external:
            raise InvalidInput(
                f"{at}.lambda: it is missing, and so is external from which it would follow",
                field=f"{at}.lambda",
            )
    for name, rate in problem.external.items():
        _require_known(name, names, f"external.{name}")
        _number(rate, f"external.{name}")
    for i, r in enumerate(problem.routing):
        _require_known(r.source, names, f"routing[{i}].from")
        _require_known(r.target, names, f"routing[{i}].to")
        _number(r.share, f"routing[{i}].share")


def _check_rates(problem: SizingProblem, follows: dict[str, float]) -> None:
    """Rates that are given agree with those that follow from what enters and where it goes."""
    if not problem.external:
        return
    for i, o in enumerate(problem.operators):
        given, rate = o.arrivals, follows[o.name]
        # Without routing nothing is said about rows from other operators.
        if not given or (given > rate and not problem.routing):
            continue
        if abs(given - rate) > _AGREES * max(given, rate):
            field = f"operators[{i}].lambda"
            raise InvalidInput(
                f"{field}: {given:g} contradicts external and routing, by which {rate:.6g} "
                f"rows per second arrive at {o.name}",
                field=field,
            )


def _number(value: float | None, field: str, positive: bool = False) -> None:
    if value is None:
        return
    if not isfinite(value) or value < 0 or (positive and value == 0):
        kind = "above 0" if positive else "0 or more"
        raise InvalidInput(f"{field}: {value:g} is not a number {kind}", field=field)


def _require_known(name: str, names: set[str], field: str) -> None:
    if name not in names:
        raise InvalidInput(f"{field}: there is no operator '{name}'", field=field)
