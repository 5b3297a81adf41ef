"""Whether the world is still the one that a plan was made for."""

from collections.abc import Mapping

from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.decision import Move, Scale
from weir.controllers.model.placement import Placement
from weir.controllers.model.snapshot import Snapshot


def drift(
    recommendation: Recommendation,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    settings: EngineSettings,
    loads: Mapping[str, float] | None = None,
) -> str:
    """Why the plan no longer holds; empty if it does. Without `loads` they are not looked at.

    >>> from weir.controllers.model.decision import Reason
    >>> from weir.controllers.model.snapshot import Cluster
    >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
    >>> rec = Recommendation(
    ...     id="1", at=0.0, expires_at=9.0, decision=scale, source="drs", clusters=("a",)
    ... )
    >>> now = Snapshot(at=0.0, period_s=2.0, clusters=(Cluster(name="a", executors=2),))
    >>> drift(rec, now, {}, EngineSettings())
    'a has 2 executors now, and the plan was made for 1'
    """
    decision = recommendation.decision
    # A dead source lets go when its leases end: only the target must be alive.
    needed = (
        recommendation.clusters
        if isinstance(decision, Scale)
        else [m.target for m in decision.moves]
    )
    for name in needed:
        why = snapshot.silent(name)
        if why:
            return why
    if isinstance(decision, Scale):
        why = _resized(decision, snapshot)
    else:
        why = next(filter(None, (_misplaced(m, placements, snapshot) for m in decision.moves)), "")
    return why or _shifted(recommendation, loads or {}, settings)


def _resized(decision: Scale, snapshot: Snapshot) -> str:
    cluster = snapshot.cluster(decision.cluster)
    assert cluster is not None
    present = cluster.executors_asked
    if present == decision.before:
        return ""
    many = "executor" if present == 1 else "executors"
    return f"{cluster.name} has {present} {many} now, and the plan was made for {decision.before}"


def _misplaced(move: Move, placements: Mapping[str, Placement], snapshot: Snapshot) -> str:
    placed = placements.get(move.operator)
    target = snapshot.cluster(move.target)
    if placed is None:
        return f"{move.operator} is not placed anywhere by Weir"
    why = placed.departed(move.source)
    return why or (target.unfit_for(move.operator) if target is not None else "")


def _shifted(
    recommendation: Recommendation, loads: Mapping[str, float], settings: EngineSettings
) -> str:
    """A load that moved against the plan. More load is no reason not to scale out, nor less
    not to scale in; and a large load may move more than a small one."""
    for name, before in recommendation.before.load.items():
        load = loads.get(name, before)
        change = load - before
        if recommendation.kind == "scale_out":
            change = min(change, 0.0)
        elif recommendation.kind == "scale_in":
            change = max(change, 0.0)
        if abs(change) > max(settings.drift_load, 0.4 * before):
            return f"the load of {name} is {load:.0%} now, and the plan was made for {before:.0%}"
    return ""
