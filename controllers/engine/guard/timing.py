"""Guards of timing: the engine does not propose yet; a person may still act."""

from collections.abc import Mapping

from weir.controllers.engine.guard.case import OPEN, Answer, Case, Guard
from weir.controllers.engine.propose.make import BY_HAND
from weir.controllers.engine.recommendation import (
    DONE,
    Kind,
    Status,
)
from weir.controllers.model.decision import Scale
from weir.controllers.model.words import are, number_of, span


def data(case: Case, cluster: str) -> Answer:
    """Enough fresh periods."""
    found = case.snapshot.cluster(cluster)
    if found is None:
        return f"there are no figures of {cluster}", None
    if case.snapshot.stale(cluster):
        return f"the figures of {cluster} are {span(found.heartbeat_age_s)} old", None
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
    return f"{name} began {span(case.now - at)} ago: first batches say little", opens_at


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
    """What was asked for before has arrived: asking for more would not speed it up."""
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
    why = f"fewer executors are to be wanted for {span(delay_s)} before {cluster} gets fewer"
    return why, since + delay_s


TIMING: Mapping[str, Guard] = {
    "data gate": data,
    "warm-up": warm_up,
    "one action at a time": one_at_a_time,
    "stabilisation": stabilisation,
    "still to come": still_to_come,
    "scale-in delay": scale_in_delay,
}
