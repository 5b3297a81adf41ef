"""Guards of policy: the engine does not act by itself; a person may still approve."""

from collections.abc import Mapping
from itertools import pairwise

from weir.controllers.engine.guard import hours
from weir.controllers.engine.guard.case import OPEN, Answer, Case, Guard
from weir.controllers.engine.propose.make import BY_HAND
from weir.controllers.engine.recommendation import (
    DONE,
    ENGINE,
    Kind,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Change, Move, Moves, Rescue, Scale
from weir.controllers.model.words import are, number_of, size

HOUR_S = 3600.0
OTHER_INPUT, OTHER_WORK_CORES = 1.5, 0.25
"""Work that differs by this factor, and by at least this many cores, is another input."""
REPEATED_RESCUE = "repeated rescue"


def step(case: Case, cluster: str) -> Answer:
    """Not too much at once."""
    decision, most = case.recommendation.decision, case.rules(cluster).largest_step
    if not isinstance(decision, Scale) or not most:
        return OPEN
    if abs(decision.executors - decision.before) <= most:
        return OPEN
    return f"{number_of(most, 'executor')} {are(most)} the most that change at once", None


def budget(case: Case, cluster: str) -> Answer:
    """Not too many actions by the engine itself."""
    most = case.rules(cluster).actions_per_hour
    begun = [
        entry.at
        for r in case.touching(cluster)
        if r.mode
        for entry in r.history
        if entry.status is Status.APPLYING
    ]
    own = [at for at in begun if case.now - at < HOUR_S]
    if not most or len(own) < most:
        return OPEN
    count = number_of(len(own), "action")
    why = f"{count} on {cluster} in an hour {are(len(own))} the most by the engine itself"
    return why, min(own) + HOUR_S


def flapping(case: Case, cluster: str) -> Answer:
    """Not out and in and out again; what people ask for by hand does not count."""
    rules, kind = case.rules(cluster), case.recommendation.kind
    if kind not in (Kind.SCALE_OUT, Kind.SCALE_IN):
        return OPEN
    past = sorted(
        (r.applied_at, r.kind)
        for r in case.touching(cluster)
        if r.applied_at
        and case.now - r.applied_at < rules.flap_window_s
        and r.kind in (Kind.SCALE_OUT, Kind.SCALE_IN)
        and r.source != BY_HAND
    )
    kinds = [*(k for _, k in past), kind]
    flips = sum(a != b for a, b in pairwise(kinds))
    if flips < rules.most_flips:
        return OPEN
    why = f"with this {cluster} would have gone out and in {number_of(flips, 'time')}"
    return why, past[0][0] + rules.flap_window_s


def excluded_hours(case: Case, cluster: str) -> Answer:
    """Not at these hours."""
    text = case.rules(cluster).excluded_hours
    if not hours.is_within(text, case.now):
        return OPEN
    return f"{text} UTC are excluded for {cluster}", hours.end_of_hours(text, case.now)


def migration_cost(case: Case, cluster: str) -> Answer:
    """Not too much state on the way."""
    most = case.rules(cluster).move_bytes_per_hour
    if isinstance(case.recommendation.decision, Scale) or not most:
        return OPEN
    past = [
        (r.applied_at, r.decision.prediction.cost or 0.0)
        for r in case.touching(cluster)
        if not isinstance(r.decision, Scale) and r.applied_at and case.now - r.applied_at < HOUR_S
    ]
    cost = case.recommendation.decision.prediction.cost or 0.0
    spent = sum(c for _, c in past)
    if spent + cost <= most:
        return OPEN
    opens_at = min(at for at, _ in past) + HOUR_S if past else None
    why = f"{size(spent + cost)} of state in an hour is over the budget of {size(most)}"
    return why, opens_at


def persons_decision(case: Case, cluster: str) -> Answer:
    """What a person did last is not taken back without asking one; a size that a person chose
    holds for the input that it was chosen for."""
    decision = case.recommendation.decision
    for other in sorted(case.touching(cluster), key=lambda r: -(r.applied_at or 0.0)):
        if other.status not in DONE or not _same_things(decision, other.decision):
            continue
        person = _person(other, undone=case.recommendation.rollback_of == other.id)
        if person and _takes_back(decision, other.decision):
            if _other_input(case.recommendation, other):
                return OPEN
            return f"{person} decided otherwise, and what a person did is not undone unasked", None
        return OPEN  # only the newest decision counts
    return OPEN


def _person(recommendation: Recommendation, undone: bool) -> str:
    """Who asked for it by hand; who approved it counts where exactly that is to be undone."""
    if recommendation.by != ENGINE:
        return recommendation.by
    approved = [e.by for e in recommendation.history if e.status is Status.APPROVED]
    return approved[-1] if undone and approved and approved[-1] != ENGINE else ""


def _other_input(now: Recommendation, then: Recommendation) -> bool:
    """Whether another size is asked for since much more or less work arrives than then."""
    work, was = now.before.work_cores, then.before.work_cores
    if now.rollback_of or work is None or was is None:
        return False
    if now.kind is Kind.SCALE_OUT:
        return work - was > max(OTHER_WORK_CORES, was * (OTHER_INPUT - 1.0))
    return now.kind is Kind.SCALE_IN and was - work > max(
        OTHER_WORK_CORES, work * (OTHER_INPUT - 1.0)
    )


def _same_things(a: Change, b: Change) -> bool:
    if isinstance(a, Scale) and isinstance(b, Scale):
        return a.cluster == b.cluster
    if isinstance(a, Moves) and isinstance(b, Moves):
        return not {m.operator for m in a.moves}.isdisjoint(m.operator for m in b.moves)
    return False


def _takes_back(a: Change, b: Change) -> bool:
    """Whether the first goes back on the second."""
    if isinstance(a, Scale) and isinstance(b, Scale):
        return (a.executors - a.before) * (b.executors - b.before) < 0
    if isinstance(a, Moves) and isinstance(b, Moves):
        back = {Move(operator=m.operator, source=m.target, target=m.source) for m in b.moves}
        return not back.isdisjoint(a.moves)
    return False


def repeated_rescue(case: Case, cluster: str) -> Answer:
    """Not an operator that was rescued again and again: it may be what kills its drivers."""
    decision, rules = case.recommendation.decision, case.failover
    if not isinstance(decision, Rescue) or not rules.most_rescues:
        return OPEN
    for move in decision.moves:
        past = [
            entry.at
            for r in case.others
            if isinstance(r.decision, Rescue) and r.id != case.recommendation.id
            if any(m.operator == move.operator for m in r.decision.moves)
            for entry in r.history
            if entry.status is Status.APPLYING and case.now - entry.at < rules.rescue_window_s
        ]
        if move.source == cluster and len(past) >= rules.most_rescues:
            why = f"{move.operator} was rescued {len(past)} times; it may be what kills its drivers"
            return why, min(past) + rules.rescue_window_s
    return OPEN


def pause(case: Case, cluster: str) -> Answer:
    """Automatic actions are not stopped."""
    del cluster
    return ("every automatic action is paused", None) if case.engine.paused else OPEN


POLICY: Mapping[str, Guard] = {
    "step limit": step,
    "action budget": budget,
    "flapping": flapping,
    "excluded hours": excluded_hours,
    "migration cost": migration_cost,
    "person's decision": persons_decision,
    REPEATED_RESCUE: repeated_rescue,
    "pause": pause,
}
