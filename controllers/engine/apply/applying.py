"""From approved to applied: give the order, watch it, undo what was half done."""

from collections.abc import Iterable

from msgspec.structs import replace

from weir.controllers.engine.apply.effects import (
    BackOff,
    Chain,
    Create,
    Effect,
    Save,
    Start,
    StartReslice,
    Submit,
)
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.engine.facts import ATTEMPTS, Facts, command_id, is_passed_over
from weir.controllers.engine.guard import guards
from weir.controllers.engine.guard.drift import drift
from weir.controllers.engine.guard.modes import may_act_unasked, strictest_mode, why_not_by_itself
from weir.controllers.engine.judge.figures import figures_now
from weir.controllers.engine.judge.judging import judge_early
from weir.controllers.engine.propose.make import (
    ROLLBACK,
    UNDO,
    new_recommendation,
    offer_again,
    undoing_decision,
)
from weir.controllers.engine.recommendation import (
    ENGINE,
    GuardState,
    Recommendation,
    Status,
    move_to,
)
from weir.controllers.model.command import Command, CommandStatus, ScaleTo
from weir.controllers.model.decision import Moves, Rescue, Reslice, Scale

EXPIRES_AFTER_S = 30.0
GIVE_UP_S = 300.0
"""A command that is unfinished this long after it was given counts as failed."""


def apply_approved(facts: Facts, now: float) -> list[Chain]:
    """Begin what is approved, oldest first, and follow what has begun."""
    found: list[Chain] = []
    busy: set[str] = set()
    for recommendation in _oldest_first(facts.recommendations, Status.APPLYING):
        busy.update(recommendation.clusters)
        found.append(_watch(recommendation, facts, now))
    for recommendation in _oldest_first(facts.recommendations, Status.APPROVED):
        if isinstance(recommendation.decision, Rescue) or busy.isdisjoint(recommendation.clusters):
            chain = _begin(recommendation, facts, now)
            if any(isinstance(effect, Submit | Start | StartReslice) for effect in chain):
                busy.update(recommendation.clusters)
        else:
            chain = _fail_overdue(recommendation, facts, now)
        found.append(chain)
    return [chain for chain in found if chain]


def _begin(recommendation: Recommendation, facts: Facts, now: float) -> Chain:
    """Begin it if nothing holds it back now."""
    late = _fail_overdue(recommendation, facts, now)
    if late:
        return late
    by_itself = bool(recommendation.mode)
    if by_itself:
        mode = strictest_mode(facts.modes, recommendation.clusters)
        tracks = {c: facts.track(c, recommendation.source) for c in recommendation.clusters}
        why = why_not_by_itself(
            recommendation, mode, facts.criteria, tracks, now, facts.failover.rescue_by_itself
        )
        if why:
            return (Save(recommendation=_advance(recommendation, Status.CANCELLED, now, why)),)
    states = guards.guard_states(facts.case(recommendation, now))
    kinds = (guards.HARD, guards.TIMING, guards.POLICY) if by_itself else (guards.HARD,)
    waits = guards.first_closed(states, *kinds) or guards.first_closed(
        states, {"one action at a time": guards.one_at_a_time}
    )
    if waits is not None:
        return _note_guards(recommendation, states)
    drifted = drift(
        recommendation, facts.snapshot, facts.placements, facts.engine,
        _loads(recommendation, facts, now), facts.slicings,
    )  # fmt: skip
    if drifted:
        return _supersede(recommendation, facts, now, drifted.text)
    applying = _advance(replace(recommendation, guards=states), Status.APPLYING, now)
    before = [
        effect
        for other in facts.recommendations
        if other.status is Status.APPLIED and not set(other.clusters).isdisjoint(applying.clusters)
        for effect in judge_early(other, applying, facts, now)
    ]
    if by_itself and any(isinstance(effect, BackOff) for effect in before):
        return tuple(before)  # in the stricter mode it may need a person's approval
    return (*before, Save(recommendation=applying), _order(applying, facts, now, 0))


def _loads(recommendation: Recommendation, facts: Facts, now: float) -> dict[str, float]:
    """The present loads, as checked at approval. Half a rebalance is undone whatever they are."""
    if isinstance(recommendation.decision, Rescue):
        return {}
    if _requester(recommendation) == ENGINE and not recommendation.mode:
        return {}
    recent = facts.lately(recommendation.clusters, now)
    return figures_now(recommendation.decision, facts.snapshot, facts.outlook, recent).load


def _order(recommendation: Recommendation, facts: Facts, now: float, number: int) -> Effect:
    """The command or rebalance that does it, under the recommendation's own id."""
    decision = recommendation.decision
    if isinstance(decision, Moves):
        return Start(
            rebalance=Rebalance(
                id=recommendation.id,
                at=now,
                moves=tuple(MoveState(move=move) for move in decision.moves),
                by=_requester(recommendation),
                planner=recommendation.source,
                why=decision.reason.text,
                died_at=decision.died_at if isinstance(decision, Rescue) else {},
            )
        )
    if isinstance(decision, Reslice):
        return StartReslice(
            reslicing=Reslicing(
                id=recommendation.id,
                at=now,
                operator=decision.operator,
                was=decision.was,
                owners=decision.owners,
                clusters=decision.clusters,
                by=_requester(recommendation),
                planner=recommendation.source,
                why=decision.reason.text,
                since=now,
            )
        )
    return Submit(
        command=Command(
            id=command_id(recommendation.id, number),
            cluster=decision.cluster,
            action=ScaleTo(executors=decision.executors),
            issued_at=now,
            expires_at=now + EXPIRES_AFTER_S,
            by=_requester(recommendation),
            fence=facts.token,
        )
    )


def _watch(recommendation: Recommendation, facts: Facts, now: float) -> Chain:
    """What became of an action that has begun; its order is given again if it was lost."""
    if isinstance(recommendation.decision, Scale):
        return _watch_scale(recommendation, facts, now)
    if isinstance(recommendation.decision, Reslice):
        return _watch_reslice(recommendation, recommendation.decision, facts, now)
    moves = recommendation.decision.moves
    rebalance = next(
        (
            r
            for r in facts.rebalances
            if r.id == recommendation.id and tuple(m.move for m in r.moves) == moves
        ),
        None,
    )
    if rebalance is None:
        return (_order(recommendation, facts, now, 0),)
    if not all(m.step.final for m in rebalance.moves):
        return ()
    if all(m.step is MoveStep.DONE for m in rebalance.moves):
        return _finish(recommendation, now, "every operator has arrived")
    why = "; ".join(
        f"{m.move.operator}: {m.message or m.step}"
        for m in rebalance.moves
        if m.step is not MoveStep.DONE
    )
    return _fail(recommendation, facts, now, why)


def _watch_reslice(
    recommendation: Recommendation, decision: Reslice, facts: Facts, now: float
) -> Chain:
    found = next(
        (r for r in facts.reslicings if r.id == recommendation.id and r.owners == decision.owners),
        None,
    )
    if found is None:
        return (_order(recommendation, facts, now, 0),)
    if found.step is ResliceStep.DONE:
        return _finish(recommendation, now, found.message or "every new owner has committed")
    if found.final:
        return _fail(recommendation, facts, now, found.message or str(found.step))
    return ()


def _watch_scale(recommendation: Recommendation, facts: Facts, now: float) -> Chain:
    number = 0
    while (told := facts.commands.get(command_id(recommendation.id, number))) is not None:
        if not is_passed_over(recommendation, told, facts.token):
            break
        number += 1
    if told is None and number >= ATTEMPTS:
        return _fail(recommendation, facts, now, f"it was ordered {number} times in vain")
    if told is None and recommendation.mode and facts.engine.paused:
        return _fail(recommendation, facts, now, "every automatic action is paused")
    if told is None:
        return (_order(recommendation, facts, now, number),)
    command, result = told
    if result.status is CommandStatus.DONE:
        return _finish(recommendation, now, result.message)
    if result.status.final:
        return _fail(recommendation, facts, now, result.message or str(result.status))
    silent = result.status is CommandStatus.PENDING and now > command.expires_at + 5.0
    if silent or now - command.issued_at > GIVE_UP_S:
        return _fail(recommendation, facts, now, f"the agent of {command.cluster} does not answer")
    return ()


def _finish(recommendation: Recommendation, now: float, why: str) -> Chain:
    after = replace(_advance(recommendation, Status.APPLIED, now, why), applied_at=now)
    return (Save(recommendation=after),)


def _fail(recommendation: Recommendation, facts: Facts, now: float, why: str) -> Chain:
    """It failed. Half a rebalance is undone by a recommendation of the engine's own, which
    wants approval if a person asked for that rebalance by hand.

    A size is not: what was asked stays asked until something else is. To take it back would
    remove the executors that did come, while they are needed as before. A re-slice that
    fails has gone back by itself.
    """
    failed = _advance(recommendation, Status.FAILED, now, why)
    if isinstance(recommendation.decision, Scale | Reslice | Rescue):
        return (Save(recommendation=failed),)  # what is still lost is rescued again
    text = f"Takes back what was half done: {why}."
    back = undoing_decision(recommendation, facts.snapshot, facts.placements, text, facts.slicings)
    if back is None or recommendation.rollback_of is not None:
        return (Save(recommendation=failed),)
    undo = new_recommendation(
        back,
        facts.snapshot,
        id=recommendation.id + UNDO,
        source=ROLLBACK,
        now=now,
        ttl_s=facts.engine.ttl_s,
        outlook=facts.outlook,
        rollback_of=recommendation.id,
    )
    if recommendation.by == ENGINE:  # what a person asked for by hand is not undone unasked
        undo = replace(_advance(undo, Status.APPROVED, now, text), version=0)
    return (Create(recommendation=undo), Save(recommendation=failed))


def _supersede(recommendation: Recommendation, facts: Facts, now: float, why: str) -> Chain:
    gone = Save(recommendation=_advance(recommendation, Status.SUPERSEDED, now, why))
    if may_act_unasked(recommendation, facts.modes):
        return (gone,)
    again = offer_again(
        recommendation, facts.snapshot, facts.placements, facts.outlook, facts.engine, now, why,
        facts.lately(recommendation.clusters, now), facts.slicings,
    )  # fmt: skip
    return (gone,) if again is None else (gone, Create(recommendation=again))


def _fail_overdue(recommendation: Recommendation, facts: Facts, now: float) -> Chain:
    approved_at = recommendation.history[-1].at if recommendation.history else recommendation.at
    if now <= max(recommendation.expires_at, approved_at + facts.engine.ttl_s):
        return ()
    why = next((g.reason for g in recommendation.guards if not g.open), "its time is over")
    return (Save(recommendation=_advance(recommendation, Status.EXPIRED, now, why)),)


def _note_guards(recommendation: Recommendation, states: tuple[GuardState, ...]) -> Chain:
    """What it waits for, if that has changed."""
    if [(g.name, g.open) for g in states] == [(g.name, g.open) for g in recommendation.guards]:
        return ()
    after = replace(recommendation, guards=states, version=recommendation.version + 1)
    return (Save(recommendation=after, audit=False),)


def _advance(
    recommendation: Recommendation, status: Status, now: float, why: str = ""
) -> Recommendation:
    return move_to(recommendation, status, at=now, by=ENGINE, why=why)


def _requester(recommendation: Recommendation) -> str:
    approved = [e.by for e in recommendation.history if e.status is Status.APPROVED]
    return approved[-1] if approved else recommendation.by


def _oldest_first(found: Iterable[Recommendation], status: Status) -> list[Recommendation]:
    return sorted((r for r in found if r.status is status), key=guards.turn)
