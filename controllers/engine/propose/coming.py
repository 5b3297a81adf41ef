"""Clusters that the engine adds and ends by itself, within the limits that people set.

One is added when all are full for a while: then nothing can be moved anywhere, and a ring
planner has no cluster that a new slice could join. One that was added is emptied when the
others can do its work with ease, and ended once it is empty. One change at a time.
"""

from collections.abc import Collection
from statistics import fmean

from weir.controllers.engine.apply.effects import Chain, OrderHost
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import ENGINE
from weir.controllers.model.hosting import HostOrder, HostState
from weir.controllers.model.sample import Cluster, ClusterSample
from weir.controllers.model.words import number_of, percent, span

_KNOWN = 0.8
"""Share of the time that must be covered by samples."""


def come_and_go(facts: Facts, now: float) -> list[Chain]:
    """Order one more cluster, or the emptying and end of one, or nothing."""
    limits = facts.clusters
    if not limits.by_itself or not facts.launcher or facts.engine.paused or facts.deaths:
        return []
    living = [c for c in facts.snapshot.clusters if c.hosted and not facts.snapshot.silent(c.name)]
    here = {c.name for c in living}
    for name, order in facts.host_orders.items():
        under_way = order.wanted is not HostState.RUNNING or name not in here
        if under_way or now - order.at < limits.rest_s:
            return []
    if any(not r.final for r in facts.rebalances):
        return []
    loads = {c.name: _load(facts.samples.get(c.name, ()), limits.for_s, now) for c in living}
    if not living or None in loads.values():
        return []
    known = {name: load for name, load in loads.items() if load is not None}
    change = _added(facts, living, known, now) or _emptied(facts, living, known, now)
    return [(change,)] if change is not None else []


def _load(samples: Collection[ClusterSample], for_s: float, now: float) -> float | None:
    """Mean load per core of the last seconds; None where they are not all known."""
    recent = [s for s in samples if s.at > now - for_s]
    covered = sum(s.period_s for s in recent)
    return fmean(s.load for s in recent) if covered >= _KNOWN * for_s else None


def _added(
    facts: Facts, living: list[Cluster], loads: dict[str, float], now: float
) -> OrderHost | None:
    limits = facts.clusters
    if len(living) >= limits.most or any(c.executors_asked < _most(c, facts) for c in living):
        return None
    least = min(loads.values())
    if least < limits.high_load:
        return None
    taken = {c.name for c in facts.snapshot.clusters} | set(facts.host_orders)
    name = next(n for i in range(1, len(taken) + 2) if (n := f"more-{i}") not in taken)
    after = HostOrder(
        cluster=name, wanted=HostState.RUNNING, at=now, by=ENGINE, executors=limits.executors,
        max_executors=max(limits.executors, limits.max_executors), cores=limits.cores,
    )  # fmt: skip
    said = AuditEntry(
        at=now, by=ENGINE, action="cluster.added", subject=name,
        why=f"every cluster has all executors that it may have and was at {percent(least)} or "
        f"more for {span(limits.for_s)}",
    )  # fmt: skip
    return OrderHost(before=None, after=after, audit=said)


def _emptied(
    facts: Facts, living: list[Cluster], loads: dict[str, float], now: float
) -> OrderHost | None:
    limits = facts.clusters
    if len(living) <= limits.fewest:
        return None
    cores = {c.name: loads[c.name] * c.capacity for c in living}
    ours = (c for c in living if c.name in facts.host_orders)
    for cluster in sorted(ours, key=lambda c: (cores[c.name], c.name)):
        others = sum(c.capacity for c in living if c.name != cluster.name)
        if cluster.executors > cluster.min_executors or not others:
            continue  # its scaler makes it smaller first
        after = sum(cores.values()) / others
        if after > limits.low_load:
            continue
        before = facts.host_orders[cluster.name]
        order = HostOrder(
            cluster=cluster.name, wanted=HostState.DRAINING, at=now, by=ENGINE,
            executors=before.executors, max_executors=before.max_executors, cores=before.cores,
        )  # fmt: skip
        said = AuditEntry(
            at=now, by=ENGINE, action="cluster.draining", subject=cluster.name,
            why=f"without it {number_of(len(living) - 1, 'cluster')} would be at {percent(after)}",
        )  # fmt: skip
        return OrderHost(before=before, after=order, audit=said)
    return None


def _most(cluster: Cluster, facts: Facts) -> int:
    """Executors that it may have."""
    if not cluster.can_scale:
        return cluster.executors_asked
    own = facts.scaling.get(cluster.name, ScaleSettings()).max_executors
    return min(cluster.max_executors, own or cluster.max_executors)
