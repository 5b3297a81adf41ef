"""What people do: each check, each sentence, and who wins."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import Lead, World, run
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.guard.drift import DriftKind, drift
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.propose.make import new_recommendation, undoing_decision
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation, Status, hash_of, move_to
from weir.controllers.model.decision import Move, Moves, Reason, Scale
from weir.controllers.model.errors import Expired, InvalidInput, NotFound, Refused
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot


@pytest.fixture
def world() -> World:
    return World(a={"count": 1.2}, b={"top": 0.1})


def snapshot(world: World) -> Snapshot:
    return Snapshot.of(world.store.latest(), world.now)


def proposed(world: World, executors: int = 2) -> Recommendation:
    found = new_recommendation(
        scale_by_hand(snapshot(world), "a", executors), snapshot(world),
        id=f"p{executors}", source="rate_based", now=world.now, ttl_s=300.0,
    )  # fmt: skip
    assert world.store.save_recommendation(found)
    return found


def do(world: World, action, *args, by: str = "ada", **more) -> Recommendation:
    return action(world.store, *args, by=by, now=world.now, **more)


def test_by_hand_is_asked_and_approved_by_one_click(world: World) -> None:
    decision = scale_by_hand(snapshot(world), "a", 3)
    asked = do(world, people.propose_by_hand, decision, id="mine", comment="a peak", address="::1")
    assert (asked.status, asked.by, asked.source) == (Status.APPROVED, "ada", "by hand")
    assert asked.before.load["a"] == pytest.approx(1.2)
    assert asked.predicted.load["a"] == pytest.approx(0.4)
    assert do(world, people.propose_by_hand, decision, id="mine") == asked
    trail = world.store.audit_since(0)
    assert [(e.action, e.by, e.why, e.address) for e in trail] == [
        ("recommendation.proposed", "ada", "a peak", "::1"),
        ("recommendation.approved", "ada", "a peak", "::1"),
    ]
    assert trail[1].plan_hash == asked.plan_hash
    assert first_break(trail) is None


def test_four_eyes(world: World) -> None:
    world.store.save_settings("engine", {"four_eyes": True})
    asked = do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3))
    assert asked.status is Status.PROPOSED
    with pytest.raises(Refused, match="Somebody else has to approve"):
        do(world, people.approve, asked.id, asked.plan_hash)
    done = do(world, people.approve, asked.id, asked.plan_hash, by="bob")
    assert done.status is Status.APPROVED


def test_moves_by_hand_have_a_prediction_and_must_be_possible(world: World) -> None:
    there = Move(operator="count", source="a", target="b")
    asked = do(world, people.propose_by_hand, Moves(moves=(there,), reason=Reason(text="")))
    assert (asked.kind, asked.clusters) == ("rebalance", ("a", "b"))
    wrong = replace(there, source="b", target="a")
    with pytest.raises(Refused, match="Nothing was done: count is in a now, no longer in b"):
        do(world, people.propose_by_hand, Moves(moves=(wrong,), reason=Reason(text="")))


def test_nobody_moves_an_operator_where_it_is_not_declared(world: World) -> None:
    world.places["b"].declared = ("top",)
    world.tick()
    there = Moves(moves=(Move(operator="count", source="a", target="b"),), reason=Reason(text=""))
    with pytest.raises(Refused) as refused:
        do(world, people.propose_by_hand, there)
    assert str(refused.value) == (
        "Nothing was done: b cannot run count: the module of its host does not declare it."
    )
    world.places["b"].declared = ("count", "top")
    world.tick()
    assert do(world, people.propose_by_hand, there).status is Status.APPROVED


def test_limits_hold_for_everybody(world: World) -> None:
    reason = Reason(text="")
    many = Scale(cluster="a", executors=99, before=1, reason=reason)
    with pytest.raises(Refused, match="a may have 1 to 8 executors, not 99"):
        do(world, people.propose_by_hand, many)
    world.store.save_settings("engine", {"total_executors": 3})
    with pytest.raises(Refused, match="3 are the most over all"):
        do(world, people.propose_by_hand, replace(many, executors=4))
    world.places["a"].can_scale = False
    world.tick()
    with pytest.raises(Refused, match="no agent can scale a"):
        do(world, people.propose_by_hand, replace(many, executors=2))


def test_an_approval_is_for_exactly_what_was_seen(world: World) -> None:
    found = proposed(world)
    with pytest.raises(Refused, match="The plan has changed"):
        do(world, people.approve, found.id, "0" * 16)
    with pytest.raises(NotFound):
        do(world, people.approve, "nope", found.plan_hash)
    assert do(world, people.approve, found.id, found.plan_hash).status is Status.APPROVED


def test_of_two_at_once_one_wins_and_the_other_is_told(world: World) -> None:
    found = proposed(world)
    do(world, people.approve, found.id, found.plan_hash)
    with pytest.raises(Refused, match="It was approved already by ada"):
        do(world, people.approve, found.id, found.plan_hash, by="bob")
    with pytest.raises(Refused, match="It was approved already by ada"):
        do(world, people.reject, found.id, by="bob")


def test_the_loser_of_a_race_looks_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found = proposed(world)
    save = world.store.save_recommendation
    raced: list[Any] = []

    def late(recommendation: Recommendation, *args: object, **more: object) -> bool:
        if not raced:  # somebody else is quicker, between the look and the save
            raced.append(save(move_to(found, Status.REJECTED, at=world.now, by="eve")))
        return save(recommendation, *args, **more)

    monkeypatch.setattr(world.store, "save_recommendation", late)
    with pytest.raises(Refused, match="It was rejected already by eve"):
        do(world, people.approve, found.id, found.plan_hash)
    assert [e.action for e in world.store.audit()] == []


def test_too_late(world: World) -> None:
    found = proposed(world)
    world.now += 301.0
    world.report()
    with pytest.raises(Expired):
        do(world, people.approve, found.id, found.plan_hash)


def test_a_world_that_drifted_refuses_and_offers_anew(world: World) -> None:
    found = proposed(world, 4)
    world.places["a"].executors = world.places["a"].wanted = 2
    world.tick()
    with pytest.raises(people.Drifted, match="a has 2 executors now") as refused:
        do(world, people.approve, found.id, found.plan_hash)
    offer = refused.value.offer
    assert offer is not None
    assert isinstance(offer.decision, Scale)
    assert (offer.decision.before, offer.decision.executors, offer.status) == (2, 4, "proposed")
    assert world.store.recommendation(found.id).status is Status.SUPERSEDED
    assert do(world, people.approve, offer.id, offer.plan_hash).status is Status.APPROVED


def test_what_is_offered_again_and_again_tells_only_the_last_why(world: World) -> None:
    found = proposed(world, 5)
    for present in (2, 3):
        world.places["a"].executors = world.places["a"].wanted = present
        world.tick()
        with pytest.raises(people.Drifted) as refused:
            do(world, people.approve, found.id, found.plan_hash)
        assert refused.value.offer is not None
        found = refused.value.offer
    said = found.decision.reason.text
    assert said.count("Offered again") == 1
    assert "a has 3 executors now" in said


def test_a_load_that_moved_far_is_drift_too(world: World) -> None:
    found = proposed(world)
    world.work["count"] = 0.5
    world.tick()
    assert (
        do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3)).before.load["a"]
        > 0.8
    )
    for _ in range(4):  # one sample alone is no drift
        world.tick()
    with pytest.raises(people.Drifted, match="the load of a is 50 % now"):
        do(world, people.approve, found.id, found.plan_hash)


def test_an_operator_can_be_moved_away_from_a_cluster_that_died(world: World) -> None:
    lead = Lead(world)
    world.places["a"].silent = True
    run(world, lead, 30.0, ask=False)
    away = Moves(moves=(Move(operator="count", source="a", target="b"),), reason=Reason(text=""))
    asked = do(world, people.propose_by_hand, away)
    assert asked.status is Status.APPROVED
    run(world, lead, 20.0, ask=False)
    assert world.where["count"] == "b"
    assert world.store.recommendation(asked.id).status is Status.APPLIED


def test_nothing_is_moved_to_a_cluster_that_died(world: World) -> None:
    world.places["b"].silent = True
    for _ in range(15):
        world.tick()
    there = Moves(moves=(Move(operator="count", source="a", target="b"),), reason=Reason(text=""))
    with pytest.raises(Refused, match="b has given no sign of life"):
        do(world, people.propose_by_hand, there)


def test_more_load_is_no_reason_not_to_scale_out(world: World) -> None:
    found = proposed(world)
    assert found.kind == "scale_out"
    before = found.before.load["a"]

    def why(load: float) -> str:
        drifted = drift(found, snapshot(world), {}, EngineSettings(), {"a": load})
        assert drifted is None or drifted.what is DriftKind.LOAD
        return drifted.text if drifted else ""

    assert why(3 * before) == ""
    assert why(0.7 * before) == ""
    assert "the load of a is" in why(0.3 * before)


def test_advice_cannot_be_approved(world: World) -> None:
    found = proposed(world)
    given_mode(world.store, "a", Mode.RECOMMEND)
    with pytest.raises(Refused, match="In mode recommend this is advice only"):
        do(world, people.approve, found.id, found.plan_hash)


def test_a_comment_may_be_required(world: World) -> None:
    world.store.save_settings("engine", {"comment_required": True})
    found = proposed(world)
    with pytest.raises(InvalidInput, match="Say why"):
        do(world, people.reject, found.id, comment=" ")
    done = do(world, people.reject, found.id, comment="not now")
    assert done.history[-1].why == "not now"


def test_cancel_before_it_begins_not_after(world: World) -> None:
    asked = do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3))
    begun = move_to(asked, Status.APPLYING, at=world.now, by="engine")
    assert do(world, people.cancel, asked.id).status is Status.CANCELLED
    other = replace(begun, id="other", version=0)
    world.store.save_recommendation(other)
    with pytest.raises(Refused, match="roll it back"):
        do(world, people.cancel, "other")


def test_a_rollback_is_a_recommendation_of_its_own(world: World) -> None:
    asked = do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3))
    with pytest.raises(Refused, match="nothing to undo"):
        do(world, people.rollback, asked.id)
    applying = move_to(asked, Status.APPLYING, at=world.now, by="engine")
    applied = replace(
        move_to(applying, Status.APPLIED, at=world.now, by="engine"), applied_at=world.now
    )
    assert world.store.save_recommendation(applying)
    assert world.store.save_recommendation(applied)
    with pytest.raises(Refused, match="nothing left"):
        do(world, people.rollback, asked.id)
    world.places["a"].executors = world.places["a"].wanted = 3
    world.tick()
    back = do(world, people.rollback, asked.id)
    assert (back.source, back.rollback_of, back.status) == ("rollback", asked.id, "approved")
    assert isinstance(back.decision, Scale)
    assert (back.decision.before, back.decision.executors) == (3, 1)
    with pytest.raises(Refused, match="Its rollback is approved already"):
        do(world, people.rollback, asked.id)


def test_modes_settings_and_pause_are_checked_and_audited(world: World) -> None:
    do(world, people.set_mode, "a", "auto")
    with pytest.raises(InvalidInput, match="'wild' is not one of observe"):
        do(world, people.set_mode, "a", "wild")
    with pytest.raises(NotFound, match="there is no cluster 'moon'"):
        do(world, people.set_mode, "moon", "auto")
    kept = do(world, people.set_settings, "guards:a", {"largest_step": "2"})
    assert kept == {"largest_step": 2}
    with pytest.raises(InvalidInput, match="largest_step"):
        do(world, people.set_settings, "guards:a", {"largest_step": "many"})
    with pytest.raises(InvalidInput, match="span of hours"):
        do(world, people.set_settings, "guards:a", {"excluded_hours": "late"})
    with pytest.raises(InvalidInput, match="there is no scaler 'magic'"):
        do(world, people.set_settings, "scale:a", {"scaler": "magic"})
    with pytest.raises(NotFound):
        do(world, people.set_settings, "weather", {})
    assert do(world, people.set_settings, "guards:a", {"largest_step": None}) == {}
    do(world, people.set_settings, "engine", {"webhook_url": "http://hook/secret"})
    assert people.find_pause(world.store) is None
    assert do(world, people.pause_all, comment="maintenance")
    assert not do(world, people.pause_all)
    stopped = people.find_pause(world.store)
    assert (stopped.by, stopped.why, stopped.at) == ("ada", "maintenance", world.now)
    assert do(world, people.resume_all)
    trail = world.store.audit_since(0)
    assert [e.action for e in trail] == [
        "mode.changed", "settings.changed", "settings.changed", "settings.changed",
        "engine.paused", "engine.resumed",
    ]  # fmt: skip
    assert trail[0].detail == "approve -> auto"
    assert trail[1].detail == "largest_step: default -> 2"
    assert "secret" not in repr(trail)


def test_a_rollback_is_for_exactly_what_was_seen(world: World) -> None:
    asked = do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3))
    applying = move_to(asked, Status.APPLYING, at=world.now, by="engine")
    applied = replace(
        move_to(applying, Status.APPLIED, at=world.now, by="engine"), applied_at=world.now
    )
    assert world.store.save_recommendation(applying)
    assert world.store.save_recommendation(applied)
    world.places["a"].executors = world.places["a"].wanted = 3
    world.tick()
    seen = undoing_decision(applied, snapshot(world), {}, "")
    assert seen is not None
    world.places["a"].executors = world.places["a"].wanted = 5  # somebody was quicker
    world.tick()
    with pytest.raises(Refused) as refused:
        do(world, people.rollback, asked.id, plan_hash=hash_of(seen))
    assert str(refused.value) == (
        "The plan has changed since you saw it. Now it is: a: 5 to 1 executor. Look at it again."
    )
    now = undoing_decision(applied, snapshot(world), {}, "")
    back = do(world, people.rollback, asked.id, plan_hash=hash_of(now))
    assert (back.plan_hash, back.status) == (hash_of(now), Status.APPROVED)


def test_a_second_scale_out_beyond_the_total_is_refused_at_once(world: World) -> None:
    world.store.save_settings("engine", {"total_executors": 4})
    first = do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "a", 3))
    assert first.status is Status.APPROVED
    with pytest.raises(Refused, match="3 executors are in use or coming elsewhere, and 4 are"):
        do(world, people.propose_by_hand, scale_by_hand(snapshot(world), "b", 2))
