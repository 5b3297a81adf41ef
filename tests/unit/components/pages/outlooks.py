"""Worlds with an outlook on the balance, for tests of the Balance page."""

from msgspec.structs import replace

from tests.support.world import demo_world
from weir.components.live.world import World
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Bin, Budget, Item, PauseModel, Problem
from weir.controllers.engine.apply.moves import MoveState, Rebalance
from weir.controllers.engine.propose.balance import BalanceSettings
from weir.controllers.engine.propose.outlook import Matrix, Outlook, Proposal, by_hand
from weir.controllers.model.decision import Move
from weir.controllers.model.placement import Placement

MOVE = Move(operator="topic_count", source="narrow", target="wide")
PLACED = {
    "extractor": Placement(operator="extractor", cluster="wide"),
    "topic_count": Placement(operator="topic_count", cluster="narrow"),
    "top_n": Placement(operator="top_n", cluster="narrow"),
}


def problem_of_demo() -> Problem:
    """The demo's two clusters: narrow is at 120 %, wide at 50 %."""
    return Problem(
        bins=(Bin(name="narrow", capacity=1.0), Bin(name="wide", capacity=3.0)),
        items=(
            Item(name="extractor", load=1.5, bin="wide", move_cost=0.0),
            Item(name="topic_count", load=0.6, bin="narrow", move_cost=1_000_000.0),
            Item(name="top_n", load=0.6, bin="narrow", move_cost=0.0),
        ),
        budget=Budget(moves=2),
        pause=PauseModel(base_s=4.0, s_per_cost=1e-6),
    )


def plan(planner: str, *moves: Move) -> Plan:
    """A plan by that planner with these moves."""
    return replace(by_hand(problem_of_demo(), moves), planner=planner)


def outlook_at(at: float, **others: object) -> Outlook:
    """Two planners: one moves topic_count, the other nothing."""
    names, clusters = ("extractor", "top_n", "topic_count"), ("narrow", "wide")
    return Outlook(
        at=at,
        problem=problem_of_demo(),
        planner="dodo",
        periods=30,
        clusters=Matrix(rows=clusters, columns=clusters, values=((1.0, -0.4), (-0.4, 1.0))),
        operators=Matrix(rows=names, columns=names, values=((1.0, 0.5, 0.9),) * 3),
        operators_by_cluster=Matrix(rows=names, columns=clusters, values=((0.8, 0.1),) * 3),
        proposals=(
            Proposal(label="DoDo with capacity", plan=plan("dodo", MOVE), words="Moving helps."),
            Proposal(label="No balancing", plan=plan("no_op"), words="It never moves anything."),
        ),
        distance=((at - 10, 40.0), (at - 5, 38.456), (at, 35.0)),
        **others,
    )


def balance_world(*, age_s: float = 1.0, **others: object) -> World:
    """The demo with an outlook of that age; the engine follows DoDo."""
    world = demo_world()
    fixed = {"outlook": outlook_at(world.at - age_s), "balance": BalanceSettings(planner="dodo")}
    return replace(world, **{**fixed, **others})


def rebalance(*states: MoveState, at: float = 0.0, **others: object) -> Rebalance:
    """A rebalance of these moves."""
    return Rebalance(id="r1", at=at, moves=states, **others)
