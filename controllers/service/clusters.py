"""Adding and ending clusters, within the limits that people set.

Both only write an order; the launcher carries it out. A cluster that is to end is emptied first:
planners treat it as draining, under the modes and guards of every rebalance.
"""

import re

from msgspec.structs import replace

from weir.controllers.engine.ports import Hosting, Parts, Samples, Store
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings, names_in
from weir.controllers.engine.stored import cluster_settings, engine_settings, read_leniently
from weir.controllers.model.age import age_s
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.controllers.model.hosting import HOST_NAME, HostOrder, HostState
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import number_of
from weir.controllers.service.request import Request, require_comment
from weir.controllers.service.steering import set_settings

LAUNCHER_SEEN_S = 10.0


def add_cluster(store: Store, request: Request, cluster: str) -> HostOrder:
    """Ask the launcher for one more cluster, which begins empty."""
    if not re.fullmatch(HOST_NAME, cluster):
        raise InvalidInput(
            f"'{cluster}' cannot name a cluster: letters, digits, '.', '_' and '-', at most 100",
            field="cluster",
        )
    _require_launcher(store, request)
    require_comment(request, engine_settings(store))
    before = store.host_orders().get(cluster)
    if before is not None and before.wanted is HostState.RUNNING:
        return before
    hosting = _hosting_clusters(store, request.at)
    if cluster in hosting and before is None:
        raise Refused(f"There is a cluster {cluster} already.")
    limits = cluster_settings(store)
    coming = {o.cluster for o in store.host_orders().values() if o.wanted is HostState.RUNNING}
    if len((hosting | coming) - {cluster}) >= limits.most:
        raise Refused(
            f"{number_of(limits.most, 'cluster')} are the most. An admin can raise `most` in the settings "
            "`clusters`."
        )
    _drain(store, request, cluster, False)
    after = HostOrder(
        cluster=cluster, wanted=HostState.RUNNING, at=request.at, by=request.by,
        executors=limits.executors, max_executors=max(limits.executors, limits.max_executors),
        cores=limits.cores,
    )  # fmt: skip
    return _order(store, request, before, after, "cluster.added")


def end_cluster(store: Store, request: Request, cluster: str) -> HostOrder:
    """Let planners empty a cluster; once it is empty it is ended."""
    _require_launcher(store, request)
    require_comment(request, engine_settings(store))
    before = store.host_orders().get(cluster)
    if before is not None and before.wanted is not HostState.RUNNING:
        return before
    hosting = _hosting_clusters(store, request.at)
    if cluster not in hosting and before is None:
        raise NotFound(f"there is no cluster '{cluster}' that hosts operators")
    fewest = cluster_settings(store).fewest
    if len(hosting - _ending_clusters(store) - {cluster}) < fewest:
        raise Refused(f"{cluster} cannot end: {fewest} of the clusters must be left.")
    _drain(store, request, cluster, True)
    basis = before or HostOrder(
        cluster=cluster, wanted=HostState.RUNNING, at=request.at, by=request.by
    )
    after = replace(basis, wanted=HostState.DRAINING, at=request.at, by=request.by)
    return _order(store, request, before, after, "cluster.draining")


def _order(
    store: Hosting, request: Request, before: HostOrder | None, after: HostOrder, action: str
) -> HostOrder:
    if not store.change_host_order(before, after, request.entry(action, after.cluster)):
        raise Refused(f"Somebody else has just ordered something of {after.cluster}. Look again.")
    return after


def _drain(store: Store, request: Request, cluster: str, drain: bool) -> None:
    """Put a cluster on the list of those to be emptied, or take it off."""
    kept = read_leniently(BalanceSettings, store.settings(BALANCE))
    names = names_in(kept.draining_clusters)
    wanted = names | {cluster} if drain else names - {cluster}
    if wanted != names:
        set_settings(store, request, BALANCE, {"draining_clusters": ", ".join(sorted(wanted))})


def _hosting_clusters(store: Samples, now: float) -> set[str]:
    """Clusters that host operators and live."""
    snapshot = Snapshot.of(store.latest(), now)
    return {c.name for c in snapshot.clusters if c.hosted and not snapshot.silent(c.name)}


def _ending_clusters(store: Hosting) -> set[str]:
    return {o.cluster for o in store.host_orders().values() if o.wanted is not HostState.RUNNING}


def _require_launcher(store: Parts, request: Request) -> None:
    if not any(
        p.kind == "launcher" and age_s(p.at, request.at) <= LAUNCHER_SEEN_S for p in store.parts()
    ):
        raise Unavailable(
            "Nothing was done: no launcher is at work, so nobody would start or end a host. "
            "`weir demo` has one; elsewhere start `weir launch`."
        )
