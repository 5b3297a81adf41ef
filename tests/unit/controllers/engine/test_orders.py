"""Only the engine's own orders count as a recommendation's, and they are not given for ever."""

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.people import named
from tests.unit.controllers.engine.engine_world import Crash, Lead, World, run, scale_out
from weir.controllers.engine.apply.effects import Create, carry_out
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.facts import ATTEMPTS
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import ENGINE, Status
from weir.controllers.model.command import (
    Action,
    Command,
    CommandResult,
    CommandStatus,
    RestartOperator,
    ScaleTo,
)
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.snapshot import Snapshot


@pytest.fixture
def world() -> World:
    world = World(a={"count": 1.6}, b={"top": 0.1})
    world.store.save_settings("engine", {"settle_s": 10.0})
    return world


def sent(
    world: World, action: Action, fence: int | None, status: CommandStatus, id: str = named("it")
) -> None:
    """A command under this id that is at its end."""
    world.store.submit(
        Command(
            id=id, cluster="a", action=action, issued_at=world.now, expires_at=world.now + 30,
            by="eve", fence=fence,
        )
    )  # fmt: skip
    world.store.report(CommandResult(id=id, status=status, at=world.now, message="done"))


@pytest.mark.parametrize(
    ("action", "fence"),
    [
        (RestartOperator(operator="count"), None),
        (ScaleTo(executors=3), None),  # no engine gave it
        (ScaleTo(executors=7), 1),
    ],
)
def test_a_command_of_somebody_else_under_its_id_is_not_its_order(
    world: World, action: Action, fence: int | None
) -> None:
    sent(world, action, fence, CommandStatus.DONE)
    scale_out(world)
    run(world, Lead(world), 6.0, ask=False)
    assert world.store.recommendation(named("it")).status is Status.APPLIED
    assert world.places["a"].scaled == [f"{named('it')}~1"]
    assert world.places["a"].executors == 3


def test_a_rebalance_of_somebody_else_under_its_id_is_not_its_order(world: World) -> None:
    move = Move(operator="count", source="a", target="b")
    asked = Moves(moves=(move,), reason=Reason(text=""))
    people.propose_by_hand(world.store, asked, by="ada", now=world.now, id="it")
    lead = Lead(world, writes=0)  # dies between "applying" and the rebalance
    with pytest.raises(Crash):
        run(world, lead, 4.0, ask=False)
    other = replace(move, operator="top", source="b", target="a")
    done = MoveState(move=other, step=MoveStep.DONE, drained_at=world.now)
    world.store.save_rebalance(Rebalance(id=named("it"), at=world.now, moves=(done,)))
    world.now += 31.0
    world.report()
    run(world, Lead(world, "two"), 20.0, ask=False)
    assert world.where["count"] == "b"


def test_nobody_takes_the_ids_of_the_engines_rollbacks(world: World) -> None:
    snapshot = Snapshot.of(world.store.latest(), world.now)
    decision = scale_by_hand(snapshot, "a", 3)
    for id in ("it-undo", "it-back", "it~1"):
        assert (
            people.propose_by_hand(world.store, decision, by="eve", now=world.now, id=id).id != id
        )
        people.cancel(world.store, named(id, by="eve"), by="eve", now=world.now)
    foreign = new_recommendation(
        decision, snapshot, id="it-undo", source="by hand", now=world.now, ttl_s=60.0, by="eve"
    )
    undo = replace(foreign, source="rollback", by=ENGINE, rollback_of=named("it"))
    lead = Lead(world)
    assert carry_out(world.store, [(Create(recommendation=undo),)], lead.lease) == 1
    assert carry_out(world.store, [(Create(recommendation=undo),)], lead.lease) == 1  # as good
    other = replace(undo, id="x-undo", rollback_of="x")
    world.store.save_recommendation(replace(foreign, id="x-undo"))
    assert carry_out(world.store, [(Create(recommendation=other),)], lead.lease) == 0


def test_what_the_agent_refuses_from_the_present_leader_fails_with_its_words(world: World) -> None:
    scale_out(world)
    lead = Lead(world)
    lead.cycle(ask=False)
    world.store.report(
        CommandResult(
            id=named("it"),
            status=CommandStatus.REFUSED,
            at=world.now,
            message="restart the agent of a",
        )
    )
    lead.cycle(ask=False)
    ended = world.store.recommendation(named("it"))
    assert (ended.status, ended.history[-1].why) == (Status.FAILED, "restart the agent of a")
    assert world.store.command(f"{named('it')}~1") is None


def test_a_command_is_not_given_again_for_ever(world: World) -> None:
    scale_out(world)
    for number in range(ATTEMPTS):
        id = named("it") if number == 0 else f"{named('it')}~{number}"
        sent(world, ScaleTo(executors=3), 0, CommandStatus.REFUSED, id)
    run(world, Lead(world), 4.0, ask=False)
    ended = world.store.recommendation(named("it"))
    assert ended.status is Status.FAILED
    assert ended.history[-1].why == f"it was ordered {ATTEMPTS} times in vain"
    assert world.places["a"].scaled == []
