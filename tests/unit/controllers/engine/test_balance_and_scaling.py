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
    assert "moving rank to b does without more executors of a" in view.wait
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
    run(world, lead, 20.0, planner="milp")  # people may read what was just proposed
    plan = next(r for r in world.store.recommendations() if r.kind == "rebalance")
    assert plan.status is Status.PROPOSED
    ended = world.store.recommendation(first.id)
    assert ended.status is Status.SUPERSEDED
    assert "a newer step of the plan" in ended.history[-1].why
    run(world, lead, 90.0, planner="milp")  # nobody approves it: it stays the one proposal
    kinds = [r.kind for r in world.store.recommendations() if r.status is Status.PROPOSED]
    assert kinds == ["rebalance"]


def test_what_one_cluster_lacks_and_another_has_to_spare_is_one_move() -> None:
    """Not two changes of size side by side, of which one undoes the other."""
    world = World(wide={"extract": 0.3}, narrow={"count": 0.5, "top": 0.45})
    world.places["wide"].executors = world.places["wide"].wanted = 2
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    for name in world.places:
        world.store.save_settings(f"guards:{name}", {"scale_in_delay_s": 4.0})
    lead = Lead(world)
    for _ in range(2):
        world.tick()
    seen = set()
    for _ in range(30):
        run(world, lead, 2.0, planner="milp")
        open_ = [r for r in world.store.recommendations() if r.status is Status.PROPOSED]
        assert len(open_) <= 1, [r.decision for r in open_]
        seen |= {r.kind for r in open_}
    assert seen == {"rebalance"}
    assert "does without" in world.store.scale_outlooks()["narrow"].wait


def test_a_cluster_that_was_emptied_can_be_ended() -> None:
    world = World(a={"count": 0.3}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    settings = {"planner": "milp", "least_periods": 2, "moves": 1, "draining_clusters": "b"}
    world.store.save_settings("balance", settings)
    lead = Lead(world)
    world.tick()
    world.tick()
    lead.cycle(ask=False, planner="milp")
    assert world.store.outlook().drained == ()
    (plan,) = world.store.recommendations()
    people.approve(world.store, plan.id, plan.plan_hash, by="ada", now=world.now)
    run(world, lead, 20.0, ask=False, planner="milp")
    view = world.store.outlook()
    assert (view.drained, view.wait) == (("b",), "b is empty and can be ended")


def test_a_rebalance_for_two_points_is_not_proposed() -> None:
    world = World(a={"count": 0.33, "rank": 0.03}, b={"top": 0.28})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings(
        "balance", {"planner": "milp", "least_periods": 2, "moves": 1, "least_load": 0.1}
    )
    lead = Lead(world)
    world.tick()
    world.tick()
    run(world, lead, 10.0, ask=False, planner="milp")
    view = world.store.outlook()
    assert view.proposals[0].plan.moves  # the planner would: 4.0 to 1.0 points
    assert world.store.recommendations() == []
    assert "executors more than it brings" in view.wait


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


def test_half_a_rebalance_that_a_person_asked_for_is_taken_back_when_one_agrees() -> None:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    world.refuses.add("rank")
    moves = tuple(Move(operator=op, source="a", target="b") for op in ("count", "rank"))
    lead = Lead(world)
    asked = people.propose_by_hand(
        world.store, Moves(moves=moves, reason=Reason(text="")), by="ada", now=world.now
    )
    run(world, lead, 40.0, ask=False)
    failed = world.store.recommendation(asked.id)
    assert failed.status is Status.FAILED
    assert "rank: went back: no such table" in failed.history[-1].why
    undo = world.store.recommendation(f"{asked.id}-undo")
    assert [(m.operator, m.target) for m in undo.decision.moves] == [("count", "a")]
    assert undo.status is Status.PROPOSED
    assert world.where == {"count": "b", "rank": "a", "top": "b"}
    people.approve(world.store, undo.id, undo.plan_hash, by="ada", now=world.now)
    run(world, lead, 40.0, ask=False)
    assert world.where == {"count": "a", "rank": "a", "top": "b"}
