"""The next action begins before the last one was judged: it is judged first, with all that follows."""

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from tests.support.people import named
from tests.unit.controllers.engine.engine_world import PERIOD_S, Lead, World, run
from weir.controllers.engine.apply.effects import BackOff
from weir.controllers.engine.cycle import advance_recommendations
from weir.controllers.engine.judge.verification import track_record
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation, Status, move_to
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot

SETTLE_S = 20.0


def scaled_in_vain(after_s: float = 14.0) -> tuple[World, Lead, Recommendation]:
    """A scale-out that the engine did by itself and that will be found ineffective."""
    world = World(a={"count": 1.6}, b={"top": 0.1})
    world.store.save_settings("engine", {"settle_s": SETTLE_S, "least_effectiveness": 5.0})
    world.store.save_settings("guards:a", {"stabilisation_s": 0})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    for name in world.places:
        given_mode(world.store, name, Mode.AUTO)
    lead = Lead(world)
    run(world, lead, 8.0, challengers=())
    while world.store.recommendations()[0].status is not Status.APPLIED:
        run(world, lead, 2.0, ask=False)
    (done,) = world.store.recommendations()
    run(world, lead, after_s, ask=False)
    assert world.store.recommendation(done.id).status is Status.APPLIED
    return world, lead, done


def snapshot(world: World) -> Snapshot:
    return Snapshot.of(world.store.latest(), world.now)


def backed_off(world: World) -> list[str]:
    return [e.detail for e in world.store.audit_since(0) if e.action == "mode.backed_off"]


def test_the_mode_is_backed_off_but_what_is_replaced_is_not_rolled_back() -> None:
    world, lead, done = scaled_in_vain()
    larger = scale_by_hand(snapshot(world), "a", 5)
    people.propose_by_hand(world.store, larger, by="ada", now=world.now, id="next")
    run(world, lead, 2.0, ask=False)
    judged = world.store.recommendation(done.id)
    assert judged.status is Status.INEFFECTIVE
    assert world.store.modes()["a"] is Mode.AUTO_WITHIN_CRITERIA
    assert backed_off(world) == ["auto -> auto_within_criteria"]
    assert world.store.recommendation(f"{done.id}-back") is None
    assert world.store.recommendation(named("next")).status in (Status.APPLYING, Status.APPLIED)


def test_a_move_leaves_the_size_to_be_rolled_back() -> None:
    world, lead, done = scaled_in_vain()
    there = Moves(moves=(Move(operator="count", source="a", target="b"),), reason=Reason(text=""))
    people.propose_by_hand(world.store, there, by="ada", now=world.now, id="next")
    run(world, lead, 2.0, ask=False)
    back = world.store.recommendation(f"{done.id}-back")
    assert (back.rollback_of, back.status) == (done.id, Status.PROPOSED)
    assert backed_off(world) == ["auto -> auto_within_criteria"]


def test_what_was_to_follow_by_itself_is_looked_at_in_the_new_mode() -> None:
    world, lead, _ = scaled_in_vain()
    world.store.save_settings("criteria:a", {"scale_out": False})
    larger = scale_by_hand(snapshot(world), "a", 5)
    found = new_recommendation(
        larger, snapshot(world), id="next", source="drs", now=world.now, ttl_s=60.0
    )
    approved = move_to(replace(found, mode="auto"), Status.APPROVED, at=world.now, by="engine")
    world.store.save_recommendation(replace(approved, version=0))
    run(world, lead, 2.0, ask=False)
    ended = world.store.recommendation("next")
    assert ended.status is Status.CANCELLED
    assert "scale-out is not among what is automatic" in ended.history[-1].why
    assert world.places["a"].scaled != ["next"]


def test_too_early_is_no_success() -> None:
    world, lead, done = scaled_in_vain(after_s=2.0)
    larger = scale_by_hand(snapshot(world), "a", 5)
    people.propose_by_hand(world.store, larger, by="ada", now=world.now)
    run(world, lead, 2.0, ask=False)
    judged = world.store.recommendation(done.id)
    assert (judged.status, judged.effectiveness) == (Status.UNMEASURED, None)
    assert "before its effect could be measured" in judged.verdict
    assert track_record(world.store.recommendations(), "a").judged == 0
    assert backed_off(world) == []


@pytest.mark.parametrize("chosen", [Mode.OBSERVE, Mode.APPROVE])
def test_a_mode_that_somebody_set_meanwhile_stays(chosen: Mode) -> None:
    world, lead, done = scaled_in_vain()
    for _ in range(round(SETTLE_S / PERIOD_S)):
        world.tick()
    chains = advance_recommendations(lead.facts(), world.now)
    assert any(isinstance(effect, BackOff) for chain in chains for effect in chain)
    given_mode(world.store, "a", chosen)  # between the engine's look and what it does
    lead.do(chains)
    assert world.store.modes()["a"] is chosen
    assert backed_off(world) == []
    run(world, lead, 2.0, ask=False)  # it is judged all the same
    assert world.store.recommendation(done.id).status is Status.INEFFECTIVE
    assert world.store.modes()["a"] is chosen
