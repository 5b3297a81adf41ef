"""Which plans become proposals: those that even the load out, or bring together what talks."""

from msgspec.structs import replace

from tests.unit.controllers.engine.engine_world import Lead, World, view_of
from weir.controllers.balancing.problem import Bin, Flow, Item, Problem
from weir.controllers.engine.apply.effects import Create, KeepBalance
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.propose.balance import BalanceSettings
from weir.controllers.engine.propose.outlook import Outlook, Proposal, by_hand
from weir.controllers.engine.propose.rebalancing import propose_rebalance
from weir.controllers.model.decision import Move
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot

SETTINGS = BalanceSettings(planner="albic", least_periods=2)
TOGETHER = (
    Move(operator="x", source="b", target="a"),
    Move(operator="y", source="a", target="b"),
)


NOTHING_GAINED = "the moves of ALBIC do not lower the load distance"


def apart(heavier: float = 0.0, elsewhere: float = 0.0) -> Problem:
    """Two pairs that talk, each on two clusters, with even load: once they are together it is
    uneven by the load that x is `heavier`. The traffic `elsewhere` is on one cluster anyhow."""
    loads = {"w": 0.3, "x": 0.3 + heavier, "y": 0.3, "z": 0.3, "v": heavier, "u": 0.0}
    return Problem(
        bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
        items=tuple(
            Item(name=n, load=load, bin=b, series=(load, load))
            for (n, load), b in zip(loads.items(), "ababaa", strict=True)
        ),
        flows=(
            Flow(source="w", target="x", rate=9.0),
            Flow(source="y", target="z", rate=5.0),
            Flow(source="v", target="u", rate=elsewhere),
        ),
    )


def looked(problem: Problem, settings: BalanceSettings = SETTINGS) -> tuple[int, str]:
    """How many proposals come of it, and why the engine holds back if it does."""
    plan = replace(by_hand(problem, TOGETHER), planner="albic")
    view = Outlook(
        at=100.0, problem=problem, planner="albic",
        proposals=(Proposal(label="ALBIC", plan=plan, words=""),),
        distance=((100.0, plan.before.load_distance),),
    )  # fmt: skip
    operators = tuple(
        OperatorSample(name=i.name, cluster=i.bin, load=i.load) for i in problem.items
    )
    clusters = tuple(Cluster(name=n, executors=1, hosted=True) for n in ("a", "b"))
    facts = Facts(
        snapshot=Snapshot(at=100.0, period_s=2.0, clusters=clusters, operators=operators),
        token=1,
        samples={
            c.name: [ClusterSample(at=100.0 - i, period_s=2.0, cluster=c) for i in range(5)]
            for c in clusters
        },
        balance=settings,
        placements={o.name: Placement(operator=o.name, cluster=o.cluster) for o in operators},
    )
    effects = [e for chain in propose_rebalance(facts, view, 100.0) for e in chain]
    (kept,) = (e for e in effects if isinstance(e, KeepBalance))
    return sum(isinstance(e, Create) for e in effects), kept.outlook.wait


def test_a_plan_that_brings_operators_together_is_proposed() -> None:
    assert looked(apart()) == (1, "")
    assert looked(apart(elsewhere=14.0)) == (1, "")  # from 50 to 100 % of the traffic


def test_a_little_less_traffic_is_not_worth_a_move() -> None:
    assert looked(apart(elsewhere=200.0)) == (0, NOTHING_GAINED)
    few = replace(SETTINGS, least_collocation_gain=0.6)
    assert looked(apart(elsewhere=14.0), few) == (0, NOTHING_GAINED)


def test_where_nobody_is_loaded_that_is_the_reason_whatever_a_move_would_gain() -> None:
    idle = replace(SETTINGS, least_load=0.7)
    assert looked(apart(), idle) == (0, "every cluster's load is below 70 %")
    assert looked(apart(elsewhere=200.0), idle) == (0, "every cluster's load is below 70 %")


def test_it_is_not_bought_with_a_load_that_is_too_uneven() -> None:
    assert looked(apart(heavier=0.05)) == (1, "")
    assert looked(apart(heavier=0.15)) == (0, NOTHING_GAINED)
    even = replace(SETTINGS, most_distance=3.0)
    assert looked(apart(heavier=0.05), even) == (0, NOTHING_GAINED)


def test_a_plan_for_a_world_that_has_changed_meanwhile_is_not_followed() -> None:
    world = World(a={"count": 0.9, "rank": 0.7}, b={"top": 0.1})
    lead = Lead(world)
    for _ in range(12):
        world.tick()
        lead.store.renew(lead.lease, 30.0)
    view = view_of(lead.facts(), "milp", world.now)
    assert view.proposals[0].plan.moves
    world.where["rank"] = "b"  # it has moved while the planner was at work
    world.report()
    world.now += 2.0
    world.report()
    (chain,) = propose_rebalance(lead.facts(), view, world.now)
    (kept,) = chain
    assert kept.outlook.wait == "rank left its cluster while this was planned; it is planned again"


def swapped(spread: float) -> tuple[int, str]:
    """Two operators to swap that need nearly the same, by how much single periods differ."""
    seen = {"w": 0.32, "x": 0.3, "y": 0.34, "z": 0.28}
    problem = Problem(
        bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
        items=tuple(
            Item(name=n, load=load, bin=b, series=(load - spread, load + spread) * 8)
            for (n, load), b in zip(seen.items(), "abab", strict=True)
        ),
    )
    return looked(problem)


def test_a_gain_that_may_be_chance_is_not_worth_a_pause() -> None:
    assert swapped(0.02) == (1, "")
    count, why = swapped(0.2)
    assert count == 0
    assert why == (
        "the moves of ALBIC gain 4.0 points, no more than the loads vary by chance (± 14.1)"
    )
