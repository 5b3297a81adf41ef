"""An open queueing network of operators: any graph, with splits, joins and loops."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import numpy as np
from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.erlang import least_servers, waiting_s


class Station(Struct, frozen=True, kw_only=True):
    """One operator: rows that arrive per second, rows per second of one processor."""

    name: str
    arrivals: float
    rate: float
    ca2: float = 1.0  # squared coefficient of variation, times between arrivals
    cs2: float = 1.0  # the same of service times

    @property
    def offered(self) -> float:
        """Work that arrives, in processors."""
        return self.arrivals / self.rate

    @property
    def variability(self) -> float:
        """Factor on the waiting time of M/M/k; 1 where both are exponential."""
        return (self.ca2 + self.cs2) / 2.0

    @property
    def least(self) -> int:
        """The fewest processors that keep up."""
        return least_servers(self.offered)

    def sojourn_s(self, processors: int) -> float:
        """Mean time from arrival to completion."""
        waiting = waiting_s(processors, self.arrivals, self.rate, self.variability)
        return waiting + 1.0 / self.rate


class Network(Struct, frozen=True, kw_only=True):
    """All stations, and the rows per second that enter from outside."""

    stations: tuple[Station, ...]
    external: float

    @property
    def least(self) -> int:
        """The fewest processors with which every station keeps up."""
        return sum(s.least for s in self.stations)

    @property
    def service_s(self) -> float:
        """Time an entering row is worked on, over all its visits: the bound of the sojourn.

        >>> a = Station(name="a", arrivals=2.0, rate=4.0)
        >>> Network(stations=(a,), external=1.0).service_s  # every row comes by twice
        0.5
        """
        return sum(s.offered for s in self.stations) / self.external if self.external else 0.0

    def sojourn_s(self, allocation: Sequence[int]) -> float:
        """Mean time an entering row and all that follows from it spend in the network."""
        if not self.external:
            return 0.0
        total = 0.0
        for station, processors in zip(self.stations, allocation, strict=True):
            if station.arrivals > 0.0:
                total += station.arrivals * station.sojourn_s(processors)
        return total / self.external

    def utilisation(self, allocation: Sequence[int]) -> list[float]:
        """Busy share of each station's processors."""
        pairs = zip(self.stations, allocation, strict=True)
        return [s.offered / k if k else inf for s, k in pairs]


def check_loops(names: Sequence[str], routing: Mapping[tuple[str, str], float]) -> None:
    """Refuse loops that send back one row or more per row, whatever is known of the rates.

    >>> check_loops(["a", "b"], {("a", "b"): 1.0, ("b", "a"): 0.5})
    >>> check_loops(["a", "b"], {("a", "b"): 2.0, ("b", "a"): 0.5})
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: routing: the loop among a, b sends back at least \
one row for each row, so it has no steady state
    """
    index = {n: i for i, n in enumerate(names)}
    onward: list[list[tuple[int, float]]] = [[] for _ in names]
    for (source, target), share in routing.items():
        if share > 0.0:
            onward[index[source]].append((index[target], share))
    looped = _pass_on([0.0] * len(names), onward)
    if looped and _grows(_flow(looped, onward)):
        raise _endless(names[i] for i in looped)


def arrival_rates(
    names: Sequence[str],
    external: Mapping[str, float],
    routing: Mapping[tuple[str, str], float],
    known: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Solve lambda = external + lambda P; rates that are known (measured) are kept.

    `routing` gives the rows sent from one operator to another per row that arrives:
    more than 1 where rows multiply. A loop that feeds itself one row or more per row
    has no steady state.

    >>> arrival_rates(["a", "b"], {"a": 10.0}, {("a", "b"): 0.5, ("b", "a"): 0.2})["a"]
    11.11111111111111
    """
    known = known or {}
    rates = {n: float(known[n]) for n in names if n in known}
    free = [n for n in names if n not in rates]
    if not free:
        return rates
    index = {n: i for i, n in enumerate(free)}
    inflow = [float(external.get(n, 0.0)) for n in free]
    onward: list[list[tuple[int, float]]] = [[] for _ in free]
    for (source, target), share in routing.items():
        if target in index and source not in index:
            inflow[index[target]] += rates[source] * share
        elif target in index and share > 0.0:
            onward[index[source]].append((index[target], share))
    looped = _pass_on(inflow, onward)
    if looped:
        solved = _solve([inflow[i] for i in looped], _flow(looped, onward))
        if solved is None:
            raise _endless(free[i] for i in looped)
        for i, rate in zip(looped, solved, strict=True):
            inflow[i] = rate
    rates.update({n: inflow[i] for n, i in index.items()})
    return rates


def _endless(names: Iterable[str]) -> InvalidInput:
    return InvalidInput(
        f"routing: the loop among {', '.join(names)} sends back at least one row for each row, "
        "so it has no steady state",
        field="routing",
    )


def _grows(flow: np.ndarray) -> bool:
    """The spectral radius is 1 or more: what goes round never ends."""
    return float(np.abs(np.linalg.eigvals(flow)).max()) >= 1.0 - 1e-12


def _pass_on(inflow: list[float], onward: Sequence[Sequence[tuple[int, float]]]) -> list[int]:
    """Adds to every inflow what comes from those before it, the first ones first; which are
    left, because they are in a loop or behind one."""
    waits = [0] * len(inflow)
    for targets in onward:
        for target, _ in targets:
            waits[target] += 1
    ready = [i for i, before in enumerate(waits) if not before]
    while ready:
        i = ready.pop()
        for target, share in onward[i]:
            inflow[target] += inflow[i] * share
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    return [i for i, before in enumerate(waits) if before]


def _flow(among: Sequence[int], onward: Sequence[Sequence[tuple[int, float]]]) -> np.ndarray:
    position = {i: at for at, i in enumerate(among)}
    flow = np.zeros((len(among), len(among)))
    for i, at in position.items():
        for target, share in onward[i]:
            flow[at, position[target]] += share
    return flow


def _solve(inflow: Sequence[float], flow: np.ndarray) -> list[float] | None:
    """The rates among those that are in loops or behind them; None if there is no steady state."""
    coming = np.array(inflow)
    # A loop that nothing ever enters does no harm: solve only for what is reached.
    live = coming > 0.0
    while True:
        wider = live | (flow[live].sum(axis=0) > 0.0)
        if (wider == live).all():
            break
        live = wider
    part = flow[np.ix_(live, live)]
    found = np.zeros(len(coming))
    if part.size:
        if _grows(part):
            return None
        found[live] = np.linalg.solve(np.eye(len(part)) - part.T, coming[live])
    return [float(rate) for rate in found]
