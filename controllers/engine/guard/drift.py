"""Whether the world is still the one that a plan was made for."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.recommendation import Kind, Recommendation
from weir.controllers.model.decision import Move, Reslice, Scale
from weir.controllers.model.placement import Placement
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import number_of, percent
from weir.controllers.placement.words import why_changed


class DriftKind(StrEnum):
    """What in the world is no longer as a plan assumed."""

    SILENT = "silent"  # a cluster that it needs gives no sign of life: it may come back
    GONE = "gone"  # a cluster that it needs is not there any more
    SIZE = "size"
    PLACE = "place"
    SLICES = "slices"
    LOAD = "load"


class Drift(Struct, frozen=True, kw_only=True):
    """Why a plan no longer holds: for code, and in words."""

    what: DriftKind
    text: str


def drift(
    recommendation: Recommendation,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    settings: EngineSettings,
    loads: Mapping[str, float] | None = None,
    slicings: Mapping[str, Slicing] = {},
) -> Drift | None:
    """Why the plan no longer holds; None if it does. Without `loads` they are not looked at.

    >>> from weir.controllers.model.decision import Reason
    >>> from weir.controllers.model.sample import Cluster
    >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
    >>> rec = Recommendation(
    ...     id="1", at=0.0, expires_at=9.0, decision=scale, source="drs", clusters=("a",)
    ... )
    >>> now = Snapshot(at=0.0, period_s=2.0, clusters=(Cluster(name="a", executors=2),))
    >>> drift(rec, now, {}, EngineSettings()).text
    'a has 2 executors now, and the plan was made for 1'
    """
    decision = recommendation.decision
    # A dead source lets go when its leases end: only the target must be alive.
    needed = (
        recommendation.clusters
        if isinstance(decision, Scale | Reslice)
        else [m.target for m in decision.moves]
    )
    for name in needed:
        why = snapshot.silent(name)
        if why:
            what = DriftKind.SILENT if snapshot.cluster(name) else DriftKind.GONE
            return Drift(what=what, text=why)
    if isinstance(decision, Scale):
        what, why = DriftKind.SIZE, _why_resized(decision, snapshot)
    elif isinstance(decision, Reslice):
        what = DriftKind.SLICES
        why = why_changed(decision, slicings.get(decision.operator)) or _why_unfit(
            decision, snapshot
        )
    else:
        misplaced = (_why_misplaced(m, placements, snapshot) for m in decision.moves)
        what, why = DriftKind.PLACE, next(filter(None, misplaced), "")
    if not why:
        what, why = DriftKind.LOAD, _why_shifted(recommendation, loads or {}, settings)
    return Drift(what=what, text=why) if why else None


def _why_resized(decision: Scale, snapshot: Snapshot) -> str:
    cluster = snapshot.cluster(decision.cluster)
    assert cluster is not None
    present = cluster.executors_asked
    if present == decision.before:
        return ""
    many = number_of(present, "executor")
    return f"{cluster.name} has {many} now, and the plan was made for {decision.before}"


def _why_unfit(decision: Reslice, snapshot: Snapshot) -> str:
    """Why a slice that is new cannot run where it is to."""
    for name, cluster in decision.clusters.items():
        found = snapshot.cluster(cluster)
        why = found.unfit_for(name) if found else f"there is no cluster {cluster}"
        if why:
            return why
    return ""


def _why_misplaced(move: Move, placements: Mapping[str, Placement], snapshot: Snapshot) -> str:
    placed = placements.get(move.operator)
    target = snapshot.cluster(move.target)
    if placed is None:
        return f"{move.operator} is not placed anywhere by Weir"
    why = placed.why_departed(move.source)
    return why or (target.unfit_for(move.operator) if target is not None else "")


def _why_shifted(
    recommendation: Recommendation, loads: Mapping[str, float], settings: EngineSettings
) -> str:
    """A load that moved against the plan. More load is no reason not to scale out, nor less
    not to scale in; and a large load may move more than a small one."""
    for name, before in recommendation.before.load.items():
        load = loads.get(name, before)
        change = load - before
        if recommendation.kind is Kind.SCALE_OUT:
            change = min(change, 0.0)
        elif recommendation.kind is Kind.SCALE_IN:
            change = max(change, 0.0)
        if abs(change) > max(settings.drift_load, 0.4 * before):
            return f"the load of {name} is {percent(load)} now, and the plan was made for {percent(before)}"
    return ""
