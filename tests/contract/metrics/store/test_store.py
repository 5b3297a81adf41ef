"""One contract for every store: in memory and in Redis."""

import pytest
from msgspec.structs import replace

from tests.support.given import AnyStore, given_mode
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveState
from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import KEPT_S, Part, Placement, Rebalance, Tier, Workload
from weir.controllers.model.brief import brief_of
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import NotFound
from weir.controllers.model.failover import Death
from weir.controllers.model.hosting import HostOrder, HostState
from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Mode, OperatorSample
from weir.controllers.model.slicing import Slicing


def sample(at: float, cluster: str = "a") -> ClusterSample:
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name=cluster, executors=2, declared=("x",)),
        operators=(OperatorSample(name="x", cluster=cluster, load=0.5, reads=("in",)),),
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
    def test_come_back_whole_in_order_and_by_time(self, store: AnyStore) -> None:
        for at in (1000.0, 1002.0, 1004.5):
            assert store.append(sample(at))
        assert store.samples("a", 1000.0, 1002.0) == [sample(1000.0), sample(1002.0)]
        assert store.samples("a", 1003.0, float("inf")) == [sample(1004.5)]
        assert store.samples("b", 0.0, float("inf")) == []

    @pytest.mark.parametrize("tier", [Tier.FULL, Tier.HOUR])
    def test_their_figures_are_those_of_the_samples(self, store: AnyStore, tier: Tier) -> None:
        for at in (3600.0, 7200.0, 10_800.0):
            assert store.append(sample(at), tier)
        for since, until in ((0.0, float("inf")), (3601.0, 7200.0), (20_000.0, 30_000.0)):
            expected = [brief_of(s) for s in store.samples("a", since, until, tier)]
            assert store.briefs("a", since, until, tier) == expected
        assert store.briefs("b", 0.0, float("inf")) == []

    def test_the_same_period_is_taken_once(self, store: AnyStore) -> None:
        assert store.append(sample(1000.0), Tier.MINUTE)
        assert not store.append(sample(1000.0), Tier.MINUTE)
        assert not store.append(sample(999.0), Tier.MINUTE)
        assert len(store.samples("a", 0.0, float("inf"), Tier.MINUTE)) == 1
        assert store.clusters() == []  # only full resolution says that a cluster is there

    def test_latest_is_one_per_cluster(self, store: AnyStore) -> None:
        for at, name in ((1000.0, "b"), (1001.0, "a"), (1002.0, "b")):
            store.append(sample(at, name))
        assert store.latest() == [sample(1001.0, "a"), sample(1002.0, "b")]
        assert store.clusters() == ["a", "b"]
        store.forget("a", AuditEntry(at=1.0, by="ada", action="cluster.forgotten"))
        assert store.clusters() == ["b"]
        assert store.samples("a", 0.0, float("inf")) == []

    def test_old_ones_go(self, store: AnyStore) -> None:
        kept = KEPT_S[Tier.FULL]
        for i in range(600):  # Redis trims whole nodes of about a hundred entries
            store.append(sample(1000.0 + 2 * i))
        store.append(sample(1000.0 + 3 * kept))
        left = store.samples("a", 0.0, float("inf"))
        assert left[-1].at == 1000.0 + 3 * kept
        assert len(left) < 150


class TestCommands:
    def test_are_open_until_final_and_in_order(self, store: AnyStore) -> None:
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

    def test_the_same_id_is_one_command(self, store: AnyStore) -> None:
        store.submit(command(1))
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=1.0))
        store.submit(command(1))
        assert store.open_commands("a") == []
        assert len(store.recent_commands()) == 1

    def test_are_claimed_by_one_holder_who_may_resume(self, store: AnyStore) -> None:
        store.submit(command(1))
        assert store.claim("c1", "me", 1.0)
        assert not store.claim("c1", "you", 1.0)
        assert store.claim("c1", "me", 2.0)
        assert store.claim("c1", "heir", 2.0, take_over=True)
        assert not store.claim("c1", "me", 2.0)
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=3.0))
        assert not store.claim("c1", "heir", 4.0, take_over=True)
        assert not store.claim("c99", "me", 4.0)

    def test_a_final_result_stays(self, store: AnyStore) -> None:
        store.submit(command(1))
        store.report(CommandResult(id="c1", status=CommandStatus.FAILED, at=1.0, message="no"))
        store.report(CommandResult(id="c1", status=CommandStatus.DONE, at=2.0))
        found = store.command("c1")
        assert found is not None
        assert found[1].message == "no"

    def test_recent_ones_come_newest_first(self, store: AnyStore) -> None:
        for i in range(5):
            store.submit(command(i))
        assert [c.id for c, _ in store.recent_commands(limit=2)] == ["c4", "c3"]

    def test_unknown_ones_are_said_so(self, store: AnyStore) -> None:
        assert store.command("nope") is None
        with pytest.raises(NotFound, match="there is no command nope"):
            store.report(CommandResult(id="nope", status=CommandStatus.DONE, at=1.0))


class TestLeases:
    def test_one_holder_at_a_time_and_tokens_only_grow(self, store: AnyStore) -> None:
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

    def test_they_end_by_themselves(self, store: AnyStore) -> None:
        mine = store.acquire("op", "me", 0.05)
        assert mine is not None
        assert store.renew(mine, 0.05)
        wait_until(lambda: store.lease("op") is None, 5, "it has run out")
        assert store.acquire("op", "you", 1.0) is not None
        assert not store.renew(mine, 1.0)

    def test_one_that_ran_out_is_taken_up_again_while_nobody_else_had_it(
        self, store: AnyStore
    ) -> None:
        """A driver that stalled for longer than its lease goes on, with the same token."""
        mine = store.acquire("op", "me", 0.05)
        assert mine is not None
        wait_until(lambda: store.lease("op") is None, 5, "it has run out")
        assert store.renew(mine, 30.0)
        assert store.lease("op") == mine
        assert store.acquire("op", "you", 1.0) is None

    def test_one_that_was_given_back_is_not_taken_up_again(self, store: AnyStore) -> None:
        """A renewal may be on its way while another thread gives the lease back."""
        mine = store.acquire("op", "me", 30.0)
        assert mine is not None
        store.release(mine)
        assert not store.renew(mine, 30.0)
        assert store.lease("op") is None

    def test_many_are_read_at_once(self, store: AnyStore) -> None:
        mine = store.acquire("op", "me", 30.0)
        assert mine is not None
        assert store.leases(["op", "other"]) == {"op": mine}
        assert store.leases([]) == {}


def test_a_rebalance_and_its_placements_are_kept_at_once_and_only_by_the_leader(
    store: AnyStore,
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


def test_a_placement_changes_only_from_what_was_seen(store: AnyStore) -> None:
    home = Placement(operator="x", cluster="a")
    assert store.place_if(home, seen=None)
    assert not store.place_if(Placement(operator="x", cluster="b"), seen=None)
    stopped = Placement(operator="x", cluster="a", wanted="stopped")
    assert store.place_if(stopped, seen=home)
    assert not store.place_if(Placement(operator="x", cluster="c"), seen=home)
    assert store.placements() == {"x": stopped}


def test_a_move_neither_undoes_a_stop_nor_is_undone_by_one(store: AnyStore) -> None:
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


def test_slices_change_only_from_what_was_seen(store: AnyStore) -> None:
    first = Slicing.even("x", 2, groups=8)
    assert not store.slice_if(first.split("x.0"), seen=first)
    assert store.slice_if(first, seen=None)
    assert not store.slice_if(first, seen=None)
    more, other = first.joined(), first.merged("x.1", "x.0")
    assert store.slice_if(more, seen=first)
    assert not store.slice_if(other, seen=first)
    assert store.slice_if(Slicing.even("y", 1), seen=None)
    assert store.slicings() == {"x": more, "y": Slicing.even("y", 1)}


def test_a_re_slice_is_kept_by_the_leader_only(store: AnyStore) -> None:
    leader = store.acquire("engine", "me", 30.0)
    owners = Slicing.even("x", 2, groups=8).owners
    asked = Reslicing(id="s1", at=1.0, operator="x", was=owners, owners={"x.0": tuple(range(8))})
    assert store.save_reslicing(asked, leader)
    older = replace(leader, token=leader.token - 1)
    assert not store.save_reslicing(
        Reslicing(id="s1", at=9.0, operator="x", was={}, owners={}), older
    )
    later = Reslicing(id="s2", at=2.0, operator="y", was={}, owners={}, step=ResliceStep.DONE)
    assert store.save_reslicing(later)
    assert store.reslicings() == [later, asked]
    store.trim(8 * 86400.0)
    assert store.reslicings() == [asked]  # what is open stays, however old


def test_a_re_slice_changes_slices_and_placements_at_once_or_nothing(store: AnyStore) -> None:
    leader = store.acquire("engine", "me", 30.0)
    assert leader is not None
    first = Slicing.even("x", 2, groups=8)
    store.slice_if(first, seen=None)
    for name in first.slices:
        store.place(Placement(operator=name, cluster="a"))
    asked = Reslicing(id="r", at=1.0, operator="x", was=first.owners, owners=first.owners)
    assert store.save_reslicing(asked, leader)
    held = first.holding(["x.0", "x.1"])
    after = held.resliced({"x.0": (0, 1, 2, 3, 4, 5), "x.2": (6, 7)})
    new = Placement(operator="x.2", cluster="b")
    begun = replace(asked, message="begun")
    assert not store.save_reslicing(begun, replace(leader, token=0), held, first)
    assert not store.save_reslicing(begun, leader, after, held, [new], ["x.1"])
    assert (store.slicings(), store.reslicings()) == ({"x": first}, [asked])
    assert store.save_reslicing(begun, leader, held, first)
    assert store.save_reslicing(begun, leader, after, held, [new], ["x.1"])
    assert not store.save_reslicing(asked, leader, first, held)
    assert (store.slicings(), store.reslicings()) == ({"x": after}, [begun])
    home = Placement(operator="x.0", cluster="a")
    assert store.placements() == {"x.0": home, "x.2": new}


def test_parts_placement_modes_and_workloads(store: AnyStore) -> None:
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


def test_deaths_are_kept_until_they_are_replaced(store: AnyStore) -> None:
    deaths = [Death(cluster=n, at=1.0, noticed_at=4.0, lost=("x",)) for n in ("a", "b")]
    store.save_deaths(deaths)
    assert store.deaths() == deaths
    store.save_deaths(deaths[1:])
    assert store.deaths() == deaths[1:]
    store.save_deaths([])
    assert store.deaths() == []


def test_orders_of_hosts_are_changed_by_who_saw_them_and_told_in_the_trail(store: AnyStore) -> None:
    order = HostOrder(cluster="a", wanted=HostState.RUNNING, at=1.0, by="ada")
    said = AuditEntry(at=1.0, by="ada", action="cluster.added", subject="a")
    assert store.change_host_order(None, order, said)
    assert store.host_orders() == {"a": order}
    other = HostOrder(cluster="a", wanted=HostState.ENDED, at=2.0, by="bob")
    assert not store.change_host_order(None, other, said)
    old = store.acquire("engine", "old", 30.0)
    assert old is not None
    store.release(old)
    assert not store.change_host_order(order, other, said, old)
    assert store.change_host_order(order, other, said)
    assert store.change_host_order(other, None, said)
    assert store.host_orders() == {}
    assert [e.action for e in store.audit()] == ["cluster.added"] * 3
