"""DRS's K_max mode inside one cluster: the same cores, shared out among its operators.

AssignProcessors hands out whole processors, and a cluster has often fewer cores than operators.
So a core counts as `PARTS` processors, each as much slower: only their waiting times are compared,
and to them the service time of a whole core is added.
"""

from collections.abc import Mapping
from math import gcd, inf

from msgspec import Struct

from weir.controllers.model.shares import deal
from weir.controllers.scaling.drs.allocate import assign_processors
from weir.controllers.scaling.drs.measure import network_of
from weir.controllers.scaling.drs.network import Network, Station
from weir.controllers.scaling.facts import ClusterFacts

PARTS = 4
MOST_CORES = 10_000


class ShareAdvice(Struct, frozen=True, kw_only=True):
    """What the model says of a cluster's shares; None where it is not known."""

    weights: dict[str, int] = {}  # recommended; empty: nothing can be said
    now: dict[str, int] = {}  # weights that hold
    latency_s: float | None = None  # by the model, with the recommended ones
    now_s: float | None = None  # with those that hold; None: they do not keep up
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
    >>> facts = observe(Snapshot(at=0.0, period_s=1.0, clusters=(cluster,)), Scope(cluster="c"))
    >>> heavy = Station(name="a", arrivals=24.0, rate=10.0)
    >>> light = Station(name="b", arrivals=24.0, rate=100.0)
    >>> advise_shares(facts, (heavy, light), {}).weights
    {'a': 7, 'b': 1}
    """
    now = {s.name: weights.get(s.name, 1) for s in parts}
    if len(parts) < 2:
        return ShareAdvice(now=now, why="One operator has all cores to itself.")
    network = network_of(facts, parts, share_cores=False)
    if network is None or not facts.complete:
        return ShareAdvice(now=now, why="Rates or costs are not known yet.")
    cores = min(facts.capacity, MOST_CORES)
    slow = _slow_down(network)
    if slow.least > cores * PARTS:
        found = _by_load(parts)
        worst, worst_now = _worst(parts, found, cores), _worst(parts, now, cores)
        return ShareAdvice(
            weights=found, now=now, gain=max(0.0, 1.0 - worst / worst_now),
            why="The cores do not keep up, whichever way they are shared: with shares by load all fall behind alike.",
        )  # fmt: skip
    best = assign_processors(slow, cores * PARTS).processors
    found = _least({s.name: k for s, k in zip(parts, best, strict=True)})
    latency_s = _latency_s(network, slow, found, cores)
    now_s = _latency_s(network, slow, now, cores)
    if latency_s >= now_s:  # rounding to whole parts must not make it worse
        return ShareAdvice(
            weights=now, now=now, latency_s=_finite(now_s), now_s=_finite(now_s),
            why="The present weights are the best.",
        )  # fmt: skip
    gain = 1.0 if now_s == inf else 1.0 - latency_s / now_s
    why = (
        "With the present weights an operator falls behind."
        if now_s == inf
        else f"{latency_s:.3g} s instead of {now_s:.3g} s by the model."
    )
    return ShareAdvice(
        weights=found, now=now, latency_s=latency_s, now_s=_finite(now_s), gain=gain, why=why
    )


def _slow_down(network: Network) -> Network:
    stations = tuple(
        Station(name=s.name, arrivals=s.arrivals, rate=s.rate / PARTS, ca2=s.ca2, cs2=s.cs2)
        for s in network.stations
    )
    return Network(stations=stations, external=network.external)


def _latency_s(network: Network, slow: Network, weights: Mapping[str, int], cores: int) -> float:
    """Waiting with these shares, and service by whole cores."""
    parts = deal(weights, cores * PARTS)
    if any(s.arrivals > 0.0 and parts[s.name] < s.least for s in slow.stations):
        return inf
    total = slow.sojourn_s([max(parts[s.name], 1) for s in slow.stations])
    return total - slow.service_s + network.service_s


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
    return {name: value // shared for name, value in weights.items()}


def _finite(value: float) -> float | None:
    return None if value == inf else value
