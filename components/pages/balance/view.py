"""The Balance page as data: how uneven the load is, and what every planner would do about it."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from weir.components.live.charts import Chart, ChartTrace
from weir.components.live.figures import load_state
from weir.components.live.recommendation_rows import DISTANCE_NOW
from weir.components.live.world import World
from weir.components.pages.balance.rebalances import planner_label
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures, State
from weir.controllers.balancing.plan import Plan
from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.propose.balance import BalanceSettings
from weir.controllers.engine.propose.outlook import Outlook, Proposal
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Mode
from weir.controllers.model.settings import build

OLD_AFTER_S = 20.0
"""The engine looks every 5 s; without a new look for this long it is not at work."""
DISTANCE = "/distance"
"""Whose reports bring new points of the load distance; no cluster has such a name."""
CHART = Chart(
    key="balance/distance",
    title="Load distance over time",
    unit="points",
    cluster=DISTANCE,
    traces=(ChartTrace(name="load distance, lower is better", colour="series-1", style="area"),),
    values=lambda _: (None,),
    help="How far the cluster farthest from the mean load is from it, in per cent of its capacity",
    least_top=10,
)
MOVES_NAMED = 2


class PlansNote(Struct, frozen=True, kw_only=True):
    """What stands above the plans: how the engine fares, and the reading aid."""

    state: State
    text: str
    since: float | None = None  # shown as a growing age behind the text
    planner: str = ""
    aid: str = ""


class PlanRow(Struct, frozen=True, kw_only=True):
    """One plan, by one planner or by several that agree."""

    planner: str
    label: str
    agree: tuple[tuple[str, str], ...]  # the others: name and label
    followed: bool
    distance: Figure
    before: str
    moves: str
    state_moved: str
    collocation: str
    pause: str
    bound: str
    words: str
    moves_any: bool = True


def state(world: World) -> Literal["waiting", "alone", "ready"]:
    """Whether there is a balance to speak of."""
    if world.outlook is None:
        return "waiting"
    return "ready" if len(world.outlook.problem.bins) > 1 else "alone"


def old(world: World) -> bool:
    """Whether the engine has stopped looking."""
    return world.outlook is None or world.at - world.outlook.at > OLD_AFTER_S


def proposals(outlook: Outlook | None) -> dict[str, Proposal]:
    """Every planner's proposal by the planner's name."""
    found: dict[str, Proposal] = {}
    for proposal in outlook.proposals if outlook else ():
        found.setdefault(proposal.plan.planner, proposal)
    return found


def choices(world: World) -> list[dict[str, str]]:
    """The planners that the engine can follow, for a list to choose from."""
    known = {name: p.label for name, p in proposals(world.outlook).items()}
    known.setdefault(world.balance.planner, world.balance.planner)
    return [{"value": name, "label": label} for name, label in known.items()]


def note(world: World) -> PlansNote:
    """How the engine fares: silent, holding back, or ready; and what its planner says."""
    view = world.outlook
    if view is None or old(world):
        return PlansNote(
            state="bad",
            text="The engine is not at work: what stands here is old, and nothing can be applied. "
            "It last looked at the balance",
            since=view.at if view else None,
        )
    followed = proposals(view).get(world.balance.planner)
    label = planner_label(view, world.balance.planner)
    aid = followed.words if followed else ""
    if view.wait:
        return PlansNote(
            state="warn",
            text=f"The engine holds back: {view.wait.rstrip('.')}.",
            planner=label,
            aid=aid,
        )
    return PlansNote(state="ok", text="The engine is ready to act.", planner=label, aid=aid)


def figures(world: World) -> Figures:
    """The key figures."""
    view = world.outlook
    if view is None or not view.proposals:
        return {}
    now = view.proposals[0].plan.before
    followed = world.balance.planner
    best = min(
        view.proposals,
        key=lambda p: (
            round(_reach(p, now.load_distance), 1),
            p.plan.planner != followed,  # of those that reach it, the one that will act
            len(p.plan.moves),
        ),
    )
    top = max(now.load.items(), key=lambda item: item[1], default=("", 0.0))
    reach = _reach(best, now.load_distance)
    return {
        **distance_now(world),
        "balance/now": Figure(f"{now.load_distance:.1f}"),
        "balance/reach": Figure(f"{reach:.1f}", better(now.load_distance, reach)),
        "balance/reach-by": Figure(
            f"points, by {best.label}" if best.plan.moves else "points, where it is already"
        ),
        "balance/collocation": Figure(text.share(now.collocation)),
        "balance/index": Figure(
            text.NOTHING if view.load_index is None else f"{view.load_index:.2f}"
        ),
        "balance/top": Figure(f"{top[1]:.0f} %", load_state(top[1] / 100)),
        "balance/top-where": Figure(f"of the capacity of {top[0]}"),
        "balance/planner": Figure(planner_label(view, world.balance.planner)),
        "balance/auto": Figure(
            "by itself" if alone(world) else "when asked",
            "warn" if alone(world) else "",
        ),
        "balance/periods": Figure(periods_text(view)),
    }


def _reach(proposal: Proposal, now: float) -> float:
    """The load distance after a plan. One that moves nothing leaves the present one: of many
    planners some were asked a while ago, when it was another."""
    return proposal.plan.after.load_distance if proposal.plan.moves else now


def distance_now(world: World) -> Figures:
    """The present load distance alone, for pages that speak of a plan."""
    if world.outlook is None or not world.outlook.proposals:
        return {}
    now = world.outlook.proposals[0].plan.before
    return {DISTANCE_NOW: Figure(f"{now.load_distance:.1f} points")}


def plan_rows(world: World) -> tuple[PlanRow, ...]:
    """Every plan once, with the planners that agree on it; the one that is followed comes first."""
    by_moves: dict[frozenset[tuple[str, str]], list[Proposal]] = {}
    for proposal in proposals(world.outlook).values():
        moves = frozenset((m.operator, m.target) for m in proposal.plan.moves)
        by_moves.setdefault(moves, []).append(proposal)
    reach = [p.plan.after.load_distance for same in by_moves.values() for p in same]
    most = max(reach, default=0.0) or 1.0
    rows = [_plan_row(world, same, most) for same in by_moves.values()]
    return tuple(sorted(rows, key=lambda row: not row.followed))


def _plan_row(world: World, same: list[Proposal], most: float) -> PlanRow:
    """One row of the table; the bar is its load distance next to the largest one."""
    followed = [p for p in same if p.plan.planner == world.balance.planner]
    first = (followed or same)[0]
    plan, nothing = first.plan, not first.plan.moves
    before, after = plan.before.load_distance, plan.after.load_distance
    if nothing and world.outlook is not None:
        before = after = world.outlook.proposals[0].plan.before.load_distance
    bounds = [p.plan.bound for p in same if p.plan.bound is not None]
    return PlanRow(
        planner=plan.planner,
        label=first.label,
        agree=tuple((p.plan.planner, p.label) for p in same if p is not first),
        followed=bool(followed),
        distance=Figure(f"{after:.1f}", better(before, after), round(after / most, 3)),
        before=f"from {before:.1f}",
        moves=moves_text(plan),
        state_moved=text.NOTHING if nothing else text.size(plan.migration_cost),
        collocation=text.share(plan.after.collocation),
        pause=text.NOTHING if nothing else text.seconds(plan.predicted_pause_s),
        bound=f"{max(bounds):.1f}" if bounds else text.NOTHING,
        words=_reasons(first, same) if nothing else first.words,
        moves_any=not nothing,
    )


def _reasons(first: Proposal, same: list[Proposal]) -> str:
    """Why nothing is moved: planners agree on that for reasons of their own."""
    found: dict[str, list[str]] = {first.words: []}
    for proposal in same:
        found.setdefault(proposal.words, []).append(proposal.label)
    if len(found) == 1:
        return first.words
    return " ".join(f"{', '.join(labels)}: {words}" for words, labels in found.items())


def periods_text(view: Outlook) -> str:
    """What the correlations rest on: an operator that began late has fewer periods to compare."""
    found = (view.clusters, view.operators, view.operators_by_cluster)
    cells = [n for matrix in found if matrix for row in matrix.periods for n in row]
    least, most = min(cells, default=view.periods), text.plural(view.periods, "period")
    return f"over the last {most}" if least == view.periods else f"over the last {least} to {most}"


def better(before: float, after: float) -> State:
    """What a change of the load distance is worth; what cannot be seen is nothing.

    >>> better(9.0, 3.0), better(9.0, 8.98), better(9.0, 16.0)
    ('ok', '', 'warn')
    """
    return "ok" if after < before - 0.05 else "warn" if after > before + 0.05 else ""


def moves_text(plan: Plan) -> str:
    """The moves in a few words."""
    if not plan.moves:
        return "no change"
    named = [f"{m.operator} → {m.target}" for m in plan.moves[:MOVES_NAMED]]
    left = len(plan.moves) - len(named)
    return ", ".join(named) + (f" and {left} more" if left else "")


def distance_points(outlook: Outlook | None, since_ms: int = 0) -> dict[str, list[Any]]:
    """The load distance as points of its chart, those after `since_ms`."""
    fresh = [
        (round(at * 1000), round(distance, 2))
        for at, distance in (outlook.distance if outlook else ())
        if round(at * 1000) > since_ms
    ]
    return {"x": [at for at, _ in fresh], "y": [[distance for _, distance in fresh]]}


def alone(world: World) -> bool:
    """Whether every cluster that hosts operators lets the engine act by itself."""
    hosts = [c.name for c in world.snapshot.clusters if c.hosted]
    automatic = (Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA)
    return bool(hosts) and strictest_mode(world.control.modes, hosts) in automatic


def follow_text(settings: BalanceSettings, label: str, auto: bool) -> str:
    """What the engine will do under these settings."""
    if settings.planner == "no_op":
        return "The engine watches the balance and never moves anything by itself."
    if not auto:
        return (
            f"The engine plans with {label} and shows the plan here. "
            "Nothing moves until somebody approves it."
        )
    return (
        f"The engine plans with {label} and applies the plan without asking: at most "
        f"{text.plural(settings.moves, 'move')} at a time, then it waits "
        f"{text.seconds(settings.hold_s)} before the next."
    )


def change_settings(world: World, kept: Mapping[str, Any], planner: Any) -> dict[str, Any]:
    """The settings to keep when a person chooses; refused in words if they cannot hold."""
    known = [c["value"] for c in choices(world)]
    if planner not in known:
        raise InvalidInput(
            f"There is no planner {planner or 'chosen'}; known: {', '.join(sorted(known))}.",
            field="planner",
        )
    values = {**kept, "planner": planner}
    build(BalanceSettings, values)
    return values
