"""What spoils a verdict: something else happened between an action and its judgement.

A fault, a restart, another action or another input changes the same figures that the action
was to change. Then nobody can say what the action did, and it is *unmeasured*, with the
reason. Load is brought to the present input instead, as long as that is still comparable:
load follows the input in proportion, latency and queues do not.
"""

from collections.abc import Sequence
from itertools import pairwise

from weir.controllers.engine.facts import Facts
from weir.controllers.engine.recommendation import (
    DONE,
    Disturbance,
    Figures,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.sample import ClusterSample, OperatorStatus
from weir.controllers.model.words import percent, span

SILENT_PERIODS, SILENT_S = 5, 10.0
"""A cluster that reports nothing for this long was not only late."""
COMPARABLE = 2.0
"""Up to this factor between the inputs, load is brought from one to the other."""
SAME = 1.25
"""Up to this factor, latency and queues are compared as they are."""
Found = tuple[Disturbance, str]


def find_disturbance(recommendation: Recommendation, facts: Facts, now: float) -> Found | None:
    """What has happened since it was applied that changed the same figures."""
    since = recommendation.applied_at or now
    other = _other_action(recommendation, facts, since)
    if other:
        return Disturbance.OTHER_ACTION, other
    for cluster in recommendation.clusters:
        samples = [s for s in facts.samples.get(cluster, ()) if s.at >= since]
        found = _of_cluster(recommendation, cluster, samples)
        if found is not None:
            return found
    return None


def find_input_change(recommendation: Recommendation, measured: Figures) -> Found | None:
    """The input has changed so much that before and after cannot be compared."""
    was, work = recommendation.before.work_cores, measured.work_cores
    if not was or not work:
        return None
    most = COMPARABLE if recommendation.objective in ("load", "load_distance") else SAME
    if 1.0 / most <= work / was <= most:
        return None
    change = f"{percent(abs(work / was - 1.0))} {'more' if work > was else 'less'}"
    return Disturbance.INPUT_CHANGED, f"{change} work arrives than when it was decided"


def _other_action(recommendation: Recommendation, facts: Facts, since: float) -> str:
    for other in facts.recommendations:
        if other.id == recommendation.id or set(other.clusters).isdisjoint(recommendation.clusters):
            continue
        begun = [e.at for e in other.history if e.status is Status.APPLYING and e.at > since]
        if begun and (other.status in DONE or other.status in (Status.APPLYING, Status.FAILED)):
            return f"{other.source} acted on the same cluster {span(begun[0] - since)} after it"
    return ""


def _of_cluster(
    recommendation: Recommendation, cluster: str, samples: Sequence[ClusterSample]
) -> Found | None:
    for before, after in pairwise(samples):
        at = after.at - (recommendation.applied_at or after.at)
        if before.cluster.app_id != after.cluster.app_id:
            return Disturbance.RESTART, f"{cluster} was started anew {span(at)} after it"
        silent_s = after.at - before.at
        if silent_s > max(SILENT_PERIODS * after.period_s, SILENT_S):
            return Disturbance.FAULT, f"{cluster} reported nothing for {span(silent_s)}"
        if _has_lost_executors(recommendation, cluster, before, after):
            return Disturbance.FAULT, f"{cluster} lost an executor {span(at)} after it"
        runs = {o.name: o for o in before.operators}
        for operator in after.operators:
            past = runs.get(operator.name)
            if past is None:
                continue
            if operator.status in (OperatorStatus.RESTARTING, OperatorStatus.FAILED):
                return Disturbance.FAULT, f"{operator.name} failed {span(at)} after it"
            again = past.run_id and operator.run_id and past.run_id != operator.run_id
            if operator.restarts > past.restarts or again:
                return Disturbance.RESTART, f"{operator.name} was started anew {span(at)} after it"
    return None


def _has_lost_executors(
    recommendation: Recommendation, cluster: str, before: ClusterSample, after: ClusterSample
) -> bool:
    """Executors that were there are gone, though nobody asked for fewer."""
    decision = recommendation.decision
    if isinstance(decision, Scale) and decision.cluster == cluster:
        least = decision.executors
    else:
        least = after.cluster.executors_wanted if isinstance(decision, Moves) else 0
    return after.cluster.executors < min(before.cluster.executors, least)
