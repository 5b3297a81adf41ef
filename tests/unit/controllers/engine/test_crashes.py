"""Kill the engine after every single write: nothing is lost, done twice, or stuck."""

from collections.abc import Callable

import pytest

from tests.support import people
from tests.support.given import given_mode
from tests.support.people import named
from tests.unit.controllers.engine.engine_world import Crash, Lead, World, run, scale_out
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.cycle import advance_recommendations
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import Command, CommandStatus, ScaleTo
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.errors import Refused
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot


def move(world: World) -> None:
    moves = (Move(operator="count", source="a", target="b"),)
    people.propose_by_hand(
        world.store, Moves(moves=moves, reason=Reason(text="")), by="ada", now=world.now, id="it"
    )


def stuck_scale_out(world: World) -> None:
    world.places["a"].room = 1
    scale_out(world)


def half_a_rebalance(world: World) -> None:
    world.refuses.add("rank")
    moves = tuple(Move(operator=op, source="a", target="b") for op in ("count", "rank"))
    people.propose_by_hand(
        world.store, Moves(moves=moves, reason=Reason(text="")), by="ada", now=world.now, id="it"
    )


def resized(world: World, executors: int) -> None:
    world.places["a"].executors = world.places["a"].wanted = executors
    world.tick()


def scale_in(world: World) -> None:
    resized(world, 4)
    snapshot = Snapshot.of(world.store.latest(), world.now)
    people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 2), by="ada", now=world.now, id="it"
    )


def done_before(world: World, begin: Callable[[World], None]) -> None:
    """Something that another engine has brought to its end."""
    begin(world)
    first = Lead(world, "zero")
    run(world, first, 40.0, ask=False)
    assert world.store.recommendation(named("it")).applied_at
    world.store.release(first.lease)


def scale_rolled_back(world: World) -> None:
    done_before(world, scale_out)
    people.rollback(world.store, named("it"), by="ada", now=world.now)


def move_rolled_back(world: World) -> None:
    done_before(world, move)
    people.rollback(world.store, named("it"), by="ada", now=world.now)


def cancelled_behind_a_move(world: World) -> None:
    """What is under way cannot be cancelled, what waits behind it can."""
    move(world)
    snapshot = Snapshot.of(world.store.latest(), world.now)
    people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 3), by="ada", now=world.now, id="next"
    )

    def cancel() -> None:
        people.cancel(world.store, named("next"), by="ada", now=world.now)
        if world.store.recommendation(named("it")).status is Status.APPLYING:
            with pytest.raises(Refused, match="It is being carried out"):
                people.cancel(world.store, named("it"), by="ada", now=world.now)

    world.after(3.0, cancel)


def automatic(world: World) -> None:
    given_mode(world.store, "a", Mode.AUTO)


def automatic_scale_in(world: World) -> None:
    given_mode(world.store, "a", Mode.AUTO)
    world.store.save_settings("guards:a", {"stabilisation_s": 300, "scale_in_delay_s": 0})
    world.work.update(count=0.2, rank=0.1)
    resized(world, 4)


def paused(world: World) -> None:
    """Stopped before anything begins, let go on later."""
    given_mode(world.store, "a", Mode.AUTO)
    people.pause_all(world.store, by="ada", now=world.now)

    def resume() -> None:
        assert world.places["a"].scaled == []
        people.resume_all(world.store, by="ada", now=world.now)

    world.after(20.0, resume)


def no_longer_asked(world: World) -> None:
    """In mode approve: the overload goes by before anybody decides."""
    world.store.save_settings("engine", {"withdraw_s": 10.0})
    world.after(9.0, lambda: world.work.update(count=0.3, rank=0.1))


def automatic_move(world: World) -> None:
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "moves": 1})
    for name in world.places:
        given_mode(world.store, name, Mode.AUTO)


def ineffective(world: World) -> None:
    given_mode(world.store, "a", Mode.AUTO)
    world.store.save_settings("engine", {"settle_s": 10.0, "least_effectiveness": 5.0})


def lived(begin: Callable[[World], None], writes: float) -> tuple[World, bool]:
    """A world whose first engine dies after a given number of writes; another takes over."""
    world = World(a={"count": 1.0, "rank": 0.6}, b={"top": 0.1})
    world.store.save_settings("engine", {"settle_s": 10.0})
    world.store.save_settings("guards:a", {"stabilisation_s": 300})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    begin(world)
    ask_s = ASKED_S.get(begin, 0.0)
    scales = ask_s and begin is not automatic_move
    world.store.save_settings("scale:a", {"scaler": "rate_based" if scales else "no_op"})
    lead, died = Lead(world, "one", writes), False
    try:
        _run(world, lead, ask_s, "" if scales else "milp")
    except Crash:
        died = True
        for _ in range(16):  # its lease ends; clusters go on meanwhile
            world.tick()
        _run(world, Lead(world, "two"), ask_s, "" if scales else "milp")
    return world, died


def _run(world: World, lead: Lead, ask_s: float, planner: str) -> None:
    """Long enough for a proposal, its end, its judgement and its undoing."""
    run(world, lead, ask_s, challengers=(), planner=planner)
    run(world, lead, 50.0, ask=False)


def summary(world: World) -> object:
    """What must not depend on where the crash was."""
    found = sorted(
        (r.source, str(r.status), r.kind, r.rollback_of is not None)
        for r in world.store.recommendations()
        if r.status not in (Status.SUPERSEDED, Status.EXPIRED)
    )
    executors = {name: (p.executors, p.wanted) for name, p in world.places.items()}
    return found, executors, world.where, world.store.modes()


ASKED_S = {
    automatic: 10.0, automatic_scale_in: 10.0, automatic_move: 10.0, ineffective: 10.0,
    paused: 10.0, no_longer_asked: 40.0,
}  # fmt: skip
"""How long scalers and planners are asked; in all other cases a person asks."""


@pytest.mark.parametrize(
    ("begin", "ends"),
    [
        (scale_out, ["effective scale_out"]),
        (scale_in, ["effective scale_in"]),
        (move, ["unmeasured rebalance"]),  # nobody plans here, so nothing was predicted
        (scale_rolled_back, ["effective scale_in", "effective scale_out"]),
        (move_rolled_back, ["unmeasured rebalance", "unmeasured rebalance"]),
        (cancelled_behind_a_move, ["cancelled scale_out", "unmeasured rebalance"]),
        (stuck_scale_out, ["failed scale_out"]),
        (half_a_rebalance, ["failed rebalance", "proposed rebalance"]),  # a person asked for it
        (automatic, ["effective scale_out"]),
        (automatic_scale_in, ["effective scale_in"]),
        (automatic_move, ["effective rebalance"]),
        (ineffective, ["ineffective scale_out", "proposed scale_in"]),
        (paused, ["effective scale_out"]),
        (no_longer_asked, ["cancelled scale_out"]),
    ],
)
def test_a_crash_after_any_write_changes_nothing(
    begin: Callable[[World], None], ends: list[str]
) -> None:
    whole, died = lived(begin, float("inf"))
    assert not died
    assert sorted(f"{r.status} {r.kind}" for r in whole.store.recommendations()) == ends
    wanted, walked = summary(whole), 0
    for writes in range(400):
        world, died = lived(begin, writes)
        if not died:
            break
        walked += 1
        assert summary(world) == wanted, f"after {writes} writes"
        done = [c for p in world.places.values() for c in p.scaled]
        assert len(done) == len({c.split("~")[0] for c in done}), f"{done} after {writes} writes"
        assert first_break(world.store.audit_since(0)) is None
        applied = [
            e.subject for e in world.store.audit_since(0) if e.action == "recommendation.applying"
        ]
        assert len(applied) == len(set(applied))
    assert walked >= 2 * len(ends)


def test_an_old_leader_that_wakes_up_changes_nothing() -> None:
    world = World(a={"count": 1.6}, b={"top": 0.1})
    scale_out(world)
    old = Lead(world, "old")
    facts = old.facts()
    world.now += 31.0  # stopped in the middle of a cycle, and its lease is over
    world.report()
    new = Lead(world, "new")
    run(world, new, 10.0, ask=False)
    assert world.places["a"].scaled == [named("it")]
    trail = world.store.audit_since(0)
    assert old.do(advance_recommendations(facts, world.now)) == 0
    run(world, old, 10.0, ask=False)
    assert (world.places["a"].scaled, world.store.audit_since(0)) == ([named("it")], trail)


def test_a_command_that_was_fenced_off_is_given_again_by_the_new_leader() -> None:
    world = World(a={"count": 1.6}, b={"top": 0.1})
    scale_out(world)
    old = Lead(world, "old", writes=0)  # dies between "applying" and the command
    with pytest.raises(Crash):
        run(world, old, 4.0, ask=False)
    world.now += 31.0
    new = Lead(world, "new")
    late = Command(  # the old one's command arrives all the same
        id=named("it"), cluster="a", action=ScaleTo(executors=3), issued_at=world.now,
        expires_at=world.now + 30, fence=old.lease.token,
    )  # fmt: skip
    world.store.submit(late)
    run(world, new, 20.0, ask=False)
    assert world.store.command(named("it"))[1].status is CommandStatus.REFUSED
    assert world.places["a"].scaled == [f"{named('it')}~1"]
    assert world.store.recommendation(named("it")).status in (Status.APPLIED, Status.EFFECTIVE)
