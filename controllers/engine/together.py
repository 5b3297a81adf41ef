"""Balancing and scaling together: what a rebalance cures needs no new executors.

    plan -> does scaling want something, given this plan?
              no: that is the plan, and what it cures is not scaled out
              yes: scale first; the plan is for the clusters as they will be

After the integrative framework of Madsen, Zhou, Cao (ICDE 2017), see
`controllers.balancing.integrative`.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from controllers.balancing.base import Planner
from controllers.balancing.integrative import Integrated, integrate
from controllers.balancing.plan import Plan
from controllers.balancing.problem import Problem
from controllers.model.decision import Scale
from controllers.model.snapshot import Snapshot


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


def planned(
    problem: Problem,
    planner: Planner,
    scales: Mapping[str, Scale],
    snapshot: Snapshot,
    below: float,
) -> Integrated:
    """The plan for the clusters as they are, or as scaling will make them where it has to."""

    def judge(problem: Problem, plan: Plan) -> Problem | None:
        needed = {
            name: scale
            for name, scale in scales.items()
            if scale.executors > scale.before and not cures(plan, name, below)
        }
        sizes = {name: _cores(snapshot, scale) for name, scale in needed.items()}
        bins = tuple(
            replace(b, capacity=sizes[b.name]) if sizes.get(b.name) else b for b in problem.bins
        )
        return replace(problem, bins=bins) if bins != problem.bins else None

    return integrate(problem, planner, judge)


def _cores(snapshot: Snapshot, scale: Scale) -> float:
    cluster = snapshot.cluster(scale.cluster)
    return float(scale.executors * cluster.cores_per_executor) if cluster else 0.0
