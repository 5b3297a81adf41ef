"""Pause-all in the midst of something, and beside other settings."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import Crash, Lead, World, run
from weir.controllers.engine.apply.moves import MoveStep
from weir.controllers.engine.guard.rules import EngineSettings, GuardSettings
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation, Status, move_to
from weir.controllers.engine.stored import engine_settings, read_leniently
from weir.controllers.model.decision import Move, Moves, Reason, Scale
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.pipeline.engine.process import Engine

PAUSED = "every automatic action is paused"


@pytest.fixture
def world() -> World:
    world = World(a={"count": 0.7, "rank": 0.5}, b={"top": 0.1})
    world.store.save_settings("engine", {"settle_s": 10.0})
    for name in world.places:
        given_mode(world.store, name, Mode.AUTO)
        world.store.save_settings(f"guards:{name}", {"stabilisation_s": 0, "least_periods": 1})
    return world


def approved(world: World, decision: Scale | Moves, mode: str = "auto") -> Recommendation:
    """What the engine has approved by itself; without a mode, what a person has."""
    found = new_recommendation(
        decision, Snapshot.of(world.store.latest(), world.now), id="it", source="drs",
        now=world.now, ttl_s=300.0,
    )  # fmt: skip
    by = "engine" if mode else "ada"
    done = move_to(replace(found, mode=mode), Status.APPROVED, at=world.now, by=by)
    world.store.save_recommendation(replace(done, version=0))
    return done


def two_moves() -> Moves:
    moves = tuple(Move(operator=op, source="a", target="b") for op in ("count", "rank"))
    return Moves(moves=moves, reason=Reason(text=""))


def steps(world: World) -> list[MoveStep]:
    return [m.step for m in next(r for r in world.store.rebalances() if r.id == "it").moves]


def test_what_has_not_begun_of_an_automatic_rebalance_does_not_begin(world: World) -> None:
    approved(world, two_moves())
    lead = Lead(world)
    run(world, lead, 4.0, ask=False)
    assert steps(world) == [MoveStep.RELEASING, MoveStep.PLANNED]
    people.pause_all(world.store, by="ada", now=world.now)
    run(world, lead, 60.0, ask=False)
    assert steps(world) == [MoveStep.DONE, MoveStep.FAILED]
    failed = world.store.recommendation("it")
    assert (failed.status, failed.history[-1].why) == (Status.FAILED, f"rank: {PAUSED}")
    assert world.where == {"count": "a", "rank": "a", "top": "b"}  # half of it was undone
    assert world.store.recommendation("it-undo").applied_at


def test_what_a_person_approved_goes_on(world: World) -> None:
    approved(world, two_moves(), mode="")
    lead = Lead(world)
    run(world, lead, 4.0, ask=False)
    people.pause_all(world.store, by="ada", now=world.now)
    run(world, lead, 60.0, ask=False)
    assert steps(world) == [MoveStep.DONE, MoveStep.DONE]
    assert world.where == {"count": "b", "rank": "b", "top": "b"}


def test_the_process_gives_them_up_too(world: World) -> None:
    approved(world, two_moves())
    engine = Engine(world.store)
    lead = Lead(world, engine._leadership.holder)
    run(world, lead, 4.0, ask=False)
    people.pause_all(world.store, by="ada", now=world.now)
    assert engine._leadership.take()
    engine._drive_moves(world.now)
    assert steps(world) == [MoveStep.RELEASING, MoveStep.FAILED]


def test_an_order_that_was_lost_is_not_given_while_paused(world: World) -> None:
    approved(world, scale_by_hand(Snapshot.of(world.store.latest(), world.now), "a", 3))
    with pytest.raises(Crash):  # between "applying" and the command
        run(world, Lead(world, writes=0), 4.0, ask=False)
    people.pause_all(world.store, by="ada", now=world.now)
    world.now += 31.0
    world.report()
    run(world, Lead(world, "two"), 6.0, ask=False)
    ended = world.store.recommendation("it")
    assert (ended.status, ended.history[-1].why) == (Status.FAILED, PAUSED)
    assert world.places["a"].scaled == []


def test_a_value_that_no_longer_fits_takes_no_other_with_it(world: World) -> None:
    kept = {"four_eyes": True, "ttl_s": 1, "comment_required": True, "webhook_url": "ftp://x"}
    world.store.save_settings("engine", {**kept, "paused": True, "gone": 1})
    found = engine_settings(world.store)
    assert (found.paused, found.four_eyes, found.comment_required) == (True, True, True)
    assert (found.ttl_s, found.webhook_url) == (EngineSettings().ttl_s, "")
    assert people.find_pause(world.store) is not None
    rules = read_leniently(GuardSettings, {"excluded_hours": "late", "largest_step": 2})
    assert (rules.excluded_hours, rules.largest_step) == ("", 2)


def test_saving_settings_meanwhile_does_not_undo_a_pause(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = world.store.change_settings
    raced: list[Any] = []

    def late(group, asked, said, **more):
        def between(kept):
            if not raced:  # between the look at the settings and their change
                raced.append(1)
                people.pause_all(world.store, by="ada", now=world.now, comment="stop")
            return asked(kept)

        return change(group, between, said, **more)

    monkeypatch.setattr(world.store, "change_settings", late)
    people.set_settings(world.store, "engine", {"ttl_s": 60}, by="bob", now=world.now)
    assert world.store.settings("engine") == {"settle_s": 10.0, "paused": True, "ttl_s": 60.0}
    assert people.find_pause(world.store).by == "ada"  # also afterwards, and who it was stays known
    people.set_settings(world.store, "engine", {"ttl_s": 90}, by="bob", now=world.now)
    assert people.find_pause(world.store).by == "ada"
