"""After the settling time: judge what was applied, and draw the consequences."""

from msgspec.structs import replace

from weir.controllers.engine.apply.effects import BackOff, Chain, Create, Effect, Save
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.modes import LADDER, stricter_mode
from weir.controllers.engine.judge.disturbance import Found, find_disturbance, find_input_change
from weir.controllers.engine.judge.figures import figures_now
from weir.controllers.engine.judge.verification import judge, unmeasured_verdict
from weir.controllers.engine.propose.make import (
    BACK,
    ROLLBACK,
    new_recommendation,
    undoing_decision,
)
from weir.controllers.engine.recommendation import (
    ENGINE,
    Disturbance,
    Judgement,
    Kind,
    Recommendation,
    Status,
    move_to,
)
from weir.controllers.model.decision import Change, Rescue, Reslice, Scale
from weir.controllers.model.sample import Mode

PATIENCE = 3.0
"""Without fresh figures the verdict waits, for at most this many settling times."""


def judge_outcomes(facts: Facts, now: float) -> list[Chain]:
    """Judge what has had its time to settle."""
    found: list[Chain] = []
    for recommendation in facts.recommendations:
        if recommendation.status is not Status.APPLIED:
            continue
        if isinstance(recommendation.decision, Rescue):
            found.append((Save(recommendation=_judge_rescue(recommendation, facts, now)),))
            continue
        age_s = now - (recommendation.applied_at or now)
        if age_s < facts.engine.settle_s:
            continue
        if _silent(recommendation, facts) and age_s < PATIENCE * facts.engine.settle_s:
            continue
        after = _verify(recommendation, facts, now)
        found.append((*_consequences(after, facts, now), Save(recommendation=after)))
    return found


def _judge_rescue(recommendation: Recommendation, facts: Facts, now: float) -> Recommendation:
    """A rescue is judged as soon as all that it moved commits: by how long that took."""
    decision = recommendation.decision
    assert isinstance(decision, Rescue)
    rebalance = next((r for r in facts.rebalances if r.id == recommendation.id), None)
    seconds = {m.move.operator: m.rescued_s for m in rebalance.moves} if rebalance else {}
    known = [s for s in seconds.values() if s is not None]
    said = ", ".join(
        f"{m.operator} in {m.target} "
        + (
            f"after {s:.1f} s"
            if (s := seconds.get(m.operator)) is not None
            else "without input yet"
        )
        for m in decision.moves
    )
    verdict = f"{' and '.join(decision.died_at)} died. First commit elsewhere: {said}."
    measured = figures_now(decision, facts.snapshot, facts.outlook)
    measured = replace(measured, outage_s=max(known, default=None))
    judgement = Judgement(
        objective="outage_s",
        predicted=recommendation.predicted.outage_s,
        measured=measured.outage_s,
        helped=True,
        why="what was lost commits again",
    )
    after = replace(
        recommendation,
        measured=measured,
        effectiveness=1.0,
        verdict=verdict,
        judgement=judgement,
    )
    return move_to(after, Status.EFFECTIVE, at=now, by=ENGINE, why=verdict)


def judge_early(
    recommendation: Recommendation, following: Recommendation, facts: Facts, now: float
) -> Chain:
    """Judge it before its time, because the following action begins.

    What that one changes anyway is not proposed to be taken back.
    """
    if isinstance(recommendation.decision, Rescue):
        return (Save(recommendation=_judge_rescue(recommendation, facts, now)),)
    after = _verify(recommendation, facts, now, early=True)
    effects = _consequences(after, facts, now)
    if _replaces(following, recommendation):
        effects = [e for e in effects if not isinstance(e, Create)]
    return (*effects, Save(recommendation=after))


def _verify(
    recommendation: Recommendation, facts: Facts, now: float, *, early: bool = False
) -> Recommendation:
    """The recommendation with what was measured and what that is worth."""
    applied_at = recommendation.applied_at or now
    settled_at = applied_at + facts.engine.settle_s / 2
    recent = {c: facts.recent(c, now, since=settled_at) for c in recommendation.clusters}
    measured = figures_now(recommendation.decision, facts.snapshot, facts.outlook, recent)
    spoilt: Found | None = None
    if early and now < settled_at:
        text = "the next action came before its effect could be measured"
        spoilt = Disturbance.NEXT_ACTION, text
    spoilt = spoilt or find_disturbance(recommendation, facts, now)
    spoilt = spoilt or find_input_change(recommendation, measured)
    result = (
        unmeasured_verdict(recommendation, *spoilt, measured)
        if spoilt
        else judge(recommendation, measured, facts.engine.least_effectiveness)
    )
    judged = replace(
        recommendation,
        measured=measured,
        effectiveness=result.effectiveness,
        verdict=result.verdict,
        judgement=result.judgement,
    )
    return move_to(judged, result.status, at=now, by=ENGINE, why=result.verdict)


def _consequences(recommendation: Recommendation, facts: Facts, now: float) -> list[Effect]:
    """For an action that did not help: propose its rollback and make the mode stricter.

    They are kept before the verdict itself, so that a crash in between loses none.
    """
    if recommendation.status is not Status.INEFFECTIVE:
        return []
    effects: list[Effect] = []
    back = undoing_decision(
        recommendation,
        facts.snapshot,
        facts.placements,
        f"It did not help: {recommendation.verdict}",
        facts.slicings,
    )
    leaves = _short(recommendation) or _needless(recommendation, facts)
    if back is not None and recommendation.rollback_of is None and not leaves:
        rollback = new_recommendation(
            back,
            facts.snapshot,
            id=recommendation.id + BACK,
            source=ROLLBACK,
            now=now,
            ttl_s=facts.engine.ttl_s,
            outlook=facts.outlook,
            recent=facts.lately(recommendation.clusters, now),
            rollback_of=recommendation.id,
        )
        effects.append(Create(recommendation=rollback))
    if not recommendation.mode:
        return effects
    wanted = stricter_mode(Mode(recommendation.mode))
    for cluster in recommendation.clusters:
        mode = facts.modes.get(cluster, Mode.APPROVE)
        if LADDER.index(mode) <= LADDER.index(wanted):
            continue
        said = AuditEntry(
            at=now,
            by=ENGINE,
            action="mode.backed_off",
            subject=cluster,
            why=f"{recommendation.id} was ineffective: {recommendation.verdict}",
            before={"mode": mode.value},
            detail=f"{mode.value} -> {wanted.value}",
        )
        effects.append(BackOff(cluster=cluster, before=mode, mode=wanted, audit=said))
    return effects


def _replaces(following: Recommendation, recommendation: Recommendation) -> bool:
    """Both set the size of the same cluster, or the place of the same operator."""
    return not _things(following.decision).isdisjoint(_things(recommendation.decision))


def _things(decision: Change) -> set[tuple[str, str]]:
    if isinstance(decision, Scale):
        return {("cluster", decision.cluster)}
    if isinstance(decision, Reslice):
        return {("operator", name) for name in (*decision.was, *decision.owners)}
    return {("operator", m.operator) for m in decision.moves}


def _short(recommendation: Recommendation) -> bool:
    """Executors of a scale-out are missing: it did not help for want of them, and to take away
    those that came would make it worse."""
    decision, measured = recommendation.decision, recommendation.measured
    if not isinstance(decision, Scale) or measured is None:
        return False
    there = measured.executors.get(decision.cluster, decision.executors)
    return decision.before < decision.executors and there < decision.executors


def _needless(recommendation: Recommendation, facts: Facts) -> bool:
    """A scale-out did what was predicted where nobody needed it: the size is left to the scaler."""
    share = recommendation.effectiveness
    return (
        recommendation.kind is Kind.SCALE_OUT
        and share is not None
        and share >= facts.engine.least_effectiveness
    )


def _silent(recommendation: Recommendation, facts: Facts) -> bool:
    return any(facts.snapshot.stale(name) for name in recommendation.clusters)
