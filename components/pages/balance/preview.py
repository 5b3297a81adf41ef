"""What a plan would bring, said before anything happens, and fixed until it is applied."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.world import World, stale
from weir.components.pages.balance.rebalances import planner_label
from weir.components.pages.balance.view import better, old, proposals
from weir.components.ui import text
from weir.controllers.balancing.base import planners
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Problem
from weir.controllers.engine.propose.outlook import by_hand
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.words import by_number

HAND = "by_hand"
_VERDICT = {"ok": "better", "": "no better", "warn": "worse"}


class LoadBar(Struct, frozen=True, kw_only=True):
    """A cluster's load before and after, in per cent of its capacity."""

    cluster: str
    before: float
    after: float


class MoveLine(Struct, frozen=True, kw_only=True):
    """One move in its turn, with what it is expected to cost."""

    operator: str
    source: str
    target: str
    pause_s: float
    state_bytes: float
    queue_rows: float | None  # that build up while it pauses


class Previewed(Struct, frozen=True, kw_only=True):
    """The plan as it will be carried out; its id is given once, so a second click is the same."""

    id: str
    planner: str
    why: str
    moves: tuple[Move, ...]


class Preview(Struct, frozen=True, kw_only=True):
    """Everything that the dialog shows."""

    title: str
    words: str
    distance_before: float
    distance_after: float
    loads: tuple[LoadBar, ...]
    moves: tuple[MoveLine, ...]
    pause_s: float
    state_bytes: float
    queue_rows: float | None
    warning: str = ""
    previewed: Previewed


def of_planner(world: World, name: str, rebalance_id: str) -> Preview:
    """What a planner's plan of this moment would bring."""
    proposal = proposals(world.outlook).get(name)
    if proposal is None:
        raise NotFound(f"There is no plan by {name} at the moment.")
    return preview(world, proposal.plan, proposal.words, rebalance_id)


def of_hand(world: World, operator: Any, target: Any, rebalance_id: str) -> Preview:
    """What a move that a person chose would bring."""
    plan = plan_by_hand(world, operator, target)
    return preview(world, plan, plan.reason.text, rebalance_id)


def plan_by_hand(world: World, operator: Any, target: Any) -> Plan:
    """A move of one's own as a plan, or why there is none."""
    if world.outlook is None:
        raise Refused("The engine has not looked at the balance yet.")
    if not operator or not target:
        raise InvalidInput("Choose an operator and the cluster that it should run in.")
    problem = world.outlook.problem
    source = problem.placement.get(operator)
    if source is None:
        raise NotFound(f"{operator} is not running in a cluster that Weir hosts.")
    if target not in {b.name for b in problem.bins}:
        raise NotFound(f"There is no cluster {target} to move to.")
    if source == target:
        raise Refused(f"{operator} is in {target} already.")
    cluster = world.snapshot.cluster(target)
    why = cluster.unfit_for(operator) if cluster else ""
    if why:
        raise Refused(f"{why}.")
    return by_hand(problem, [Move(operator=operator, source=source, target=target)])


def hand_text(world: World, operator: Any, target: Any) -> str:
    """The prediction of a move by hand in one sentence."""
    plan = plan_by_hand(world, operator, target)
    move = plan.moves[0]
    before, after = plan.before, plan.after
    verdict = _VERDICT[better(before.load_distance, after.load_distance)]
    return (
        f"{move.source} would go from {before.load[move.source]:.0f} to "
        f"{after.load[move.source]:.0f} % and {move.target} from {before.load[move.target]:.0f} to "
        f"{after.load[move.target]:.0f} % of capacity; load distance {before.load_distance:.1f} → "
        f"{after.load_distance:.1f} points, {verdict}. "
        f"Pause about {text.seconds(plan.predicted_pause_s)}."
    )


def preview(world: World, plan: Plan, words: str, rebalance_id: str) -> Preview:
    """The prediction of a plan, cluster by cluster and move by move."""
    assert world.outlook is not None
    lines = tuple(_line(world, world.outlook.problem, move) for move in plan.moves)
    queues = [line.queue_rows for line in lines if line.queue_rows is not None]
    return Preview(
        title=planner_label(world.outlook, plan.planner),
        words=words,
        distance_before=plan.before.load_distance,
        distance_after=plan.after.load_distance,
        loads=tuple(
            LoadBar(cluster=name, before=points, after=plan.after.load[name])
            for name, points in plan.before.load.items()
        ),
        moves=lines,
        pause_s=plan.predicted_pause_s,
        state_bytes=plan.migration_cost,
        queue_rows=sum(queues) if queues else None,
        warning=_warning(world, plan.moves),
        previewed=Previewed(
            id=rebalance_id, planner=plan.planner, why=plan.reason.text, moves=plan.moves
        ),
    )


def read_preview(data: Any) -> Previewed:
    """What a browser sends back of a preview."""
    try:
        found = msgspec.convert(data, Previewed)
    except msgspec.ValidationError:
        found = None
    # Whose plan it is decides how the engine treats it: nobody may call theirs a rollback.
    if found is None or found.planner not in (*planners(), HAND):
        raise InvalidInput("Open the preview again; this one cannot be read.")
    return found


def _line(world: World, problem: Problem, move: Move) -> MoveLine:
    item = next(i for i in problem.items if i.name == move.operator)
    pause_s = problem.pause.base_s + problem.pause.s_per_cost * item.move_cost
    operator = world.snapshot.operator(move.operator)
    return MoveLine(
        operator=move.operator,
        source=move.source,
        target=move.target,
        pause_s=pause_s,
        state_bytes=item.move_cost,
        queue_rows=operator.arrival_rows_per_s * pause_s if operator else None,
    )


def _warning(world: World, moves: Sequence[Move]) -> str:
    if not moves:
        return ""
    if old(world):
        return "The engine is not at work, so this cannot be applied now."
    silent = sorted({m.target for m in moves if stale(world, m.target)}, key=by_number)
    if silent:
        return f"{', '.join(silent)} has sent no data lately."
    guessed = ", ".join(world.outlook.problem.unknown) if world.outlook else ""
    return f"The cost of {guessed} is not known yet, so the loads are a guess." if guessed else ""
