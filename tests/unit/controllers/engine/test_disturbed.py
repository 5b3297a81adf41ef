"""Verdicts survive faults: what happened beside an action is not held against it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import QUICK, Lead, World, run
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Disturbance, Recommendation, Status
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot


def moved_by_hand() -> tuple[World, Lead, str]:
    """Ada moved an operator, and it has arrived; every cluster is automatic."""
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "least_gain": 99})
    for name in world.places:
        given_mode(world.store, name, Mode.AUTO)
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    lead = Lead(world)
    run(world, lead, 6.0, planner="milp")
    moves = Moves(
        moves=(Move(operator="count", source="a", target="b"),), reason=Reason(text="by hand")
    )
    asked = people.propose_by_hand(world.store, moves, by="ada", now=world.now)
    while world.store.recommendation(asked.id).status is not Status.APPLIED:
        run(world, lead, 2.0, planner="milp")
    return world, lead, asked.id


def silent(world: World) -> None:
    """The host dies and its heir reports after a while."""
    world.places["b"].silent = True
    for _ in range(6):
        world.tick()
    world.places["b"].silent = False


def restarted(world: World) -> None:
    world.runs["count"] += 1


def lost(world: World) -> None:
    world.places["b"].executors -= 1


def busier(world: World) -> None:
    world.work = {name: 6.0 * work for name, work in world.work.items()}


def judged(world: World, lead: Lead, id: str) -> Recommendation:
    run(world, lead, 40.0, planner="milp")
    found = world.store.recommendation(id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (silent, Disturbance.FAULT),
        (restarted, Disturbance.RESTART),
        (lost, Disturbance.FAULT),
        (busier, Disturbance.INPUT_CHANGED),
    ],
)
def test_what_happens_beside_an_action_makes_it_unmeasured(
    happens: Callable[[World], None], why: Disturbance
) -> None:
    world, lead, id = moved_by_hand()
    world.places["b"].executors = world.places["b"].wanted = 2
    run(world, lead, 4.0, planner="milp")
    happens(world)
    found = judged(world, lead, id)
    assert found.status is Status.UNMEASURED, found.verdict
    assert found.judgement is not None
    assert found.judgement.disturbance is why
    assert found.judgement.why in found.verdict
    assert world.store.recommendation(f"{id}-back") is None
    assert world.where["count"] == "b"
    assert set(world.store.modes().values()) == {Mode.AUTO}


def test_another_action_on_the_cluster_makes_it_unmeasured() -> None:
    world, lead, id = moved_by_hand()
    run(world, lead, 12.0, planner="milp")
    snapshot = Snapshot.of(world.store.latest(), world.now)
    people.propose_by_hand(world.store, scale_by_hand(snapshot, "b", 2), by="ada", now=world.now)
    found = judged(world, lead, id)
    assert found.status in (
        Status.UNMEASURED,
        Status.EFFECTIVE,
    )  # judged as the other began, or not
    assert found.judgement is not None
    assert found.status is not Status.INEFFECTIVE


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA])
def test_what_a_person_did_is_not_undone_unasked_whatever_the_mode(mode: Mode) -> None:
    world, lead, id = moved_by_hand()
    for name in world.places:
        given_mode(world.store, name, mode)
    world.store.save_settings("engine", {**QUICK, "least_effectiveness": 5.0})  # nothing is enough
    found = judged(world, lead, id)
    assert found.status is Status.INEFFECTIVE
    run(world, lead, 20.0, ask=False)
    back = world.store.recommendation(f"{id}-back")
    assert back.status is Status.PROPOSED
    guard = next(g for g in back.guards if g.name == "person's decision")
    assert not guard.open
    assert "ada" in guard.reason
    assert world.where["count"] == "b"
    people.approve(world.store, back.id, back.plan_hash, by="bob", now=world.now)
    run(world, lead, 20.0, ask=False)
    assert world.where["count"] == "a"


def test_a_scaler_does_not_take_back_the_size_that_a_person_chose() -> None:
    world = World(a={"count": 0.2})
    world.store.save_settings("engine", QUICK)
    world.store.save_settings("guards:a", {"stabilisation_s": 0, "scale_in_delay_s": 0})
    given_mode(world.store, "a", Mode.AUTO)
    lead = Lead(world)
    run(world, lead, 4.0, ask=False)
    snapshot = Snapshot.of(world.store.latest(), world.now)
    people.propose_by_hand(world.store, scale_by_hand(snapshot, "a", 4), by="ada", now=world.now)
    run(world, lead, 60.0, challengers=())
    assert world.places["a"].executors == 4
    waiting = [r for r in world.store.recommendations() if r.status is Status.PROPOSED]
    assert [r.kind for r in waiting] == ["scale_in"]
    found = waiting[0]
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 10.0, ask=False)
    assert world.places["a"].executors < 4


def test_an_old_recommendation_without_a_judgement_is_still_read() -> None:
    world, lead, id = moved_by_hand()
    found = replace(judged(world, lead, id), judgement=None)
    assert found.judgement is None
