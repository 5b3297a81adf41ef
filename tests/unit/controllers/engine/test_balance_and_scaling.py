"""Rebalances in the engine's cycle: beside scaling, and where they come only half way."""

from tests.support import people
from tests.unit.controllers.engine.engine_world import QUICK, Lead, World, only, run
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.decision import Move, Moves, Reason


def test_a_rebalance_that_cures_an_overload_suppresses_the_scale_out() -> None:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    lead = Lead(world)
    world.tick()
    world.tick()
    lead.cycle(ask=False, planner="milp")
    plan = next(r for r in world.store.recommendations() if r.kind == "rebalance")
    assert plan.objective == "load_distance"
    run(world, lead, 10.0, planner="milp")
    assert [r.id for r in world.store.recommendations()] == [plan.id]
    view = world.store.scale_outlooks()["a"]
    assert "the rebalance that is proposed brings a to" in view.wait
    people.approve(world.store, plan.id, plan.plan_hash, by="ada", now=world.now)
    run(world, lead, 60.0, planner="milp")
    done = world.store.recommendation(plan.id)
    assert done.status is Status.EFFECTIVE
    assert {world.where["count"], world.where["rank"]} == {"a", "b"}
    assert world.places["a"].scaled == []


def test_a_scale_out_that_a_later_rebalance_cures_is_taken_back() -> None:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    lead = Lead(world)
    run(world, lead, 8.0)
    first = only(world)
    assert (first.kind, first.status) == ("scale_out", Status.PROPOSED)
    run(world, lead, 10.0, planner="milp")
    plan = next(r for r in world.store.recommendations() if r.kind == "rebalance")
    assert plan.status is Status.PROPOSED
    ended = world.store.recommendation(first.id)
    assert ended.status is Status.SUPERSEDED
    assert "the rebalance that is proposed brings a to" in ended.history[-1].why
    run(world, lead, 60.0, planner="milp")  # nobody approves it: people may choose
    kinds = {r.kind for r in world.store.recommendations() if r.status is Status.PROPOSED}
    assert kinds == {"scale_out", "rebalance"}


def test_what_no_rebalance_cures_is_scaled_first() -> None:
    world = World(a={"count": 1.4, "rank": 1.2}, b={"top": 0.7})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    lead = Lead(world)
    run(world, lead, 8.0)
    assert only(world).kind == "scale_out"
    lead.cycle(ask=False, planner="milp")
    assert world.store.outlook().wait == "scaling of a comes first; then it is planned again"


def test_half_a_rebalance_is_taken_back() -> None:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    world.refuses.add("rank")
    moves = tuple(Move(operator=op, source="a", target="b") for op in ("count", "rank"))
    lead = Lead(world)
    asked = people.propose_by_hand(
        world.store, Moves(moves=moves, reason=Reason(text="")), by="ada", now=world.now
    )
    run(world, lead, 80.0, ask=False)
    failed = world.store.recommendation(asked.id)
    assert failed.status is Status.FAILED
    assert "rank: went back: no such table" in failed.history[-1].why
    undo = world.store.recommendation(f"{asked.id}-undo")
    assert [(m.operator, m.target) for m in undo.decision.moves] == [("count", "a")]
    assert undo.status in (Status.APPLIED, Status.UNMEASURED)  # nothing was predicted of it
    assert world.where == {"count": "a", "rank": "a", "top": "b"}
