"""Open proposals: made, kept fresh, replaced, ended, and approved by the engine itself."""

from msgspec.structs import replace

from weir.controllers.engine.apply.effects import Chain, Create, Save
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard import guards
from weir.controllers.engine.guard.drift import DriftKind, drift
from weir.controllers.engine.guard.modes import strictest_mode, why_not_by_itself
from weir.controllers.engine.propose.make import ROLLBACK
from weir.controllers.engine.propose.together import contradicts
from weir.controllers.engine.propose.withdrawing import why_withdrawn
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status, move_to
from weir.controllers.model.decision import Rescue, Reslice, Scale
from weir.controllers.model.sample import Mode
from weir.controllers.model.words import span

HOLD_OPEN_S = 15.0
"""A proposal is not replaced sooner, so that a person can read it and answer."""


def review_proposals(facts: Facts, now: float) -> list[Chain]:
    """End proposals that are over, and approve what the engine may do by itself."""
    found: list[Chain] = []
    taken: set[str] = set()
    for recommendation in facts.recommendations:
        if recommendation.status is not Status.PROPOSED:
            continue
        if now > recommendation.expires_at:
            found.append((_step(recommendation, Status.EXPIRED, now, "nobody decided in time"),))
        elif recommendation.by == ENGINE:
            chain = _own(recommendation, facts, now, taken)
            if chain:
                found.append(chain)
    return found


def offer(recommendation: Recommendation, facts: Facts, now: float) -> tuple[Chain, str]:
    """Propose it to people, or say why not."""
    states = guards.guard_states(facts.case(recommendation, now))
    waits = guards.first_closed(states, guards.TIMING)
    if waits is not None:
        return (), waits.reason
    limits = {k: g for k, g in guards.HARD.items() if k != "agent"}  # advice is welcome anywhere
    forbidden = guards.first_closed(states, limits)
    if forbidden is not None:
        return (), forbidden.reason
    refused = _why_rejected(recommendation, facts, now)
    if refused:
        return (), refused
    recommendation = replace(recommendation, guards=states)
    same = [r for r in facts.recommendations if _same_kind(r, recommendation)]
    waiting = next((r for r in same if r.status is Status.APPROVED), None)
    if waiting is not None:
        return (), "what was approved has not begun yet"
    open_ = next((r for r in same if r.status is Status.PROPOSED), None)
    against = [r for r in facts.recommendations if _against(r, recommendation)]
    young = next((r for r in against if now - r.at < HOLD_OPEN_S), None)
    if young is not None:
        return (), "a proposal was just made"
    if open_ is None:
        ended = (
            _step(r, Status.SUPERSEDED, now, "a newer step of the plan takes its place")
            for r in against
        )
        return (*ended, Create(recommendation=recommendation)), ""
    if open_.plan_hash == recommendation.plan_hash:
        return _refresh(open_, recommendation, facts, now), ""
    if now - open_.at < HOLD_OPEN_S:
        return (), "a proposal was just made"
    gone = _step(open_, Status.SUPERSEDED, now, "a newer proposal takes its place")
    return (gone, Create(recommendation=recommendation)), ""


def _own(recommendation: Recommendation, facts: Facts, now: float, taken: set[str]) -> Chain:
    """A proposal of the engine itself: does it still hold, and may it be done at once?"""
    drifted = drift(
        recommendation, facts.snapshot, facts.placements, facts.engine, slicings=facts.slicings
    )
    if drifted and drifted.what is not DriftKind.SILENT:
        return (_step(recommendation, Status.SUPERSEDED, now, drifted.text),)
    mode = strictest_mode(facts.modes, recommendation.clusters)
    if mode is Mode.OBSERVE:
        return (_step(recommendation, Status.SUPERSEDED, now, "mode observe"),)
    why = _overtaken(recommendation, facts)
    if why:
        return (_step(recommendation, Status.SUPERSEDED, now, why),)
    why = why_withdrawn(recommendation, facts)
    if why:
        return (_step(recommendation, Status.CANCELLED, now, why),)
    tracks = {c: facts.track(c, recommendation.source) for c in recommendation.clusters}
    states = guards.guard_states(facts.case(recommendation, now))
    by_itself = not (
        why_not_by_itself(
            recommendation, mode, facts.criteria, tracks, now, facts.failover.rescue_by_itself
        )
        or guards.first_closed(states, guards.TIMING, guards.HARD, guards.POLICY)
        or _is_unjudged(recommendation, facts)
    )
    rescue = isinstance(recommendation.decision, Rescue)
    if by_itself and (rescue or taken.isdisjoint(recommendation.clusters)):
        taken.update(recommendation.clusters)
        approved = replace(recommendation, guards=states, mode=mode.value)
        return (_step(approved, Status.APPROVED, now, f"mode {mode.value}"),)
    if [(g.name, g.open) for g in states] == [(g.name, g.open) for g in recommendation.guards]:
        return ()
    after = replace(recommendation, guards=states, version=recommendation.version + 1)
    return (Save(recommendation=after, audit=False),)


def _overtaken(recommendation: Recommendation, facts: Facts) -> str:
    """A newer step of the plan stands in the inbox that this one contradicts."""
    if recommendation.source == ROLLBACK:
        return ""
    for other in facts.recommendations:
        newer = other.at > recommendation.at and other.by == ENGINE
        open_ = other.status in (Status.PROPOSED, Status.APPROVED, Status.APPLYING)
        counts = newer and open_ and other.source != ROLLBACK
        if counts and contradicts(recommendation, other):
            return "a newer step of the plan for size and place takes its place"
    return ""


def _is_unjudged(recommendation: Recommendation, facts: Facts) -> bool:
    """A rollback whose cause is not settled yet."""
    if recommendation.source != ROLLBACK:
        return False
    cause = next((r for r in facts.recommendations if r.id == recommendation.rollback_of), None)
    return cause is not None and not cause.status.final


def _refresh(open_: Recommendation, fresh: Recommendation, facts: Facts, now: float) -> Chain:
    """Extend the life of a proposal that still holds, with present figures; not every cycle."""
    if open_.expires_at - now > facts.engine.ttl_s / 2:
        return ()
    after = replace(
        open_,
        version=open_.version + 1,
        expires_at=fresh.expires_at,
        decision=fresh.decision,
        before=fresh.before,
        predicted=fresh.predicted,
        calibration=fresh.calibration,
        error_share=fresh.error_share,
        options=fresh.options,
        guards=fresh.guards,
    )
    return (Save(recommendation=after, audit=False),)


def _against(open_: Recommendation, fresh: Recommendation) -> bool:
    """An open proposal of the engine's own that cannot stand beside the fresh one."""
    own = open_.by == ENGINE and open_.status is Status.PROPOSED
    return own and ROLLBACK not in (open_.source, fresh.source) and contradicts(open_, fresh)


def _same_kind(a: Recommendation, b: Recommendation) -> bool:
    """Both are the engine's answer to the same question."""
    if a.by != ENGINE or ROLLBACK in (a.source, b.source):
        return False
    if isinstance(a.decision, Reslice) and isinstance(b.decision, Reslice):
        return a.decision.operator == b.decision.operator
    if not isinstance(a.decision, Scale) or not isinstance(b.decision, Scale):
        return a.kind is b.kind
    return a.clusters == b.clusters


def _why_rejected(recommendation: Recommendation, facts: Facts, now: float) -> str:
    for other in facts.recommendations:
        if other.status is Status.REJECTED and other.plan_hash == recommendation.plan_hash:
            last = other.history[-1]
            if now - last.at < facts.engine.reconsider_s:
                return f"{last.by} rejected the same {span(now - last.at)} ago"
    return ""


def _step(recommendation: Recommendation, status: Status, now: float, why: str) -> Save:
    return Save(recommendation=move_to(recommendation, status, at=now, by=ENGINE, why=why))
