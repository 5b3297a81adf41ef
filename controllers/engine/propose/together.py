"""Balancing and scaling together: what a rebalance cures needs no new executors.

    plan -> does scaling want something, given this plan?
              no: that is the plan, and what it cures is not scaled out
              yes: scale first; then it is planned again

After the integrative framework of Madsen, Zhou, Cao (ICDE 2017), see
`weir.controllers.balancing.integrative`.
"""

from collections.abc import Mapping

from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Problem
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.modes import strictest
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.snapshot import Mode, Snapshot

PLAN_AGE_S = 20.0
SUPPRESS_S = 60.0
"""How long a rebalance that waits for approval keeps a cluster from being scaled out."""


def cures(plan: Plan | None, cluster: str, below: float) -> str:
    """In which way a plan makes scaling out this cluster needless; empty if it does not."""
    if plan is None or cluster not in plan.after.load:
        return ""
    moved = [m for m in plan.moves if m.source == cluster]
    if not moved or max(plan.after.load.values()) > 100.0 * below:
        return ""
    names = ", ".join(f"{m.operator} to {m.target}" for m in moved)
    return (
        f"moving {names} brings {cluster} from {plan.before.load[cluster]:.0f} to "
        f"{plan.after.load[cluster]:.0f} % of its capacity, so it needs no more executors"
    )


def cured(decision: Scale, facts: Facts, now: float) -> str:
    """The rebalance that makes a scale-out needless: proposed, under way, or about to be.

    One that nobody approves counts only for a while: then people may choose between both.
    """
    if decision.executors <= decision.before:
        return ""
    below, cluster = facts.engine.cured_below, decision.cluster
    open_ = [r for r in facts.recommendations if r.kind == "rebalance" and not r.status.final]
    for other in open_:
        if not isinstance(other.decision, Moves) or not _counts(other, now):
            continue
        load = other.decision.prediction.load
        moved = any(m.source == cluster for m in other.decision.moves)
        if moved and max(load.values(), default=9.0) <= below:
            return f"the rebalance that is {other.status} brings {cluster} to {load[cluster]:.0%}"
    if any(r.status is Status.PROPOSED and not _counts(r, now) for r in open_):
        return ""
    view = facts.outlook
    if view is None or view.wait or now - view.at > PLAN_AGE_S:
        return ""
    plan = followed(view, facts)
    if plan is None or strictest(facts.modes, touched(plan)) in (Mode.OBSERVE, Mode.RECOMMEND):
        return ""
    return cures(plan, cluster, below)


def followed(view: Outlook, facts: Facts) -> Plan | None:
    """The plan of the planner that is followed; None if there is no such planner."""
    name = facts.balance.planner
    return next((p.plan for p in view.proposals if p.plan.planner == name), None)


def touched(plan: Plan) -> set[str]:
    """The clusters that a plan takes from or gives to."""
    return {c for m in plan.moves for c in (m.source, m.target)}


def _counts(rebalance: Recommendation, now: float) -> bool:
    """Whether it may keep others from acting."""
    if rebalance.status is Status.PROPOSED:
        return now - rebalance.at < SUPPRESS_S
    return rebalance.status in (Status.APPROVED, Status.APPLYING)


def first_scaled(
    plan: Plan,
    problem: Problem,
    scales: Mapping[str, Scale],
    snapshot: Snapshot,
    below: float,
) -> list[str]:
    """Clusters that are to be scaled out before anything moves: the plan does not cure them."""
    capacity = {b.name: b.capacity for b in problem.bins}
    return sorted(
        name
        for name, scale in scales.items()
        if scale.executors > scale.before
        and _cores(snapshot, scale) not in (0.0, capacity.get(name, 0.0))
        and name in capacity
        and not cures(plan, name, below)
    )


def _cores(snapshot: Snapshot, scale: Scale) -> float:
    cluster = snapshot.cluster(scale.cluster)
    return float(scale.executors * cluster.cores_per_executor) if cluster else 0.0
