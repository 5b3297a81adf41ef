"""The balance of load: the followed planner's plan as a proposal, beside what scaling wants."""

from collections import defaultdict
from math import sqrt

from msgspec.structs import replace

from weir.controllers.balancing.base import planners
from weir.controllers.balancing.figures import PlanFigures
from weir.controllers.balancing.joint import Option, Way
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Problem
from weir.controllers.engine.apply.effects import Chain, KeepBalance
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.propose.balance import BalanceSettings, why_wait
from weir.controllers.engine.propose.make import new_id, new_recommendation
from weir.controllers.engine.propose.outlook import Outlook, by_hand
from weir.controllers.engine.propose.proposing import offer
from weir.controllers.engine.propose.together import (
    SEARCHING,
    clusters_touched,
    drained_clusters,
    followed_plan,
    joint_reason,
    moves_in_plan,
    moves_in_words,
)
from weir.controllers.engine.recommendation import Kind, Status
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.errors import WeirError
from weir.controllers.model.sample import Mode
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.words import by_number, percent

SURE = 2.0
"""Standard errors that a gain must be above, or it may be chance alone."""


def propose_rebalance(facts: Facts, view: Outlook, now: float) -> list[Chain]:
    """Turn a fresh view of the balance into a proposal, or say why there is none."""
    wait = why_wait(facts.snapshot, view.problem, facts.rebalances, facts.balance, now)
    wait = wait or _why_overtaken(facts, view)
    plan: Plan | None = None
    options: tuple[Option, ...] = ()
    chain: Chain = ()
    if not wait:
        plan, wait, options = _choose_plan(facts, view)
    if plan is not None:
        wait = wait or _needless(plan, view, facts)
        if wait or not plan.moves:
            view = replace(view, content_since=_content_since(facts.outlook, now))
        else:
            chain, wait = _rebalance(plan, options, facts, view, now)
    drained = drained_clusters(facts)
    if drained and not chain:
        wait = f"{', '.join(drained)} {'is' if len(drained) == 1 else 'are'} empty and can be ended"
    view = replace(view, wait=wait, drained=drained)
    return [c for c in (chain, (KeepBalance(outlook=view),)) if c]


def _choose_plan(facts: Facts, view: Outlook) -> tuple[Plan | None, str, tuple[Option, ...]]:
    """What is to be moved now, or why that cannot be said, and what else could be done."""
    name = facts.balance.planner
    if name in view.left_out:
        return None, f"{name} is left out: {view.left_out[name]}", ()
    plan = followed_plan(view, facts)
    if plan is None:
        return None, f"there is no planner '{name}'", ()
    if _for_its_own_sake(plan, view, facts):
        return _steady(plan, view, facts), "", ()
    moves, wait, options = moves_in_plan(facts, view)
    if name not in SEARCHING and options[0].way is not Way.SIZE:
        return _steady(plan, view, facts), "", options
    if moves is None:
        first = options[0].way in (Way.SIZE, Way.BOTH)
        return (
            None if first else plan,
            (not first and _needless(plan, view, facts)) or wait,
            options,
        )
    return _with_moves(plan, view, moves, joint_reason(options)), "", options


def _title(name: str) -> str:
    """A planner as people know it."""
    return planners()[name].label if name in planners() else name


def _why_overtaken(facts: Facts, view: Outlook) -> str:
    """Why a view is no longer of the world as it is: planning takes its time."""
    now = {o.name: o.cluster for o in facts.snapshot.operators}
    moved = [i.name for i in view.problem.items if now.get(i.name) != i.bin]
    if not moved:
        return ""
    others = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
    return f"{moved[0]}{others} left its cluster while this was planned; it is planned again"


def _needless(plan: Plan, view: Outlook, facts: Facts) -> str:
    """Why the moves of a plan are not worth it; empty if they are, or if there are none."""
    if not plan.moves:
        return ""
    draining = {b.name for b in view.problem.bins if not b.keep}
    if any(m.source in draining for m in plan.moves):  # also of what has no load now
        return ""
    fullest = max(plan.before.load.values(), default=0.0) / 100.0
    if fullest < facts.balance.least_load:
        return f"every cluster's load is below {percent(facts.balance.least_load)}"
    gain = plan.before.load_distance - plan.after.load_distance
    is_large, chance = gain >= facts.balance.least_gain, SURE * _noise(plan, view.problem)
    if _closer(plan.before, plan.after, facts.balance) or (is_large and gain > chance):
        return ""
    own = followed_plan(view, facts)
    what = f"the moves of {_title(plan.planner)}"
    if own is not None and set(own.moves) != set(plan.moves):
        what = f"the moves that are worth their cost ({moves_in_words(plan.moves)})"
    if gain < 0.05:
        return f"{what} do not lower the load distance"
    if is_large:
        return (
            f"{what} gain {gain:.1f} points, no more than the loads vary by chance (± {chance:.1f})"
        )
    return f"{what} gain {gain:.1f} points, too few for a pause"


def _noise(plan: Plan, problem: Problem) -> float:
    """Standard error, in points, of what the moves bring or take, of the cluster where it is most.

    The loads are means of a series; where single periods differ much, so may the mean.
    """
    items = {i.name: i for i in problem.items}
    error: dict[str, float] = defaultdict(float)  # in cores, squared
    for move in plan.moves:
        series = LoadSeries(items[move.operator].series)
        for cluster in (move.source, move.target):
            error[cluster] += series.variance / max(len(series.values), 1)
    capacity = {b.name: b.capacity for b in problem.bins}
    return max((100.0 * sqrt(e) / capacity[c] for c, e in error.items()), default=0.0)


def _worth(before: PlanFigures, after: PlanFigures, settings: BalanceSettings) -> bool:
    """Whether the load becomes so much evener, or stays even enough while operators that talk
    much come together."""
    return before.load_distance - after.load_distance >= settings.least_gain or _closer(
        before, after, settings
    )


def _closer(before: PlanFigures, after: PlanFigures, settings: BalanceSettings) -> bool:
    """Whether operators that talk much come together while the load stays even enough."""
    closer = after.collocation - before.collocation >= settings.least_collocation_gain
    return closer and after.load_distance <= max(before.load_distance, settings.most_distance)


def _content_since(before: Outlook | None, now: float) -> float:
    since = before.content_since if before else None
    return now if since is None else since


def _rebalance(
    plan: Plan, options: tuple[Option, ...], facts: Facts, view: Outlook, now: float
) -> tuple[Chain, str]:
    """A plan as a proposal, or why there is none."""
    decision = plan.decision
    assert isinstance(decision, Moves)
    if strictest_mode(facts.modes, clusters_touched(plan.moves)) is Mode.OBSERVE:
        return (
            (),
            f"mode observe in one of {', '.join(sorted(clusters_touched(plan.moves), key=by_number))}",
        )
    fresh = new_recommendation(
        decision,
        facts.snapshot,
        id=new_id(plan.planner, now),
        source=plan.planner,
        now=now,
        ttl_s=facts.engine.ttl_s,
        outlook=view,
        plan=plan,
        recent=facts.lately(clusters_touched(plan.moves), now),
        track=facts.track(plan.moves[0].source, plan.planner),
    )
    return offer(replace(fresh, options=options), facts, now)


def _for_its_own_sake(plan: Plan, view: Outlook, facts: Facts) -> bool:
    """It empties a cluster, or brings together what talks: no cost of sizes weighs that."""
    draining = {b.name for b in view.problem.bins if not b.keep}
    closer = plan.after.collocation - plan.before.collocation
    return any(m.source in draining for m in plan.moves) or (
        bool(plan.moves) and closer >= facts.balance.least_collocation_gain
    )


def _with_moves(plan: Plan, view: Outlook, moves: tuple[Move, ...], reason: Reason) -> Plan:
    """The followed planner's plan with the moves that size and place together want."""
    if set(moves) == set(plan.moves):
        return plan
    return replace(by_hand(view.problem, moves), planner=plan.planner, reason=reason)


def _steady(plan: Plan, view: Outlook, facts: Facts) -> Plan:
    """The plan that is proposed already, while another one is hardly better: plans that
    change at every look cannot be approved by anybody."""
    open_ = next(
        (
            r
            for r in facts.recommendations
            if r.status is Status.PROPOSED and r.kind is Kind.REBALANCE and r.source == plan.planner
        ),
        None,
    )
    if open_ is None or not isinstance(open_.decision, Moves):
        return plan
    try:
        old = by_hand(view.problem, open_.decision.moves)
    except WeirError:
        return plan
    helps = _worth(old.before, old.after, facts.balance)
    better = _worth(old.after, plan.after, facts.balance)
    if not helps or (plan.moves and better):
        return plan
    return replace(old, planner=plan.planner, reason=open_.decision.reason)
