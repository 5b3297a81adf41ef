"""Which clusters are dead: no sign of life, and every lease of theirs has run out.

Leases end by the clock of Redis, so clocks that disagree make nobody dead. An engine that has
just begun to look, or could not look for a while, declares nobody dead: after a gap of Redis
all leases have run out, and the hosts need a moment to take them up again.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Part, Store
from weir.controllers.engine.recommendation import ENGINE
from weir.controllers.model.age import age_s
from weir.controllers.model.failover import Death, FailoverSettings
from weir.controllers.model.placement import Lease, Placement, cluster_lease, operator_lease
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import span


def find_deaths(
    store: Store,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    settings: FailoverSettings,
    now: float,
    watched_s: float,
    noted: Iterable[Death] = (),
) -> dict[str, Death]:
    """The clusters that are dead now, by name; known ones as they were noted."""
    known = {death.cluster: death for death in noted}
    beats = {part.name: part.at for part in _hosts(store.parts())}
    silent = silent_clusters(snapshot, beats, settings)
    if not silent:
        return {}
    wanted = [cluster_lease(name) for name in silent]
    wanted += [operator_lease(p.operator) for p in placements.values() if p.cluster in silent]
    leases = store.leases(wanted)
    found: dict[str, Death] = {}
    for name, at in silent.items():
        if not is_dead(name, snapshot, placements, leases):
            continue
        if name in known:
            found[name] = replace(known[name], lost=lost_operators(name, placements, leases))
        elif watched_s > settings.lease_s:
            lost = lost_operators(name, placements, leases)
            found[name] = Death(cluster=name, at=at, noticed_at=now, lost=lost)
    return found


def silent_clusters(
    snapshot: Snapshot, beats: Mapping[str, float], settings: FailoverSettings
) -> dict[str, float]:
    """Hosted clusters without a sign of life for the time of a lease, and when they gave the last.

    A host that stopped in order has signed off: then its last report counts, and it has until
    that is stale to come back.
    """
    found: dict[str, float] = {}
    for cluster in snapshot.clusters:
        if not cluster.hosted:
            continue
        at = beats.get(cluster.name)
        reported_at = snapshot.at - cluster.heartbeat_age_s
        if at is None:
            late = snapshot.stale(cluster.name)
        else:
            late = age_s(max(at, reported_at), snapshot.at) > settings.lease_s
        if late:
            found[cluster.name] = max(at or 0.0, reported_at)
    return found


def is_dead(
    cluster: str,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    leases: Mapping[str, Lease],
) -> bool:
    """Whether a silent cluster holds no lease any more."""
    if cluster_lease(cluster) in leases:
        return False
    found = snapshot.cluster(cluster)
    held = (leases.get(operator_lease(p.operator)) for p in _placements_in(cluster, placements))
    return found is not None and not any(
        lease is not None and lease.holder.split("/")[0] == found.app_id for lease in held
    )


def lost_operators(
    cluster: str, placements: Mapping[str, Placement], leases: Mapping[str, Lease]
) -> tuple[str, ...]:
    """The operators that should run there and run nowhere."""
    return tuple(
        sorted(
            p.operator
            for p in _placements_in(cluster, placements)
            if p.wanted == "running" and operator_lease(p.operator) not in leases
        )
    )


def death_entries(
    before: Iterable[Death], after: Mapping[str, Death], snapshot: Snapshot, now: float
) -> list[AuditEntry]:
    """Entries for the audit trail: who has died since and who is back. A cluster
    that was forgotten is not back."""
    known = {death.cluster: death for death in before}
    said = [
        AuditEntry(
            at=now,
            by=ENGINE,
            action="cluster.died",
            subject=name,
            why=f"no sign of life for {span(now - death.at)}, and its leases have run out",
            detail=f"lost: {', '.join(death.lost) or 'no operator'}",
        )
        for name, death in after.items()
        if name not in known
    ]
    said += [
        AuditEntry(
            at=now,
            by=ENGINE,
            action="cluster.returned",
            subject=name,
            detail=f"it was dead for {span(now - death.at)}; plans may use it again",
        )
        for name, death in known.items()
        if name not in after and not snapshot.stale(name)
    ]
    return said


def _placements_in(cluster: str, placements: Mapping[str, Placement]) -> list[Placement]:
    return [p for p in placements.values() if p.cluster == cluster]


def _hosts(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part.kind == "host"]
