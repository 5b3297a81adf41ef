"""Making recommendations: from a decision, as the undoing of another, or offered again."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from weir.controllers.balancing.plan import Plan
from weir.controllers.engine.guard.drift import drift
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.judge.figures import (
    calibrate,
    clusters_of,
    figures_now,
    figures_promised,
    objective_of,
)
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.engine.propose import outlook as balance_outlook
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.rings import reslice_back
from weir.controllers.engine.recommendation import ENGINE, Entry, Recommendation, Status
from weir.controllers.model.decision import (
    Change,
    Move,
    Moves,
    Prediction,
    Reason,
    Reslice,
    Scale,
)
from weir.controllers.model.errors import WeirError
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot

ROLLBACK = "rollback"
BY_HAND = "by hand"
UNDO, BACK = "-undo", "-back"
"""Ends of the ids of the engine's own rollbacks: nobody else may make one."""
AGAIN = " Offered again: "


def new_id(*parts: object) -> str:
    """An id derived from what it names, so that making it twice makes one.

    >>> new_id("rate_based", "a", 12.5) == new_id("rate_based", "a", 12.5)
    True
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def new_recommendation(
    decision: Change,
    snapshot: Snapshot,
    *,
    id: str,
    source: str,
    now: float,
    ttl_s: float,
    by: str = ENGINE,
    comment: str = "",
    address: str = "",
    why: str = "",
    outlook: Outlook | None = None,
    plan: Plan | None = None,
    recent: Mapping[str, Sequence[ClusterSample]] | None = None,
    track: TrackRecord | None = None,
    rollback_of: str | None = None,
) -> Recommendation:
    """A new recommendation with its figures before and after."""
    if isinstance(decision, Moves) and plan is None:
        plan = _foreseen(decision, outlook)
    if isinstance(decision, Moves) and plan is not None and not decision.prediction.load:
        decision = replace(decision, prediction=_prediction(plan))
    before = figures_now(decision, snapshot, outlook, recent)
    if plan is not None:
        before = replace(before, load_distance=plan.before.load_distance)
    promised = figures_promised(decision, before, plan)
    record = track or TrackRecord()
    return Recommendation(
        id=id,
        at=now,
        expires_at=now + ttl_s,
        decision=decision,
        source=source,
        clusters=clusters_of(decision),
        by=by,
        comment=comment,
        objective=objective_of(before, promised, decision),
        before=before,
        predicted=calibrate(before, promised, record.calibration),
        calibration=record.calibration,
        error_share=record.error_share,
        rollback_of=rollback_of,
        history=(
            Entry(
                at=now, status=Status.PROPOSED, by=by, why=why or decision.reason.text,
                address=address,
            ),
        ),
    )  # fmt: skip


def undoing_decision(
    recommendation: Recommendation,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    why: str,
    slicings: Mapping[str, Slicing] = {},
) -> Change | None:
    """The decision that undoes what a recommendation did; None if there is nothing left to undo."""
    decision, reason = recommendation.decision, Reason(text=why, rule="rollback")
    if isinstance(decision, Moves):
        back = tuple(
            Move(operator=m.operator, source=m.target, target=m.source)
            for m in reversed(decision.moves)
            if (placed := placements.get(m.operator)) is not None and placed.cluster == m.target
        )
        return Moves(moves=back, reason=reason) if back else None
    if isinstance(decision, Reslice):
        return reslice_back(decision, snapshot, slicings.get(decision.operator), reason)
    cluster = snapshot.cluster(decision.cluster)
    if cluster is None:
        return None
    present = cluster.executors_asked
    if present == decision.before:
        return None
    load = sum(o.load for o in snapshot.operators_of(cluster.name))
    cores = max(1, decision.before * cluster.cores_per_executor)
    return Scale(
        cluster=cluster.name,
        executors=decision.before,
        before=present,
        reason=reason,
        prediction=Prediction(
            load={cluster.name: load / cores}, executors={cluster.name: decision.before}
        ),
    )


def offer_again(
    recommendation: Recommendation,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    outlook: Outlook | None,
    settings: EngineSettings,
    now: float,
    why: str,
    recent: Mapping[str, Sequence[ClusterSample]] | None = None,
    slicings: Mapping[str, Slicing] = {},
) -> Recommendation | None:
    """The same aim for the present world, as a new proposal; None if it no longer makes sense."""
    decision = recommendation.decision
    first = decision.reason.text.partition(AGAIN)[0]  # only the last time is told
    reason = replace(decision.reason, text=f"{first}{AGAIN}{why}.")
    if isinstance(decision, Scale):
        cluster = snapshot.cluster(decision.cluster)
        present = cluster.executors_asked if cluster else 0
        if cluster is None or present == decision.executors:
            return None
        load = sum(o.load for o in snapshot.operators_of(cluster.name))
        cores = max(1, decision.executors * cluster.cores_per_executor)
        said = replace(decision.prediction, load={cluster.name: load / cores})
        decision = replace(decision, before=present, reason=reason, prediction=said)
    elif isinstance(decision, Reslice):  # what it predicts holds while the slices are the same
        decision = replace(decision, reason=reason)
    else:
        decision = replace(decision, reason=reason, prediction=Prediction())
    again = new_recommendation(
        decision,
        snapshot,
        id=new_id(recommendation.id, now),
        source=recommendation.source,
        now=now,
        ttl_s=settings.ttl_s,
        by=recommendation.by,
        comment=recommendation.comment,
        outlook=outlook,
        recent=recent,
        rollback_of=recommendation.rollback_of,
    )
    gone = drift(again, snapshot, placements, settings, slicings=slicings)
    return None if gone else again


def _foreseen(decision: Moves, outlook: Outlook | None) -> Plan | None:
    if outlook is None:
        return None
    try:
        return balance_outlook.by_hand(outlook.problem, decision.moves)
    except WeirError:  # what the engine saw last does not have them
        return None


def _prediction(plan: Plan) -> Prediction:
    decision = plan.decision
    return decision.prediction if isinstance(decision, Moves) else Prediction()
