"""DRS's K_max mode inside one cluster: the same cores, shared out among its operators.

AssignProcessors hands out whole processors, and a cluster has often fewer cores than operators.
So a core counts as `PARTS` processors, each as much slower. What it hands out is one way among
some, as its processors serve one operator alone and Spark's pools lend theirs (`pools`): equal
shares, one operator first, short batches first. The way with the least latency is recommended.
"""

from collections.abc import Iterator, Mapping
from math import gcd
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.shares import MOST_WEIGHT
from weir.controllers.scaling.drs.allocate import assign_processors
from weir.controllers.scaling.drs.measure import network_of
from weir.controllers.scaling.drs.network import Network, Station
from weir.controllers.scaling.drs.pools import NEVER, PoolLoad, latency_s
from weir.controllers.scaling.facts import ClusterFacts

PARTS = 4
MOST_CORES = 10_000
MOST_TRIED = 6
"""With more operators than this no single one of them is tried as the first."""
CONTENDED = 0.3
"""Load per core below which operators hardly meet, and shares change nothing."""
CLEAR = 0.01
"""Share of the latency that other weights must save to be worth a word."""


class ShareAdvice(Struct, frozen=True, kw_only=True):
    """What the model says of a cluster's shares; None where it is not known."""

    weights: dict[str, int] = {}  # recommended; empty: nothing can be said
    now: dict[str, int] = {}  # weights that hold
    latency_s: float | None = None  # by the model, with the recommended ones
    now_s: float | None = None  # with those that hold; None: the cores do not keep up
    gain: float = 0.0  # share of the latency that is saved, 0..1
    why: str = ""


def advise_shares(
    facts: ClusterFacts, parts: tuple[Station, ...], weights: Mapping[str, int]
) -> ShareAdvice:
    """The weights with the least latency at the cores that are there, beside those that hold.

    >>> from weir.controllers.model.sample import Cluster
    >>> from weir.controllers.model.snapshot import Snapshot
    >>> from weir.controllers.scaling.facts import Scope, observe
    >>> cluster = Cluster(name="c", executors=4, cores_per_executor=1)
    >>> operators = tuple(OperatorSample(name=n, cluster="c", trigger_s=2.0) for n in "ab")
    >>> snapshot = Snapshot(at=0.0, period_s=1.0, clusters=(cluster,), operators=operators)
    >>> long = Station(name="a", arrivals=24.0, rate=10.0)
    >>> short = Station(name="b", arrivals=24.0, rate=100.0)
    >>> advice = advise_shares(observe(snapshot, Scope(cluster="c")), (long, short), {"a": 3})
    >>> advice.weights, advice.why
    ({'a': 1, 'b': 2}, '1.79 s instead of 1.95 s by the model.')
    """
    now = {s.name: weights.get(s.name, 1) for s in parts}
    if len(parts) < 2:
        return ShareAdvice(now=now, why="One operator has all cores to itself.")
    network = network_of(facts, parts, share_cores=False)
    if network is None or not facts.complete:
        return ShareAdvice(now=now, why="Rates or costs are not known yet.")
    cores = min(facts.capacity, MOST_CORES)
    loads = _loads(facts, parts, cores)
    now_s = latency_s(loads, now, cores)
    if now_s == NEVER:
        found = _by_load(parts)
        worst, worst_now = _worst(parts, found, cores), _worst(parts, now, cores)
        return ShareAdvice(
            weights=found, now=now, gain=max(0.0, 1.0 - worst / worst_now),
            why="The cores do not keep up, whichever way they are shared: with shares by load all fall behind alike.",
        )  # fmt: skip
    same = ShareAdvice(weights=now, now=now, latency_s=now_s, now_s=now_s)
    if sum(load.cores for load in loads) < CONTENDED * cores:
        return replace(same, why="The cores are hardly contended: shares change nothing.")
    ways = (_least(way) for way in _ways(network, loads, cores))
    best_s, found = min(((latency_s(loads, way, cores), way) for way in ways), key=itemgetter(0))
    gain = 1.0 - best_s / now_s
    if gain < CLEAR:
        return replace(same, why="The present weights are the best.")
    return ShareAdvice(
        weights=found, now=now, latency_s=best_s, now_s=now_s, gain=gain,
        why=f"{best_s:.3g} s instead of {now_s:.3g} s by the model.",
    )  # fmt: skip


def _loads(facts: ClusterFacts, parts: tuple[Station, ...], cores: int) -> tuple[PoolLoad, ...]:
    """What arrives at each operator and how its batches come."""
    known = {o.name: o for o in facts.operators}
    total = sum(s.offered for s in parts)
    return tuple(
        PoolLoad(
            name=s.name,
            rows_per_s=s.arrivals,
            cost_s=1.0 / s.rate,
            trigger_s=known[s.name].trigger_s if s.name in known else 0.0,
            fixed_s=_fixed_s(known.get(s.name), 1.0 / s.rate, cores - (total - s.offered)),
        )
        for s in parts
    )


def _fixed_s(operator: OperatorSample | None, cost_s: float, free: float) -> float:
    """What a batch takes beside its rows, with the cores that the other operators leave."""
    if operator is None or operator.processing_s is None or free <= 0.0:
        return 0.0
    rows = operator.batch_rows
    return 0.0 if rows is None else max(0.0, operator.processing_s - rows * cost_s / free)


def _ways(network: Network, loads: tuple[PoolLoad, ...], cores: int) -> Iterator[dict[str, int]]:
    """Ways to share the cores out: alike, as DRS does, short batches first, and one first."""
    names = [load.name for load in loads]
    yield dict.fromkeys(names, 1)
    slow = _slow_down(network)
    if slow.least <= cores * PARTS:
        given = assign_processors(slow, cores * PARTS).processors
        yield {name: max(1, k) for name, k in zip(names, given, strict=True)}
    order = sorted(loads, key=lambda load: (load.cores * load.trigger_s, load.cores, load.name))
    yield {load.name: len(order) - i for i, load in enumerate(order)}
    if len(names) <= MOST_TRIED:
        most = min(max(2, cores - len(names) + 1), MOST_WEIGHT)
        for first in names:
            yield {name: most if name == first else 1 for name in names}


def _slow_down(network: Network) -> Network:
    stations = tuple(
        Station(name=s.name, arrivals=s.arrivals, rate=s.rate / PARTS, ca2=s.ca2, cs2=s.cs2)
        for s in network.stations
    )
    return Network(stations=stations, external=network.external)


def _by_load(parts: tuple[Station, ...]) -> dict[str, int]:
    """Weights by the work that arrives, so that all fall behind alike."""
    most = max(s.offered for s in parts)
    return {s.name: max(1, round(100 * s.offered / most)) for s in parts}


def _worst(parts: tuple[Station, ...], weights: Mapping[str, int], cores: int) -> float:
    """The largest load of an operator's own cores."""
    all_ = sum(weights.values())
    return max(s.offered * all_ / (weights[s.name] * cores) for s in parts)


def _least(weights: Mapping[str, int]) -> dict[str, int]:
    shared = gcd(*weights.values())
    return {name: weights[name] // shared for name in sorted(weights)}
