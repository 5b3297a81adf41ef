"""Clusters that are to end: once planners have emptied one, its order says so."""

from weir.controllers.engine.apply.effects import Chain, OrderHost
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.propose.balance import names_in
from weir.controllers.engine.recommendation import ENGINE
from weir.controllers.model.hosting import HostOrder, HostState


def end_drained(facts: Facts, now: float) -> list[Chain]:
    """Order the end of every cluster that was to be emptied and is.

    A cluster that a person drains stays unless `end_drained` is set; at least `fewest` are left.
    """
    used = {p.cluster for p in facts.placements.values()}
    used |= {m.move.target for r in facts.rebalances for m in r.moves if not m.step.final}
    living = {c.name for c in facts.snapshot.clusters if c.hosted} - set(facts.deaths)
    draining = {n for n, o in facts.host_orders.items() if o.wanted is HostState.DRAINING}
    if facts.clusters.end_drained and facts.launcher:
        ended = {n for n, o in facts.host_orders.items() if o.wanted is HostState.ENDED}
        draining |= (names_in(facts.balance.draining_clusters) & living) - ended
    chains: list[Chain] = []
    for name in sorted(draining - used):
        if len(living - {name}) < facts.clusters.fewest:
            continue
        living.discard(name)
        before = facts.host_orders.get(name)
        after = HostOrder(
            cluster=name, wanted=HostState.ENDED, at=now, by=before.by if before else ENGINE
        )
        said = AuditEntry(
            at=now, by=ENGINE, action="cluster.ended", subject=name,
            why="nothing is placed there any more",
        )  # fmt: skip
        chains.append((OrderHost(before=before, after=after, audit=said),))
    return chains
