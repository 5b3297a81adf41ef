"""Asking for other slices of an operator: more, fewer, or key groups from one to another."""

from collections.abc import Iterable

from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.rings import ring_problem
from weir.controllers.engine.recommendation import Recommendation, hash_of
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.decision import Reason, Reslice
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.placement.base import reslice_decision
from weir.controllers.placement.reslicing import wanted_slicing
from weir.controllers.service.recommendations import find_repeated, propose
from weir.controllers.service.request import Request


def reslice(
    store: Store,
    request: Request,
    operator: str,
    *,
    slices: int | None = None,
    groups: Iterable[int] = (),
    to: str = "",
    cluster: str = "",
    plan_hash: str | None = None,
) -> Recommendation:
    """Give an operator a number of slices, or hand key groups to one of them, perhaps a new one.

    `cluster` is where a new slice is to run. With `plan_hash`, only exactly what was shown is
    done. With four eyes on, it is asked for.
    """
    known = find_repeated(store, request)
    if known is not None:
        return propose(store, request, known.decision)
    decision = predict_reslice(
        store, operator, request.at, slices=slices, groups=groups, to=to, cluster=cluster
    )
    if plan_hash is not None and plan_hash != hash_of(decision):
        raise Refused("The slices have changed since you saw the plan. Look at it again.")
    return propose(store, request, decision)


def predict_reslice(
    store: Store,
    operator: str,
    now: float,
    *,
    slices: int | None = None,
    groups: Iterable[int] = (),
    to: str = "",
    cluster: str = "",
) -> Reslice:
    """What a re-slice that a person chose would bring, as it stands now."""
    slicing = store.slicings().get(operator)
    if slicing is None:
        raise NotFound(f"{operator} is not sliced, so nothing can be handed over")
    return reslice_by_hand(
        Snapshot.of(store.latest(), now),
        slicing,
        wanted_slicing(slicing, slices=slices, groups=groups, to=to),
        store.outlook(),
        cluster=cluster,
        draining=read_leniently(BalanceSettings, store.settings(BALANCE)).draining_clusters,
    )


def reslice_by_hand(
    snapshot: Snapshot,
    slicing: Slicing,
    after: Slicing,
    outlook: Outlook | None,
    *,
    cluster: str = "",
    draining: str = "",
) -> Reslice:
    """Slices that a person chose as a decision, with loads as the engine plans with them."""
    loads = {i.name: i.load for i in outlook.problem.items if i.known} if outlook else {}
    gone = {name.strip() for name in draining.split(",")} - {""}
    known = outlook.ring(slicing.operator) if outlook else None
    pause = known.problem.pause if known else None  # as measured in past re-slices
    problem = ring_problem(snapshot, slicing, loads=loads, draining=gone, pause=pause)
    fresh = [name for name in after.owners if name not in slicing.owners]
    if cluster and not fresh:
        raise InvalidInput("No slice is new, so none can be given a cluster", field="cluster")
    if cluster and cluster not in problem.capacity:
        raise NotFound(f"there is no cluster {cluster} to run a slice in")
    return reslice_decision(
        problem, after, Reason(text="Chosen by hand."), dict.fromkeys(fresh, cluster or "")
    )
