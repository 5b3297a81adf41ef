"""What holds an action back: one small question each, answered with a reason and a time.

    timing   the engine does not propose yet (a person may still act)
    policy   the engine does not act by itself (a person may still approve)
    hard     nobody does it now

Each guard looks at one recommendation and one cluster that it touches.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.guard import hours
from weir.controllers.engine.guard.rules import EngineSettings, GuardSettings
from weir.controllers.engine.propose.make import BY_HAND
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import (
    DONE,
    ENGINE,
    GuardState,
    Kind,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Change, Move, Moves, Rescue, Scale
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import are, number_of

HOUR_S = 3600.0
OTHER_INPUT, OTHER_WORK_CORES = 1.5, 0.25
"""By this factor, and at least by so many cores, more or less work is another input."""


class Case(Struct, frozen=True, kw_only=True):
    """All that the guards look at."""

    recommendation: Recommendation
    snapshot: Snapshot
    now: float
    engine: EngineSettings = EngineSettings()
    failover: FailoverSettings = FailoverSettings()
    settings: Mapping[str, GuardSettings] = {}
    scaling: Mapping[str, ScaleSettings] = {}
    others: Sequence[Recommendation] = ()
    rebalances: Sequence[Rebalance] = ()
    fresh_periods: Mapping[str, int] = {}
    asked: Mapping[str, Sequence[tuple[float, int]]] = {}
    """Per cluster: when its scaler asked for how many executors, oldest first."""

    def rules(self, cluster: str) -> GuardSettings:
        """The guards' settings of a cluster."""
        return self.settings.get(cluster, GuardSettings())

    def touching(self, cluster: str) -> list[Recommendation]:
        """Other recommendations for the cluster."""
        own = self.recommendation.id
        return [r for r in self.others if cluster in r.clusters and r.id != own]


Answer = tuple[str, float | None]
"""Why it is closed (empty: open), and when it opens."""
OPEN: Answer = ("", None)


def data(case: Case, cluster: str) -> Answer:
    """Enough fresh periods."""
    found = case.snapshot.cluster(cluster)
    if found is None:
        return f"there are no figures of {cluster}", None
    if case.snapshot.stale(cluster):
        return f"the figures of {cluster} are {found.heartbeat_age_s:.0f} s old", None
    least, fresh = case.rules(cluster).least_periods, case.fresh_periods.get(cluster, 0)
    if fresh >= least:
        return OPEN
    opens_at = case.now + (least - fresh) * case.snapshot.period_s
    return f"{fresh} of {number_of(least, 'period')} of {cluster} {are(fresh)} there", opens_at


def warm_up(case: Case, cluster: str) -> Answer:
    """Its operators' first batches are over: they compile, load state and catch up."""
    begun = [
        (o.first_batch_at, o.name)
        for o in case.snapshot.operators_of(cluster)
        if o.first_batch_at is not None
    ]
    if not begun:
        return OPEN
    at, name = max(begun)
    opens_at = at + case.rules(cluster).warm_up_s
    if case.now >= opens_at:
        return OPEN
    return f"{name} began {max(case.now - at, 0.0):.0f} s ago: first batches say little", opens_at


def limits(case: Case, cluster: str) -> Answer:
    """Within what the cluster allows."""
    decision, found = case.recommendation.decision, case.snapshot.cluster(cluster)
    if not isinstance(decision, Scale) or found is None:
        return OPEN
    own = case.scaling.get(cluster, ScaleSettings())
    low = max(found.min_executors, own.min_executors)
    high = min(found.max_executors, own.max_executors or found.max_executors)
    if low <= decision.executors <= high:
        return OPEN
    return (
        f"{cluster} may have {low} to {number_of(high, 'executor')}, not {decision.executors}",
        None,
    )


def total(case: Case, cluster: str) -> Answer:
    """Within what all clusters together may have."""
    decision, most = case.recommendation.decision, case.engine.total_executors
    if not isinstance(decision, Scale) or not most or decision.executors <= decision.before:
        return OPEN
    coming = {
        r.decision.cluster: r.decision.executors
        for r in reversed(case.others)
        if isinstance(r.decision, Scale) and _is_coming(r, case)
    }
    others = sum(
        max(c.executors_asked, coming.get(c.name, 0))
        for c in case.snapshot.clusters
        if c.name != cluster
    )
    if others + decision.executors <= most:
        return OPEN
    return (
        f"{number_of(others, 'executor')} {are(others)} in use or coming elsewhere, and {most} {are(most)} the most over all",
        None,
    )


def _is_coming(recommendation: Recommendation, case: Case) -> bool:
    """Its executors are on their way or come before, or are there but not yet in the figures."""
    if recommendation.status is Status.APPLIED:
        return case.now - (recommendation.applied_at or 0.0) < 3 * max(case.snapshot.period_s, 2.0)
    if recommendation.status is Status.APPROVED:
        own = case.recommendation  # of two that are approved only the later one waits
        return own.status is not Status.APPROVED or turn(recommendation) < turn(own)
    return recommendation.status is Status.APPLYING


def turn(recommendation: Recommendation) -> tuple[float, str]:
    """The order in which approved actions begin."""
    history = recommendation.history
    return history[-1].at if history else recommendation.at, recommendation.id


def agent(case: Case, cluster: str) -> Answer:
    """Somebody is there to carry it out."""
    found = case.snapshot.cluster(cluster)
    decision = case.recommendation.decision
    scale = isinstance(decision, Scale)
    if isinstance(decision, Rescue) and cluster in decision.died_at:
        return OPEN  # nothing is asked of the dead
    if found is None or (found.can_scale if scale else found.hosted):
        return OPEN
    what = "scale" if scale else "start and stop operators in"
    return found.message or f"no agent can {what} {cluster}: a recommendation only", None


def step(case: Case, cluster: str) -> Answer:
    """Not too much at once."""
    decision, most = case.recommendation.decision, case.rules(cluster).largest_step
    if not isinstance(decision, Scale) or not most:
        return OPEN
    if abs(decision.executors - decision.before) <= most:
        return OPEN
    return f"{number_of(most, 'executor')} {are(most)} the most that change at once", None


def one_at_a_time(case: Case, cluster: str) -> Answer:
    """Nothing else is under way there."""
    if any(r.status is Status.APPLYING for r in case.touching(cluster)):
        return f"another action on {cluster} is under way", None
    for rebalance in case.rebalances:
        ends = {c for m in rebalance.moves for c in (m.move.source, m.move.target)}
        open_ = any(not m.step.final for m in rebalance.moves)
        if open_ and cluster in ends and rebalance.id != case.recommendation.id:
            return f"a rebalance with {cluster} is under way", None
    return OPEN


def stabilisation(case: Case, cluster: str) -> Answer:
    """Time since the last action."""
    ends = [r.applied_at for r in case.touching(cluster) if r.status in DONE and r.applied_at] + [
        r.history[-1].at for r in case.touching(cluster) if r.status is Status.FAILED
    ]
    opens_at = max(ends, default=0.0) + case.rules(cluster).stabilisation_s
    if not ends or case.now >= opens_at:
        return OPEN
    return f"{cluster} is to settle after the last action", opens_at


def still_to_come(case: Case, cluster: str) -> Answer:
    """What was asked for before has arrived: asking for more brings nothing sooner."""
    found = case.snapshot.cluster(cluster)
    if case.recommendation.kind is not Kind.SCALE_OUT or found is None:
        return OPEN
    if found.executors >= found.executors_wanted:
        return OPEN
    there, wanted = found.executors, found.executors_wanted
    return (
        f"{there} of the {number_of(wanted, 'executor')} asked for in {cluster} {are(there)} there",
        None,
    )


def scale_in_delay(case: Case, cluster: str) -> Answer:
    """The scaler has asked for no more than this for a while."""
    recommendation, decision = case.recommendation, case.recommendation.decision
    delay_s = case.rules(cluster).scale_in_delay_s
    if recommendation.kind is not Kind.SCALE_IN or not isinstance(decision, Scale) or not delay_s:
        return OPEN
    if recommendation.rollback_of or recommendation.source == BY_HAND:
        return OPEN
    asked = case.asked.get(cluster, ())
    larger = [at for at, target in asked if target > decision.executors]
    since = max([*larger, *(at for at, _ in asked[:1])], default=case.now)
    if case.now >= since + delay_s:
        return OPEN
    return f"fewer executors of {cluster} are to be asked for {delay_s:.0f} s long", since + delay_s


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
    return f"{len(own)} actions on {cluster} in the last hour are the budget", min(own) + HOUR_S


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
    return f"{cluster} went out and in {flips} times", past[0][0] + rules.flap_window_s


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
    return f"{spent + cost:,.0f} bytes in an hour are over the budget of {most:,.0f}", opens_at


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


TIMING: Mapping[str, Callable[[Case, str], Answer]] = {
    "data gate": data,
    "warm-up": warm_up,
    "one action at a time": one_at_a_time,
    "stabilisation": stabilisation,
    "still to come": still_to_come,
    "scale-in delay": scale_in_delay,
}
POLICY: Mapping[str, Callable[[Case, str], Answer]] = {
    "step limit": step,
    "action budget": budget,
    "flapping": flapping,
    "excluded hours": excluded_hours,
    "migration cost": migration_cost,
    "person's decision": persons_decision,
    "repeated rescue": repeated_rescue,
    "pause": pause,
}
RESCUING = ("agent", "repeated rescue", "pause")
"""What holds a rescue back. The others weigh an action against leaving things as they are, and
with a cluster that is dead things are not as they are."""
HARD: Mapping[str, Callable[[Case, str], Answer]] = {
    "executor limits": limits,
    "total capacity": total,
    "agent": agent,
}


def guard_states(case: Case) -> tuple[GuardState, ...]:
    """Every guard's answer; of several clusters, that of the first that holds it back."""
    states = []
    rescue = isinstance(case.recommendation.decision, Rescue)
    for name, guard in {**TIMING, **HARD, **POLICY}.items():
        if (rescue and name not in RESCUING) or (not rescue and name == "repeated rescue"):
            continue
        found = [guard(case, cluster) for cluster in case.recommendation.clusters]
        why, opens_at = next((answer for answer in found if answer[0]), OPEN)
        states.append(GuardState(name=name, open=not why, reason=why, opens_at=opens_at))
    return tuple(states)


def first_closed(
    states: Iterable[GuardState], *kinds: Mapping[str, Callable[[Case, str], Answer]]
) -> GuardState | None:
    """The first guard of these kinds that is closed.

    >>> first_closed([GuardState(name="pause", open=False, reason="paused")], POLICY).reason
    'paused'
    """
    names = {name for kind in kinds for name in kind}
    return next((s for s in states if s.name in names and not s.open), None)
