"""Asking for another number of executors."""

from math import inf

from msgspec.structs import replace

from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.scaling import hand_scope, scale_by_hand, scaler_group
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.stored import engine_settings, scale_settings
from weir.controllers.model.decision import Scale
from weir.controllers.model.errors import Refused
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.drs.foresee import latency_with
from weir.controllers.service.recommendations import find_repeated, propose
from weir.controllers.service.request import Request, require_cluster


def scale(
    store: Store, request: Request, cluster: str, executors: int, *, before: int | None = None
) -> Recommendation:
    """Bring a cluster to a number of executors; with four eyes on, ask for it.

    `before` is the number that the person saw as asked for at present; if it has changed since,
    nothing is done.
    """
    known = find_repeated(store, request)
    if known is None:
        require_cluster(store, cluster)
    decision = predict_scale(store, cluster, executors, request.at)
    if known is None and before is not None and decision.before != before:
        many = "executor" if decision.before == 1 else "executors"
        raise Refused(
            f"{cluster} was asked for {decision.before} {many} meanwhile. Nothing was done; "
            "choose the number again."
        )
    return propose(store, request, decision)


def predict_scale(store: Store, cluster: str, executors: int, now: float) -> Scale:
    """A number that a person chose, with what it should bring."""
    snapshot = Snapshot.of(store.latest(), now)
    settings, engine = scale_settings(store, cluster), engine_settings(store)
    scope = hand_scope(snapshot, cluster, settings, engine.total_executors)
    return with_latency(
        scale_by_hand(snapshot, cluster, executors, scope),
        latency_with(
            snapshot,
            cluster,
            executors,
            store.memories(cluster).get("drs"),
            store.settings(scaler_group(cluster, "drs")),
        ),
    )


def with_latency(decision: Scale, latency_s: float | None) -> Scale:
    """The decision with the queueing model's latency, if the model has one."""
    if latency_s is None or latency_s == inf:
        return decision
    return replace(decision, prediction=replace(decision.prediction, latency_s=latency_s))
