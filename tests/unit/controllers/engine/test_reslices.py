"""A re-slice step by step: whatever fails, the old or the new owners run, never both, never none."""

import pytest
from msgspec.structs import replace

from weir.controllers.engine.apply.effects import carry_out
from weir.controllers.engine.apply.reslices import (
    ATTEMPTS,
    HOLD_S,
    REWRITE_S,
    START_S,
    Advanced,
    ResliceStep,
    Reslicing,
    advance_reslice,
)
from weir.controllers.engine.apply.reslicing import advance_reslices, open_reslices
from weir.controllers.model.command import CommandResult, CommandStatus, DropState, RewriteState
from weir.controllers.model.failover import Death
from weir.controllers.model.placement import LEADER, Lease, Placement, operator_lease
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.model.slicing import Slicing
from weir.metrics.store.memory_store import MemoryStore

FIRST = Slicing.even("x", 2, groups=8)


class World:
    """Two clusters whose hosts do at once what the store says, unless they are dead."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.store = MemoryStore(clock=lambda: self.now)
        self.leader = self.store.acquire(LEADER, "engine", 1e6)
        self.store.slice_if(FIRST, seen=None)
        self.dead: set[str] = set()
        self.broken: set[str] = set()  # slices that cannot start
        self.runs = 0
        self.leases: dict[str, tuple[Lease, int]] = {}
        for name, cluster in (("x.0", "a"), ("x.1", "b")):
            self.store.place(Placement(operator=name, cluster=cluster))
        self.report()

    def report(self) -> None:
        """Hosts follow the store and report."""
        self.now += 1.0
        slicing = self.store.slicings()["x"]
        placed = self.store.placements()
        for name, (lease, born) in [*self.leases.items()]:
            gone = slicing.born.get(name) != born or name in slicing.held
            if gone and placed_in(placed, name) not in self.dead:
                self.store.release(lease)
                del self.leases[name]
        for cluster in {"a", "b"} - self.dead:
            found = []
            for name in slicing.slices:
                if placed_in(placed, name) != cluster:
                    continue
                if name not in slicing.held and name not in self.leases | dict.fromkeys(
                    self.broken
                ):
                    self.runs += 1
                    taken = self.store.acquire(operator_lease(name), f"{cluster}/{self.runs}", 1e6)
                    if taken is not None:
                        self.leases[name] = (taken, slicing.born[name])
                running = name in self.leases
                status = OperatorStatus.RUNNING if running else OperatorStatus.STOPPED
                token = self.leases[name][0].token if running else None
                found.append(
                    OperatorSample(
                        name=name, cluster=cluster, status=status, lease_token=token,
                        run_id=f"run {token}", slice_of="x", key_groups=slicing.groups_of(name),
                        first_batch_at=self.now if running else None,
                        batch_at=self.now if running else None,
                    )
                )  # fmt: skip
            self.store.append(
                ClusterSample(
                    at=self.now, period_s=1.0, operators=tuple(found),
                    cluster=Cluster(name=cluster, executors=1, hosted=True, declared=("x",)),
                )
            )  # fmt: skip
        begun = {name: born for name, (_, born) in self.leases.items()}
        assert all(
            slicing.born.get(n) == b or placed_in(placed, n) in self.dead for n, b in begun.items()
        ), "an old owner runs beside the new ones"

    def step(self) -> None:
        """The engine takes one step."""
        found = open_reslices(self.store, self.now)
        if found is not None:
            carry_out(self.store, advance_reslices(found, self.now), self.leader)

    def answer(self, status: CommandStatus = CommandStatus.DONE, message: str = "") -> None:
        """A driver carries out what it was told to rewrite."""
        for cluster in {"a", "b"} - self.dead:
            for command in self.store.open_commands(cluster):
                said = CommandResult(id=command.id, status=status, at=self.now, message=message)
                self.store.report(said)

    def until(self, *steps: ResliceStep, answer: bool = True) -> Reslicing:
        for _ in range(600):
            self.report()
            self.step()
            found = self.store.reslicings()[0]
            if found.step in steps:
                return found
            if answer:
                self.answer()
        raise AssertionError(self.store.reslicings()[0])

    def running(self) -> dict[str, tuple[int, ...]]:
        self.report()
        slicing = self.store.slicings()["x"]
        return {name: slicing.groups_of(name) for name in sorted(self.leases)}


def placed_in(placed: dict[str, Placement], name: str) -> str:
    return placed[name].cluster if name in placed else ""


@pytest.fixture
def world() -> World:
    return World()


def ask(world: World, after: Slicing, clusters: dict[str, str] | None = None) -> None:
    world.report()
    world.store.save_reslicing(
        Reslicing(
            id="r", at=world.now, operator="x", was=dict(FIRST.owners), owners=dict(after.owners),
            clusters=clusters or {},
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("after", "clusters"),
    [
        (FIRST.split("x.0"), {"x.2": "b"}),
        (FIRST.merged("x.1", "x.0"), {}),
        (FIRST.joined(), {"x.2": "a"}),
        (FIRST.handed((3,), "x.0", "x.1"), {}),
    ],
)
def test_the_new_owners_take_over(world: World, after: Slicing, clusters: dict[str, str]) -> None:
    ask(world, after, clusters)
    done = world.until(ResliceStep.DONE)
    assert world.running() == {name: after.groups_of(name) for name in after.slices}
    assert set(world.store.placements()) == set(after.slices)
    assert done.paused_s is not None
    told = [c.action for c, _ in world.store.recent_commands()]
    rewrite = next(a for a in told if isinstance(a, RewriteState))
    assert rewrite.after == world.store.slicings()["x"]
    drop = next(a for a in told if isinstance(a, DropState))
    assert set(drop.born) == {n for n in after.changed(FIRST) if n in FIRST.owners}


@pytest.mark.parametrize("fails", [CommandStatus.FAILED, CommandStatus.REFUSED])
def test_what_cannot_be_rewritten_goes_back(world: World, fails: CommandStatus) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    for _ in range(ATTEMPTS):
        found = world.until(ResliceStep.REWRITING, ResliceStep.RETURNED, answer=False)
        if found.final:
            break
        world.answer(fails, "no room left")
        world.step()
    back = found if found.final else world.until(ResliceStep.RETURNED)
    assert "went back: no room left" in back.message
    assert world.running() == {name: FIRST.groups_of(name) for name in FIRST.slices}
    assert world.store.slicings()["x"].owners == FIRST.owners
    assert "x.2" not in world.store.placements()


def test_a_driver_that_never_answers_is_not_waited_for(world: World) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    world.until(ResliceStep.REWRITING, answer=False)
    back = world.until(ResliceStep.RETURNED, answer=False)
    assert f"within {REWRITE_S:.0f} s" in back.message
    held = back.before
    assert world.running() == {name: FIRST.groups_of(name) for name in FIRST.slices}
    # It answers at last: for the generation that it wrote nobody has any use.
    world.answer()
    world.step()
    assert world.store.slicings()["x"].generation > held.resliced(back.owners).generation - 1
    assert world.running() == {name: FIRST.groups_of(name) for name in FIRST.slices}


@pytest.mark.parametrize("step", [ResliceStep.HOLDING, ResliceStep.REWRITING])
def test_nobody_waits_for_a_driver_that_has_died(world: World, step: ResliceStep) -> None:
    """Its own slice is rescued; those of the others must not stand still meanwhile."""
    ask(world, FIRST.handed((3,), "x.0", "x.1"))
    world.until(step, answer=False)
    world.dead.add("a")
    if "x.0" in world.leases:
        world.store.release(world.leases.pop("x.0")[0])
    died = Death(cluster="a", at=world.now, noticed_at=world.now, lost=("x.0",))
    world.store.save_deaths((died,))
    began = world.now
    found = world.until(ResliceStep.RETURNING, ResliceStep.STARTING)
    assert world.now - began < 5.0, found
    world.store.place(Placement(operator="x.0", cluster="b"))
    ended = world.until(ResliceStep.RETURNED, ResliceStep.DONE)
    after = world.store.slicings()["x"]
    assert (after.owners == FIRST.owners) == (ended.step is ResliceStep.RETURNED)
    assert world.running() == {name: after.groups_of(name) for name in after.slices}


def test_a_slice_that_does_not_stop_keeps_its_groups(world: World) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    world.dead.add("b")  # suspended: its lease is kept, nothing is let go
    for _ in range(int(HOLD_S) + 3):
        world.report()
        world.step()
    world.dead.clear()
    assert world.until(ResliceStep.RETURNED).message.startswith("went back: x.1 did not come")
    assert world.running() == {name: FIRST.groups_of(name) for name in FIRST.slices}


def test_one_that_does_not_start_leaves_the_new_owners_in_force(world: World) -> None:
    world.broken.add("x.2")
    after = FIRST.joined()
    ask(world, after, {"x.2": "a"})
    failed = world.until(ResliceStep.FAILED)
    assert failed.message == "the new owners are in force, but x.2 has not committed"
    world.broken.clear()
    assert world.running() == {name: after.groups_of(name) for name in after.slices}
    assert world.now - failed.since < START_S


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda w: w.store.place(Placement(operator="x.1", cluster="b", wanted="stopped")),
            "stopped",
        ),
        (lambda w: w.store.slice_if(FIRST.split("x.1"), FIRST), "have changed since"),
        (lambda w: w.store.slice_if(FIRST.holding(["x.0"]), FIRST), "re-sliced already"),
    ],
)
def test_what_no_longer_holds_is_not_begun(world: World, change, why: str) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    change(world)
    before = world.store.slicings()
    world.step()
    failed = world.store.reslicings()[0]
    assert failed.step is ResliceStep.FAILED
    assert why in failed.message
    assert world.store.slicings() == before


def test_nobody_says_where_a_new_slice_runs(world: World) -> None:
    ask(world, FIRST.joined())
    world.step()
    assert world.store.reslicings()[0].message == "nobody says where x.2 is to run"


def test_any_engine_can_take_any_step(world: World) -> None:
    """Each step is taken twice from the same view, as by an engine that died right after it."""
    after = FIRST.split("x.0")
    ask(world, after, {"x.2": "b"})
    for _ in range(40):
        world.report()
        found = open_reslices(world.store, world.now)
        if found is None:
            break
        chains = advance_reslices(found, world.now)
        carry_out(world.store, chains, world.leader)
        carry_out(world.store, chains, world.leader)
        world.answer()
    assert world.store.reslicings()[0].step is ResliceStep.DONE
    assert world.running() == {name: after.groups_of(name) for name in after.slices}


def test_an_order_that_was_never_given_is_given_again(world: World) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    world.until(ResliceStep.HOLDING, answer=False)
    for _ in range(5):
        world.report()
        ((reslicing, stage),) = open_reslices(world.store, world.now).stages
        after: Advanced = advance_reslice(reslicing, stage, world.now)
        world.store.save_reslicing(after.reslicing, world.leader)  # and the engine dies
        if after.reslicing.step is ResliceStep.REWRITING:
            break
    assert world.store.recent_commands() == []
    assert world.until(ResliceStep.DONE).step is ResliceStep.DONE


def test_an_old_engine_changes_nothing(world: World) -> None:
    ask(world, FIRST.joined(), {"x.2": "a"})
    world.leader = replace(world.leader, token=0)
    world.step()
    assert world.store.slicings()["x"] == FIRST
    assert world.store.reslicings()[0].step is ResliceStep.PLANNED
