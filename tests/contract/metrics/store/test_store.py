"""One contract for every store: in memory and in Redis."""

import pytest

from tests.support.given import given_mode
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveState
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import KEPT_S, Part, Placement, Rebalance, Store, Tier, Workload
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import NotFound
from weir.controllers.model.snapshot import Batch, Cluster, ClusterSample, Mode, Operator


def sample(at: float, cluster: str = "a") -> ClusterSample:
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name=cluster, executors=2, declared=("x",)),
        operators=(Operator(name="x", cluster=cluster, load=0.5, reads=("in",)),),
        batches=(Batch(operator="x", id=7, committed_at=at - 0.5, processing_s=1.5, rows=9),),
    )


def command(number: int, cluster: str = "a") -> Command:
    return Command(
        id=f"c{number}",
        cluster=cluster,
        action=ScaleTo(executors=number),
        issued_at=1000.0 + number,
        expires_at=2000.0,
        by="test",
    )


class TestSamples:
    def test_come_back_whole_in_order_and_by_time(self, store: Store) -> None:
        for at in (1000.0, 1002.0, 1004.5):
            assert store.append(sample(at))
        assert store.samples("a", 1000.0, 1002.0) == [sample(1000.0), sample(1002.0)]
        assert store.samples("a", 1003.0, float("inf")) == [sample(1004.5)]
        assert store.samples("b", 0.0, float("inf")) == []

    def test_the_same_period_is_taken_once(self, store: Store) -> None:
        assert store.append(sample(1000.0), Tier.MINUTE)
        assert not store.append(sample(1000.0), Tier.MINUTE)
        assert not store.append(sample(999.0), Tier.MINUTE)
        assert len(store.samples("a", 0.0, float("inf"), Tier.MINUTE)) == 1
        assert store.clusters() == []  # only full resolution says that a cluster is there

    def test_latest_is_one_per_cluster(self, store: Store) -> None:
        for at, name in ((1000.0, "b"), (1001.0, "a"), (1002.0, "b")):
            store.append(sample(at, name))
        assert store.latest() == [sample(1001.0, "a"), sample(1002.0, "b")]
        assert store.clusters() == ["a", "b"]
        store.forget("a", AuditEntry(at=1.0, by="ada", action="cluster.forgotten"))
        assert store.clusters() == ["b"]
        assert store.samples("a", 0.0, float("inf")) == []

    def test_old_ones_go(self, store: Store) -> None:
        kept = KEPT_S[Tier.FULL]
        for i in range(600):  # Redis trims whole nodes of about a hundred entries
            store.append(sample(1000.0 + 2 * i))
        store.append(sample(1000.0 + 3 * kept))
        left = store.samples("a", 0.0, float("inf"))
        assert left[-1].at == 1000.0 + 3 * kept
        assert len(left) < 150


class TestCommands:
    def test_are_open_until_final_and_in_order(self, store: Store) -> None:
        for i in (2, 1, 3):
            store.submit(command(i))
        store.submit(command(9, cluster="b"))
        assert [c.id for c in store.open_commands("a")] == ["c1", "c2", "c3"]
        store.report(CommandResult(id="c2", status=CommandStatus.RUNNING, at=1.0, progress=0.5))
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=1.0, message="ok"))
        assert [c.id for c in store.open_commands("a")] == ["c2", "c3"]
        assert store.command("c2") == (
            command(2),
            CommandResult(id="c2", status=CommandStatus.RUNNING, at=1.0, progress=0.5),
        )

    def test_the_same_id_is_one_command(self, store: Store) -> None:
        store.submit(command(1))
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=1.0))
        store.submit(command(1))
        assert store.open_commands("a") == []
        assert len(store.recent_commands()) == 1

    def test_are_claimed_by_one_holder_who_may_resume(self, store: Store) -> None:
        store.submit(command(1))
        assert store.claim("c1", "me", 1.0)
        assert not store.claim("c1", "you", 1.0)
        assert store.claim("c1", "me", 2.0)
        assert store.claim("c1", "heir", 2.0, take_over=True)
        assert not store.claim("c1", "me", 2.0)
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=3.0))
        assert not store.claim("c1", "heir", 4.0, take_over=True)
        assert not store.claim("c99", "me", 4.0)

    def test_a_final_result_stays(self, store: Store) -> None:
        store.submit(command(1))
        store.report(CommandResult(id="c1", status=CommandStatus.FAILED, at=1.0, message="no"))
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=2.0))
        found = store.command("c1")
        assert found is not None
        assert found[1].message == "no"

    def test_recent_ones_come_newest_first(self, store: Store) -> None:
        for i in range(5):
            store.submit(command(i))
        assert [c.id for c, _ in store.recent_commands(limit=2)] == ["c4", "c3"]

    def test_unknown_ones_are_said_so(self, store: Store) -> None:
        assert store.command("nope") is None
        with pytest.raises(NotFound, match="there is no command nope"):
            store.report(CommandResult(id="nope", status=CommandStatus.DONE, at=1.0))


class TestLeases:
    def test_one_holder_at_a_time_and_tokens_only_grow(self, store: Store) -> None:
        mine = store.acquire("op", "me", 30.0)
        assert mine is not None
        assert store.acquire("op", "you", 30.0) is None
        assert store.acquire("op", "me", 30.0) == mine
        assert store.lease("op") == mine
        store.release(mine)
        yours = store.acquire("op", "you", 30.0)
        assert yours is not None
        assert yours.token > mine.token
        assert not store.renew(mine, 30.0)
        store.release(mine)  # an old holder takes nothing away
        assert store.lease("op") == yours

    def test_they_end_by_themselves(self, store: Store) -> None:
        mine = store.acquire("op", "me", 0.05)
        assert mine is not None
        assert store.renew(mine, 0.05)
        wait_until(lambda: store.lease("op") is None, 5, "it has run out")
        assert not store.renew(mine, 1.0)
        assert store.acquire("op", "you", 1.0) is not None


def test_a_rebalance_and_its_placements_are_kept_at_once_and_only_by_the_leader(
    store: Store,
) -> None:
    old = store.acquire("engine", "old", 30.0)
    store.release(old)
    new = store.acquire("engine", "new", 30.0)
    moves = (MoveState(move=Move(operator="x", source="a", target="b")),)
    asked = Rebalance(id="r1", at=1.0, moves=moves, by="test")
    assert store.save_rebalance(asked)
    later = Rebalance(id="r1", at=1.0, moves=(), by="test")
    moved = Placement(operator="x", cluster="b")
    assert not store.save_rebalance(later, [moved], leader=old)
    assert (store.rebalances(), store.placements()) == ([asked], {})
    assert store.save_rebalance(later, [moved], leader=new)
    assert (store.rebalances(), store.placements()) == ([later], {"x": moved})


def test_a_placement_changes_only_from_what_was_seen(store: Store) -> None:
    home = Placement(operator="x", cluster="a")
    assert store.place_if(home, seen=None)
    assert not store.place_if(Placement(operator="x", cluster="b"), seen=None)
    stopped = Placement(operator="x", cluster="a", wanted="stopped")
    assert store.place_if(stopped, seen=home)
    assert not store.place_if(Placement(operator="x", cluster="c"), seen=home)
    assert store.placements() == {"x": stopped}


def test_a_move_neither_undoes_a_stop_nor_is_undone_by_one(store: Store) -> None:
    leader = store.acquire("engine", "me", 30.0)
    home, other = Placement(operator="x", cluster="a"), Placement(operator="y", cluster="a")
    for placed in (home, other):
        store.place(placed)
    asked = Rebalance(id="r1", at=1.0, moves=(), by="test")
    store.save_rebalance(asked)
    begun = Rebalance(id="r1", at=2.0, moves=(), by="test")
    seen = store.placements()
    stopped = Placement(operator="y", cluster="a", wanted="stopped")
    assert store.place_if(stopped, seen=other)
    moved = [Placement(operator=n, cluster="b") for n in ("x", "y")]
    assert not store.save_rebalance(begun, moved, leader, seen=seen)
    assert (store.rebalances(), store.placements()) == ([asked], {"x": home, "y": stopped})
    assert store.save_rebalance(begun, moved[:1], leader, seen=store.placements())
    assert store.rebalances() == [begun]
    assert not store.place_if(Placement(operator="x", cluster="a", wanted="stopped"), seen=home)
    assert store.placements() == {"x": moved[0], "y": stopped}


def test_parts_placement_modes_and_workloads(store: Store) -> None:
    part = Part(id="host:a", kind="host", name="a", at=1.0)
    store.beat(part)
    store.beat(Part(id="engine:1", kind="engine", name="leader", at=2.0))
    assert [p.id for p in store.parts()] == ["engine:1", "host:a"]
    store.remove_part("engine:1")
    assert store.parts() == [part]
    placed = Placement(operator="x", cluster="a", wanted="stopped")
    store.place(placed)
    assert store.placements() == {"x": placed}
    given_mode(store, "a", Mode.AUTO)
    assert store.modes() == {"a": Mode.AUTO}
    assert store.settings("balance") == {}
    store.save_settings("balance", {"planner": "milp", "moves": 3})
    assert store.settings("balance") == {"planner": "milp", "moves": 3}
    workload = Workload(name="w", rows_per_s=5.0, paused=True)
    store.set_workload(workload)
    assert store.workloads() == [workload]
