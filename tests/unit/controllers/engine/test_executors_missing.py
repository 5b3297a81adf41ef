"""Executors that were asked for and do not come, or do not stay."""

import pytest

from tests.support import people
from tests.unit.controllers.engine.engine_world import Lead, only, run, world_with
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot


def test_a_scale_out_that_is_partly_granted_stands_and_the_rest_is_waited_for() -> None:
    world = world_with(Mode.AUTO, load=2.7)
    world.places["a"].room = 3
    lead = Lead(world)
    seen = set()
    while world.now < 1_000_600.0:
        run(world, lead, 2.0)
        seen.add(world.places["a"].executors)
    found = only(world)
    assert (found.decision.before, found.decision.executors) == (1, 4)
    assert seen == {1, 3}
    assert world.places["a"].wanted == 4
    applied = next(e for e in found.history if e.status is Status.APPLIED)
    assert applied.why == (
        "3 of 4 executors are there after 90 s; the rest is asked for until it comes"
    )
    assert found.status is Status.EFFECTIVE
    assert "from 270 % to 90 %; 68 % was predicted" in found.verdict
    world.places["a"].room = 8
    run(world, lead, 4.0)
    assert world.places["a"].executors == 4
    world.work["count"] = 0.1
    run(world, lead, 120.0)
    assert world.places["a"].executors == world.places["a"].wanted < 4


@pytest.mark.parametrize("scaler", ["rate_based", "thresholds", "spark_streaming", "fixed"])
def test_executors_that_never_come_are_asked_for_once_and_stay_asked(scaler: str) -> None:
    world = world_with(Mode.AUTO, load=2.7)
    world.store.save_settings("scale:a", {"scaler": scaler})
    world.places["a"].room = 1
    lead = Lead(world)
    run(world, lead, 600.0)
    failed = only(world)
    assert failed.status is Status.FAILED
    assert "none has come" in failed.history[-1].why
    assert (world.places["a"].executors, world.places["a"].wanted) == (1, failed.decision.executors)
    assert world.places["a"].scaled == [failed.id]


def test_a_silent_agent_fails_it_and_nothing_is_left_open() -> None:
    world = world_with()
    lead = Lead(world)
    snapshot = Snapshot.of(world.store.latest(), world.now)
    asked = people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 3), by="ada", now=world.now
    )
    world.places["a"].silent = True
    run(world, lead, 60.0, ask=False)
    ended = world.store.recommendation(asked.id)
    assert ended.status is Status.FAILED
    assert "does not answer" in ended.history[-1].why
    world.places["a"].silent = False
    run(world, lead, 4.0, ask=False)
    assert world.places["a"].scaled == []  # the command had expired with it


@pytest.mark.parametrize("lost", [1, 2])
def test_an_action_whose_executors_are_lost_is_not_judged_and_stays_asked(lost: int) -> None:
    world = world_with(Mode.AUTO)
    lead = Lead(world)
    run(world, lead, 16.0)
    done = only(world)
    assert (done.status, done.decision.executors) == (Status.APPLIED, 3)
    world.places["a"].executors -= lost  # and Spark does not bring it back
    run(world, lead, 24.0, ask=False)
    judged = only(world)  # no rollback: it would take away those that are there
    assert judged.status is Status.UNMEASURED
    assert "a lost an executor" in judged.verdict
