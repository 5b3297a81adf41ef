"""The engine takes its own proposals back when nobody behind them asks for them any more."""

import pytest

from tests.support import people
from tests.unit.controllers.engine.engine_world import Lead, World, run
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.snapshot import Snapshot


def world_with(load: float, executors: int = 1) -> World:
    world = World(a={"count": load}, b={"top": 0.1})
    world.places["a"].executors = world.places["a"].wanted = executors
    world.store.save_settings("engine", {"ttl_s": 600.0, "withdraw_s": 20.0})
    world.store.save_settings("guards:a", {"scale_in_delay_s": 0})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    world.report()
    return world


def proposal(world: World) -> Recommendation:
    return next(r for r in world.store.recommendations() if "a" in r.clusters)


@pytest.mark.parametrize(
    ("load", "executors", "later", "kind"),
    [(1.6, 1, 0.5, "scale_out"), (0.3, 5, 3.2, "scale_in")],
)
def test_a_scaler_that_is_content_again_takes_its_proposal_back(
    load: float, executors: int, later: float, kind: str
) -> None:
    world = world_with(load, executors)
    lead = Lead(world)
    run(world, lead, 20.0, challengers=())
    found = proposal(world)
    assert (found.status, found.kind) == (Status.PROPOSED, kind)
    world.work["count"] = later
    run(world, lead, 12.0, challengers=())
    assert world.store.recommendation(found.id).status is Status.PROPOSED  # not at once
    run(world, lead, 60.0, challengers=())
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.CANCELLED
    assert ended.history[-1].by == "engine"
    why = ended.history[-1].why
    many = "1 executor" if executors == 1 else f"{executors} executors"
    assert why.startswith(f"Rate-based (DS2) has been content with {many} for 2")
    trail = world.store.audit_since(0)
    assert first_break(trail) is None
    last = [e for e in trail if e.subject == found.id][-1]
    assert (last.action, last.by, last.why) == ("recommendation.cancelled", "engine", why)
    assert "recommendation.cancelled" in lead.news


def test_a_load_that_swings_does_not_make_it_come_and_go() -> None:
    world = world_with(1.6)
    lead = Lead(world)
    run(world, lead, 20.0, challengers=())
    found = proposal(world)
    for load in (0.5, 1.6) * 4:
        world.work["count"] = load
        run(world, lead, 12.0, challengers=())
    assert {r.status for r in world.store.recommendations()} <= {
        Status.PROPOSED, Status.SUPERSEDED,
    }  # fmt: skip
    assert found.id in {r.id for r in world.store.recommendations()}


def test_while_nothing_can_be_said_it_stays() -> None:
    world = world_with(1.6)
    lead = Lead(world)
    run(world, lead, 20.0, challengers=())
    found = proposal(world)
    world.work["count"] = 0.5
    run(world, lead, 10.0, challengers=())
    world.places["a"].silent = True
    run(world, lead, 60.0, challengers=())
    assert world.store.recommendation(found.id).status is Status.PROPOSED


def test_what_a_person_asked_for_or_approved_is_never_taken_back() -> None:
    world = world_with(1.6)
    world.store.save_settings("engine", {"ttl_s": 600.0, "withdraw_s": 5.0, "four_eyes": True})
    lead = Lead(world)
    snapshot = Snapshot.of(world.store.latest(), world.now)
    asked = people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 4), by="ada", now=world.now
    )
    run(world, lead, 20.0, challengers=())
    own = next(r for r in world.store.recommendations() if r.by == "engine")
    people.approve(world.store, own.id, own.plan_hash, by="bob", now=world.now)
    world.places["a"].can_scale = False  # so that what is approved has to wait
    world.work["count"] = 0.5
    world.tick()
    run(world, lead, 60.0, challengers=())
    assert world.store.recommendation(asked.id).status is Status.PROPOSED
    assert world.store.recommendation(own.id).status is Status.APPROVED


def balanced_world() -> World:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", {"ttl_s": 600.0, "withdraw_s": 20.0})
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    for name in world.places:
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    return world


def test_a_planner_that_finds_nothing_to_move_takes_its_proposal_back() -> None:
    world = balanced_world()
    lead = Lead(world)
    run(world, lead, 8.0, challengers=(), planner="milp")
    found = proposal(world)
    assert (found.status, found.kind) == (Status.PROPOSED, "rebalance")
    world.work.update(count=0.2, rank=0.1)
    run(world, lead, 10.0, challengers=(), planner="milp")
    assert world.store.recommendation(found.id).status is Status.PROPOSED
    run(world, lead, 100.0, challengers=(), planner="milp")
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.CANCELLED
    assert ended.history[-1].why.startswith(
        "Optimiser has been content with where the operators are"
    )
    assert world.where == {"count": "a", "rank": "a", "top": "b"}


def test_a_rebalance_that_is_still_worth_it_stays() -> None:
    world = balanced_world()
    lead = Lead(world)
    run(world, lead, 8.0, challengers=(), planner="milp")
    found = proposal(world)
    run(world, lead, 100.0, challengers=(), planner="milp")
    assert world.store.recommendation(found.id).status is Status.PROPOSED
    assert world.store.outlook().content_since is None


def test_who_is_no_longer_followed_has_its_proposal_taken_back() -> None:
    world = world_with(1.6)
    lead = Lead(world)
    run(world, lead, 20.0, challengers=())
    found = proposal(world)
    assert found.status is Status.PROPOSED
    world.store.save_settings("scale:a", {"scaler": "no_op"})
    run(world, lead, 12.0, challengers=())
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.CANCELLED
    assert ended.history[-1].why == "No scaling is followed now, not Rate-based (DS2)"
