"""Hard guards: nobody does it now."""

from collections.abc import Mapping

from weir.controllers.engine.guard.case import OPEN, Answer, Case, Guard
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import (
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Rescue, Scale
from weir.controllers.model.words import are, number_of


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


HARD: Mapping[str, Guard] = {
    "executor limits": limits,
    "total capacity": total,
    "agent": agent,
}
