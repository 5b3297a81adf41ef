"""How much each cluster lets the engine do, and what it may do by itself.

    observe                the engine looks, and proposes nothing
    recommend              advice only: it cannot be approved, a person does it by hand or not
    approve                a person approves
    auto within criteria   by itself if the criteria hold, else a person approves
    auto                   by itself

What touches several clusters goes by the strictest of their modes. A rescue is done by itself from
mode approve on, unless the settings of failover say otherwise: to leave operators dead until
somebody looks is the worse surprise.
"""

from collections.abc import Iterable, Mapping

from weir.controllers.engine.guard import hours
from weir.controllers.engine.guard.rules import Criteria
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.engine.recommendation import ENGINE, Kind, Recommendation
from weir.controllers.model.decision import Scale
from weir.controllers.model.sample import Mode
from weir.controllers.model.words import number_of, percent, size

LADDER = (Mode.OBSERVE, Mode.RECOMMEND, Mode.APPROVE, Mode.AUTO_WITHIN_CRITERIA, Mode.AUTO)


def strictest_mode(modes: Mapping[str, Mode], clusters: Iterable[str]) -> Mode:
    """The mode that counts for something that touches these clusters.

    >>> strictest_mode({"a": Mode.AUTO}, ["a", "b"]).value
    'approve'
    """
    found = [modes.get(c, Mode.APPROVE) for c in clusters]
    return min(found, key=LADDER.index, default=Mode.APPROVE)


def may_act_unasked(recommendation: Recommendation, modes: Mapping[str, Mode]) -> bool:
    """The engine might do it without a person: then a stale one is not offered again, as the
    scaler or planner behind it has to look first."""
    automatic = strictest_mode(modes, recommendation.clusters) in (
        Mode.AUTO_WITHIN_CRITERIA,
        Mode.AUTO,
    )
    return automatic and recommendation.by == ENGINE


def stricter_mode(mode: Mode) -> Mode:
    """One step stricter, but never stricter than approve.

    >>> stricter_mode(Mode.AUTO).value, stricter_mode(Mode.APPROVE).value
    ('auto_within_criteria', 'approve')
    """
    if mode not in (Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA):
        return mode
    return LADDER[LADDER.index(mode) - 1]


def why_not_by_itself(
    recommendation: Recommendation,
    mode: Mode,
    criteria: Mapping[str, Criteria],
    tracks: Mapping[str, TrackRecord],
    now: float,
    rescue_by_itself: bool = True,
) -> str:
    """Why the engine does not do it without being told; empty if it may."""
    if recommendation.kind is Kind.RESCUE and not recommendation.rollback_of:
        if mode.advice_only:
            return f"mode {mode.value}: it is advice only"
        return "" if rescue_by_itself else "rescues wait for approval"
    if mode is Mode.AUTO:
        return ""
    if mode is not Mode.AUTO_WITHIN_CRITERIA:
        return f"mode {mode.value}: somebody has to approve it"
    for cluster in recommendation.clusters:
        why = _outside(
            recommendation,
            criteria.get(cluster, Criteria()),
            tracks.get(cluster, TrackRecord()),
            now,
        )
        if why:
            return f"{cluster}: {why}"
    return ""


def _outside(
    recommendation: Recommendation, criteria: Criteria, track: TrackRecord, now: float
) -> str:
    kind, decision = recommendation.kind, recommendation.decision
    if not getattr(criteria, kind):
        return f"{kind.replace('_', '-')} is not among what is automatic"
    if isinstance(decision, Scale):
        step = abs(decision.executors - decision.before)
        if step > criteria.largest_step:
            return f"a step of {step} is more than {criteria.largest_step}"
    elif (decision.prediction.cost or 0.0) > criteria.most_move_bytes:
        moved, most = size(decision.prediction.cost or 0.0), size(criteria.most_move_bytes)
        return f"{moved} of state to move is over the {most} allowed at once"
    if criteria.hours and not hours.is_within(criteria.hours, now):
        return f"it is not between {criteria.hours} UTC"
    if track.judged < criteria.least_judged:
        return (
            f"{recommendation.source} has {track.judged} of the "
            f"{number_of(criteria.least_judged, 'judged action')} it needs"
        )
    if criteria.least_judged and track.effective_share < criteria.least_effective_share:
        return (
            f"{percent(track.effective_share)} of {recommendation.source}'s actions were effective, "
            f"not {percent(criteria.least_effective_share)}"
        )
    return ""
