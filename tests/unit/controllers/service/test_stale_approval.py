"""The world drifts between a proposal and its approval: refused with the reason, offered anew."""

import pytest

from tests.support import people
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import Lead, World, run
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Mode


def world_with(load: float, executors: int = 1) -> World:
    world = World(a={"count": load}, b={"top": 0.1})
    world.places["a"].executors = world.places["a"].wanted = executors
    world.store.save_settings("engine", {"settle_s": 20.0, "withdraw_s": 20.0})
    world.store.save_settings("guards:a", {"stabilisation_s": 10, "scale_in_delay_s": 0})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    world.tick()
    return world


def open_one(world: World) -> Recommendation:
    (found,) = [r for r in world.store.recommendations() if r.status is Status.PROPOSED]
    return found


def approve(world: World, found: Recommendation) -> Recommendation:
    return people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)


def drifts(world: World, load: float) -> None:
    """Four periods with another load, before the engine looks again."""
    world.work["count"] = load
    for _ in range(4):
        world.tick()


def refused(world: World, found: Recommendation, why: str) -> Recommendation:
    """Approving it is refused, nothing is done, and there is a new proposal."""
    with pytest.raises(people.Drifted, match=why) as stale:
        approve(world, found)
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.SUPERSEDED
    assert ended.history[-1].by == "ada"
    assert str(stale.value).startswith(f"Not approved: {ended.history[-1].why}.")
    assert world.places["a"].scaled == []
    offer = open_one(world)
    assert stale.value.offer == offer
    assert str(stale.value).endswith(f"A new proposal is there: {offer.id}.")
    return offer


def test_less_load_than_a_scale_out_was_made_for() -> None:
    world = world_with(2.9)
    lead = Lead(world)
    run(world, lead, 10.0, challengers=())
    found = open_one(world)
    assert found.kind == "scale_out"
    drifts(world, 1.4)  # by more than 40 % of what it was
    offer = refused(world, found, "the load of a is 140 % now, and the plan was made for 290 %")
    assert offer.before.load["a"] == pytest.approx(1.4)
    run(world, lead, 30.0, challengers=())
    fresh = open_one(world)  # what the scaler asks for now has taken the place of the offer
    assert isinstance(fresh.decision, Scale)
    assert isinstance(found.decision, Scale)
    assert 1 < fresh.decision.executors < found.decision.executors
    approve(world, fresh)
    run(world, lead, 40.0, challengers=())
    assert world.store.recommendation(fresh.id).status is Status.EFFECTIVE
    assert world.places["a"].scaled == [fresh.id]
    assert first_break(world.store.audit_since(0)) is None


def test_an_overload_that_has_gone_by_leaves_nothing_open() -> None:
    world = world_with(1.6)
    lead = Lead(world)
    run(world, lead, 10.0, challengers=())
    drifts(world, 0.4)
    offer = refused(world, open_one(world), "the load of a is 40 % now")
    run(world, lead, 60.0, challengers=())
    ended = world.store.recommendation(offer.id)
    assert ended.status is Status.CANCELLED
    assert "content with 1 executor" in ended.history[-1].why
    assert all(r.status.final for r in world.store.recommendations())


@pytest.mark.parametrize("load", [2.0, 1.75, 5.0])  # less, just within 40 %; or more
def test_a_scale_out_still_holds(load: float) -> None:
    world = world_with(2.9)
    run(world, Lead(world), 10.0, challengers=())
    found = open_one(world)
    drifts(world, load)
    assert approve(world, found).status is Status.APPROVED


def test_more_load_than_a_scale_in_was_made_for() -> None:
    world = world_with(0.3, executors=5)
    lead = Lead(world)
    run(world, lead, 10.0, challengers=())
    found = open_one(world)
    assert found.kind == "scale_in"
    drifts(world, 2.4)  # 48 % of five cores, after 6 %
    offer = refused(world, found, "the load of a is 48 % now, and the plan was made for 6 %")
    run(world, lead, 60.0, challengers=())
    assert world.store.recommendation(offer.id).status.final
    for left in world.store.recommendations():
        assert left.status.final or left.decision.executors > offer.decision.executors


def test_a_scale_in_still_holds_with_less_load() -> None:
    world = world_with(2.0, executors=8)
    run(world, Lead(world), 10.0, challengers=())
    found = open_one(world)
    drifts(world, 0.1)
    assert approve(world, found).status is Status.APPROVED


def test_executors_that_came_from_elsewhere_before_it_begins() -> None:
    """Approved in time, but what it waited for took so long that the plan is stale."""
    world = world_with(3.0)
    lead = Lead(world)
    run(world, lead, 10.0, challengers=())
    found = open_one(world)
    approve(world, found)
    world.places["a"].can_scale = False
    world.tick()
    run(world, lead, 6.0, ask=False)
    assert world.store.recommendation(found.id).status is Status.APPROVED
    world.places["a"].can_scale = True
    world.places["a"].executors = world.places["a"].wanted = 2
    run(world, lead, 4.0, ask=False)
    ended, offer = world.store.recommendation(found.id), open_one(world)
    assert ended.status is Status.SUPERSEDED
    assert "a has 2 executors now, and the plan was made for 1" in ended.history[-1].why
    assert (offer.decision.before, offer.by) == (2, "engine")
    assert world.places["a"].scaled == []


def test_an_operator_that_is_elsewhere_by_now() -> None:
    world = World(a={"x": 0.7, "y": 0.6, "z": 0.5}, b={"t": 0.1}, c={"u": 0.1})
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    for name in world.places:
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        given_mode(world.store, name, Mode.APPROVE)
    lead = Lead(world)
    run(world, lead, 8.0, challengers=(), planner="milp")
    found = open_one(world)
    assert isinstance(found.decision, Moves)
    move = found.decision.moves[0]
    other = "c" if move.target == "b" else "b"
    world.store.place(Placement(operator=move.operator, cluster=other))
    for _ in range(3):
        world.tick()
    with pytest.raises(people.Drifted, match=f"{move.operator} is in {other} now") as stale:
        approve(world, found)
    assert stale.value.offer is None
    assert "The engine looks again" in str(stale.value)
    run(world, lead, 30.0, challengers=(), planner="milp")
    fresh = open_one(world)  # a is still too full, and the engine says what to do now
    assert fresh.decision.moves[0].operator != move.operator
    assert fresh.decision.moves[0].source == "a"
    assert approve(world, fresh).status is Status.APPROVED


@pytest.mark.parametrize("mode", [Mode.APPROVE, Mode.AUTO])
def test_a_load_that_came_before_it_begins(mode: Mode) -> None:
    """Approved when there was nothing to do, and held back until there was."""
    world = world_with(0.8, executors=5)
    lead = Lead(world)
    run(world, lead, 10.0, challengers=())
    found = open_one(world)
    assert (found.kind, found.before.load["a"]) == ("scale_in", pytest.approx(0.16))
    approve(world, found)
    world.places["a"].can_scale = False
    given_mode(world.store, "a", mode)
    world.work["count"] = 4.5
    run(world, lead, 20.0, ask=False)
    assert world.store.recommendation(found.id).status is Status.APPROVED
    world.places["a"].can_scale = True
    run(world, lead, 4.0, ask=False)
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.SUPERSEDED
    assert "the load of a is 90 % now, and the plan was made for 16 %" in ended.history[-1].why
    assert world.places["a"].scaled == []
    open_ = [r for r in world.store.recommendations() if not r.status.final]
    if mode is Mode.AUTO:
        assert open_ == []  # it would do at once what was just found wrong
    else:
        assert [(r.status, r.before.load["a"]) for r in open_] == [
            (Status.PROPOSED, pytest.approx(0.9))
        ]


def test_in_auto_a_stale_approval_is_refused_without_an_offer() -> None:
    world = world_with(2.9)
    given_mode(world.store, "a", Mode.AUTO)
    people.pause_all(world.store, by="ada", now=world.now)
    run(world, Lead(world), 10.0, challengers=())
    found = open_one(world)
    people.resume_all(world.store, by="ada", now=world.now)
    drifts(world, 1.4)
    with pytest.raises(people.Drifted, match="The engine looks again") as stale:
        approve(world, found)
    assert stale.value.offer is None
