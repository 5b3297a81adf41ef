"""When and how to rebalance: data gate, plan, and what to do with it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from msgspec import Struct

from controllers.balancing.base import planner
from controllers.balancing.from_snapshot import problem_of
from controllers.balancing.plan import Plan
from controllers.balancing.problem import Budget, Problem
from controllers.engine.moves import MoveState, Rebalance
from controllers.model.series import LoadSeries
from controllers.model.snapshot import ClusterSample, Snapshot
from controllers.settings import setting

BALANCE = "balance"  # the name of this group of settings


class BalanceSettings(Struct, frozen=True, kw_only=True):
    """How the engine balances load by itself."""

    planner: Annotated[str, setting("Planner that the engine follows")] = "dodo"
    auto: Annotated[bool, setting("Apply its plans without asking")] = False
    window_s: Annotated[float, setting("Load series that plans look at", unit="s", ge=10)] = 60.0
    least_periods: Annotated[int, setting("Fresh periods needed before the first plan", ge=2)] = 8
    moves: Annotated[int, setting("Most moves of one rebalance", ge=1)] = 2
    hold_s: Annotated[float, setting("Wait after a rebalance before the next", unit="s", ge=0)] = (
        60.0
    )


def load_series(
    samples: Mapping[str, Sequence[ClusterSample]], snapshot: Snapshot
) -> dict[str, LoadSeries]:
    """Each operator's load over the window, from the cluster it runs in now."""
    found: dict[str, LoadSeries] = {}
    for operator in snapshot.operators:
        values = [
            o.load
            for sample in samples.get(operator.cluster, ())
            for o in sample.operators
            if o.name == operator.name and o.batch_id is not None
        ]
        found[operator.name] = LoadSeries(tuple(values))
    return found


def problem_now(
    snapshot: Snapshot, samples: Mapping[str, Sequence[ClusterSample]], settings: BalanceSettings
) -> Problem:
    """The problem that every planner is asked to solve at this moment."""
    return problem_of(snapshot, load_series(samples, snapshot), budget=Budget(moves=settings.moves))


def why_wait(
    snapshot: Snapshot,
    problem: Problem,
    rebalances: Iterable[Rebalance],
    settings: BalanceSettings,
    now: float,
) -> str:
    """Why no plan is applied now; empty if one may be."""
    for rebalance in rebalances:
        if not rebalance.final:
            return "a rebalance is under way"
        left_s = _ended_at(rebalance) + settings.hold_s - now
        if left_s > 0:
            return f"the last rebalance is to settle for {left_s:.0f} s more"
    stale = [c.name for c in snapshot.clusters if c.heartbeat_age_s > 3 * max(snapshot.period_s, 1)]
    if stale:
        return f"no fresh figures from {', '.join(stale)}"
    short = [i.name for i in problem.items if len(i.series) < settings.least_periods]
    if short:
        return f"fewer than {settings.least_periods} periods of {', '.join(short)}"
    return ""


def plan_now(problem: Problem, settings: BalanceSettings) -> Plan:
    """What the chosen planner would do."""
    return planner(settings.planner).plan(problem)


def rebalance_of(plan: Plan, rebalance_id: str, by: str, now: float) -> Rebalance:
    """A plan as something that the engine carries out."""
    return Rebalance(
        id=rebalance_id,
        at=now,
        moves=tuple(MoveState(move=move) for move in plan.moves),
        by=by,
        planner=plan.planner,
        why=plan.reason.text,
    )


def _ended_at(rebalance: Rebalance) -> float:
    return max((m.since for m in rebalance.moves), default=rebalance.at)
