"""One contract for every store: recommendations, audit trail, memories and settings."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from redis.exceptions import RedisError

from tests.support.given import AnyStore, given_mode
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.audit import AuditEntry, first_break, seal_entry
from weir.controllers.engine.ports import Part, Workload
from weir.controllers.engine.propose.scaling import ScaleOutlook, ScalerAnswer
from weir.controllers.engine.recommendation import Recommendation, Status, move_to
from weir.controllers.model.command import Command, StopOperator
from weir.controllers.model.decision import Move, NoChange, Reason, Scale
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.sample import Cluster, ClusterSample, Mode
from weir.metrics.store import keys
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

DAY = 86400.0


def recommendation(number: int, at: float = 1000.0) -> Recommendation:
    decision = Scale(cluster="a", executors=3, before=1, reason=Reason(text="busy"))
    return Recommendation(
        id=f"r{number}",
        at=at,
        expires_at=at + 300,
        decision=decision,
        source="drs",
        clusters=("a",),
    )


def entry(action: str = "tested", at: float = 1.0) -> AuditEntry:
    return AuditEntry(at=at, by="ada", action=action, before={"load": {"a": 0.5}})


class TestRecommendations:
    def test_of_two_writers_one_wins(self, store: AnyStore) -> None:
        first = recommendation(1)
        assert store.save_recommendation(first)
        assert not store.save_recommendation(first)
        approved = move_to(first, Status.APPROVED, at=1.0, by="ada")
        rejected = move_to(first, Status.REJECTED, at=1.0, by="bob")
        assert store.save_recommendation(approved)
        assert not store.save_recommendation(rejected)
        assert store.recommendation("r1") == approved
        assert store.recommendation("r2") is None
        assert not store.save_recommendation(replace(recommendation(2), version=1))

    def test_an_old_leader_changes_nothing(self, store: AnyStore) -> None:
        old = store.acquire("engine", "old", 30.0)
        assert old is not None
        store.release(old)
        new = store.acquire("engine", "new", 30.0)
        assert not store.save_recommendation(recommendation(1), old, entry())
        assert (store.recommendations(), store.audit()) == ([], [])
        assert store.save_recommendation(recommendation(1), new, entry())

    def test_what_is_done_and_what_is_said_come_together(self, store: AnyStore) -> None:
        assert store.save_recommendation(recommendation(1), audit=entry("proposed"))
        assert not store.save_recommendation(recommendation(1), audit=entry("again"))
        assert [e.action for e in store.audit()] == ["proposed"]

    def test_the_newest_come_first_and_open_ones_always(self, store: AnyStore) -> None:
        for i in range(5):
            one = recommendation(i, at=1000.0 + i)
            store.save_recommendation(one)
            if i != 1:
                store.save_recommendation(move_to(one, Status.REJECTED, at=1.0, by="ada"))
        assert [r.id for r in store.recommendations()] == ["r4", "r3", "r2", "r1", "r0"]
        assert [r.id for r in store.recommendations(limit=2)] == ["r4", "r3", "r1"]

    def test_what_came_to_nothing_does_not_crowd_out_what_was_done(self, store: AnyStore) -> None:
        """r0 is done, r1 open, the others are taken back by the engine."""
        for i in range(6):
            one = recommendation(i, at=1000.0 + i)
            store.save_recommendation(one)
            if i == 0:
                for status in (Status.APPROVED, Status.APPLYING, Status.APPLIED):
                    one = move_to(one, status, at=1.0, by="ada")
                    store.save_recommendation(one)
                done = move_to(one, Status.EFFECTIVE, at=2.0, by="engine")
                assert store.save_recommendation(done)
            elif i > 1:
                store.save_recommendation(move_to(one, Status.CANCELLED, at=1.0, by="engine"))
        assert [r.id for r in store.recommendations(limit=2)] == ["r5", "r4", "r1"]
        assert [r.id for r in store.record(limit=2)] == ["r1", "r0"]
        assert store.record(limit=2) == store.record(limit=2)
        assert store.record(limit=1)[-1] == done

    def test_old_ones_go_unless_they_are_open(self, store: AnyStore) -> None:
        for i in range(3):
            store.save_recommendation(recommendation(i, at=i * DAY))
        ended = move_to(recommendation(1, at=DAY), Status.REJECTED, at=1.0, by="ada")
        store.save_recommendation(ended)
        store.trim(31.5 * DAY)
        assert [r.id for r in store.recommendations()] == ["r2", "r0"]
        assert [r.id for r in store.record()] == ["r2", "r0"]
        assert store.save_recommendation(recommendation(1))  # as if it had never been

    def test_old_rebalances_go_too(self, store: AnyStore) -> None:
        move = Move(operator="x", source="a", target="b")
        for i in range(205):
            done = MoveState(move=move, step=MoveStep.FAILED)
            store.save_rebalance(Rebalance(id=f"b{i}", at=1.0 + i, moves=(done,)))
        store.save_rebalance(Rebalance(id="open", at=0.0, moves=(MoveState(move=move),)))
        store.trim(300.0)
        left = [r.id for r in store.rebalances()]
        assert (len(left), left[-1], left[-2]) == (201, "open", "b5")
        store.trim(8 * DAY)
        assert [r.id for r in store.rebalances()] == ["open"]


class TestAudit:
    def test_entries_are_numbered_sealed_and_found(self, store: AnyStore) -> None:
        for i in range(5):
            kept = store.append_audit(entry(f"a{i}"))
            assert kept.number == i + 1
        assert [e.action for e in store.audit(limit=2)] == ["a4", "a3"]
        assert [e.action for e in store.audit(limit=2, before_number=4)] == ["a2", "a1"]
        assert [e.action for e in store.audit_since(4)] == ["a3", "a4"]
        assert first_break(store.audit_since(0)) is None

    def test_many_writers_at_once_make_one_chain(self, redis_server: RedisServer) -> None:
        RedisStore.at(redis_server.url).client.flushall()

        def write(name: str) -> None:
            own = RedisStore.at(redis_server.url)
            for i in range(20):
                own.append_audit(entry())
                own.save_recommendation(replace(recommendation(i), id=f"{name}-{i}"), audit=entry())

        writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        store = RedisStore.at(redis_server.url)
        found = store.audit_since(0)
        assert [e.number for e in found] == list(range(1, 161))
        assert first_break(found) is None
        assert len(store.recommendations(limit=1000)) == 80

    def test_taking_entries_out_is_seen(self, redis_server: RedisServer) -> None:
        store = RedisStore.at(redis_server.url)
        store.client.flushall()
        for _ in range(4):
            store.append_audit(entry())
        store.client.xdel(keys.AUDIT, "2-0")
        assert first_break(store.audit_since(0)) == 3
        store.client.xdel(keys.AUDIT, "4-0")  # also the last one, once somebody writes again
        assert store.append_audit(entry()).number == 5
        assert first_break(store.audit_since(3)) == 5


class TestMemories:
    def test_are_kept_by_cluster_and_only_by_the_leader(self, store: AnyStore) -> None:
        lease = store.acquire("engine", "me", 30.0)
        assert lease is not None
        assert store.save_memories("a", {"drs": b'{"x":1}', "dodo": b"{}"}, lease)
        assert store.save_memories("a", {"drs": b'{"x":2}'}, lease)
        assert not store.save_memories("a", {"drs": b"old"}, replace(lease, token=0))
        assert store.memories("a") == {"drs": b'{"x":2}', "dodo": b"{}"}
        assert store.memories("b") == {}
        assert store.all_memories(["a", "b"]) == {"a": store.memories("a"), "b": {}}
        store.change_memory("a", "drs", None, entry("memory.reset"))
        assert store.memories("a") == {"dodo": b"{}"}
        assert store.save_memories("b", {"drs": b"{}"})

    def test_what_a_person_put_in_place_is_not_overwritten(self, redis_server: RedisServer) -> None:
        """The engine read before that and writes after it; another scaler's memory is kept."""
        engine, page = RedisStore.at(redis_server.url), RedisStore.at(redis_server.url)
        engine.client.flushall()
        lease = engine.acquire("engine", "me", 30.0)
        assert lease is not None
        before = {"qlearning": b"learned", "drs": b"one", "dodo": b"one"}
        assert engine.save_memories("a", before, lease)
        assert engine.memories("a") == before
        page.save_memories("a", {"qlearning": b"imported"})
        page.change_memory("a", "dodo", None, entry("memory.reset"))
        after = {"qlearning": b"learned more", "drs": b"two", "dodo": b"two", "new": b"one"}
        assert engine.save_memories("a", after, lease)
        kept = {"qlearning": b"imported", "drs": b"two", "new": b"one"}
        assert engine.memories("a") == kept
        page.save_memories("a", {"fresh": b"imported"})
        assert engine.save_memories("a", {**after, "fresh": b"one"}, lease)
        assert engine.memories("a") == {**after, "fresh": b"imported"}

    def test_outlooks_are_kept_until_the_cluster_is_forgotten(self, store: AnyStore) -> None:
        answer = ScalerAnswer(
            scaler="drs", title="DRS", decision=NoChange(reason=Reason(text="ok"))
        )
        view = ScaleOutlook(at=1.0, cluster="a", scaler="drs", answers=(answer,), wait="too early")
        store.save_scale_outlook(view)
        assert store.scale_outlooks() == {"a": view}
        assert store.scale_waits() == {"a": "too early"}
        store.append(ClusterSample(at=1.0, period_s=2.0, cluster=Cluster(name="a")))
        store.save_memories("a", {"drs": b"{}"})
        store.forget("a", entry("cluster.forgotten"))
        assert (store.scale_outlooks(), store.memories("a")) == ({}, {})


def test_settings_keep_who_and_when(store: AnyStore) -> None:
    assert store.settings_changed("engine") is None
    store.save_settings("engine", {"paused": True}, by="ada", at=5.0)
    assert store.settings_changed("engine") == ("ada", 5.0)
    assert store.all_settings() == {"engine": {"paused": True}}
    given_mode(store, "a", Mode.OBSERVE)
    assert store.modes() == {"a": Mode.OBSERVE}


class TestChangingModes:
    def test_only_from_the_mode_that_was_seen_and_with_what_is_said(self, store: AnyStore) -> None:
        lease = store.acquire("engine", "me", 30.0)
        assert lease is not None
        assert not store.change_mode("a", Mode.AUTO, Mode.APPROVE, entry(), lease)  # never set
        given_mode(store, "a", Mode.AUTO)
        assert store.change_mode("a", Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA, entry("less"), lease)
        assert store.modes() == {"a": Mode.AUTO_WITHIN_CRITERIA}
        given_mode(store, "a", Mode.OBSERVE)  # a person was quicker
        assert not store.change_mode("a", Mode.AUTO_WITHIN_CRITERIA, Mode.APPROVE, entry(), lease)
        assert store.modes() == {"a": Mode.OBSERVE}
        assert [e.action for e in store.audit()] == ["less"]
        assert first_break(store.audit_since(0)) is None

    def test_not_by_an_old_leader(self, store: AnyStore) -> None:
        old = store.acquire("engine", "old", 30.0)
        assert old is not None
        store.release(old)
        store.acquire("engine", "new", 30.0)
        given_mode(store, "a", Mode.AUTO)
        assert not store.change_mode("a", Mode.AUTO, Mode.APPROVE, entry(), old)
        assert (store.modes(), store.audit()) == ({"a": Mode.AUTO}, [])


def said(before: Mapping[str, Any], after: Mapping[str, Any]) -> AuditEntry:
    return entry("settings.changed")


class TestChangingSettings:
    def test_what_others_change_meanwhile_is_kept(self, store: AnyStore) -> None:
        store.save_settings("engine", {"ttl_s": 60}, by="ada", at=1.0)
        looks: list[dict[str, object]] = []

        def change(kept: dict[str, object]) -> dict[str, object]:
            looks.append(kept)
            if len(looks) == 1:
                store.save_settings("engine", {**kept, "paused": True}, by="eve", at=2.0)
            return {**kept, "ttl_s": 90}

        before, after = store.change_settings("engine", change, said, by="bob", at=3.0)
        assert before == {"ttl_s": 60, "paused": True}
        assert after == store.settings("engine") == {"ttl_s": 90, "paused": True}
        assert store.settings_changed("engine") == ("bob", 3.0)

    def test_without_a_change_nobody_has_changed_it(self, store: AnyStore) -> None:
        store.save_settings("engine", {"ttl_s": 60}, by="ada", at=1.0)
        store.change_settings("engine", lambda kept: kept, said, by="bob", at=2.0)
        assert store.settings_changed("engine") == ("ada", 1.0)
        assert store.audit() == []
        done = store.change_settings("other", lambda kept: {"x": 1}, said, by="bob", at=2.0)
        assert done == ({}, {"x": 1})
        assert [e.action for e in store.audit()] == ["settings.changed"]

    def test_further_groups_come_with_it(self, store: AnyStore) -> None:
        store.change_settings(
            "engine", lambda kept: {"paused": True}, said, by="ada", at=2.0,
            also={"pause": {"why": "a drill"}},
        )  # fmt: skip
        assert store.settings("pause") == {"why": "a drill"}
        assert store.settings_changed("pause") == ("ada", 2.0)


class TestWithItsEntry:
    """What people change is written with its audit entry, or neither is."""

    def test_a_command(self, store: AnyStore) -> None:
        order = Command(
            id="1", cluster="a", action=StopOperator(operator="x"), issued_at=1.0, expires_at=9.0
        )
        store.submit(order, entry("operator.stop"))
        store.submit(order, entry("operator.stop"))
        assert [e.action for e in store.audit()] == ["operator.stop"]
        assert store.open_commands("a") == [order]

    def test_a_rate_only_from_the_one_that_was_seen(self, store: AnyStore) -> None:
        first = Workload(name="tweets", rows_per_s=100.0)
        store.set_workload(first)
        after = replace(first, rows_per_s=200.0)
        assert not store.change_workload(after, first, entry())
        assert store.change_workload(first, after, entry("workload.changed"))
        assert list(store.workloads()) == [after]
        assert [e.action for e in store.audit()] == ["workload.changed"]

    def test_a_memory(self, store: AnyStore) -> None:
        store.change_memory("a", "drs", b"{}", entry("memory.imported"))
        assert store.memories("a") == {"drs": b"{}"}
        store.change_memory("a", "drs", None, entry("memory.reset"))
        assert store.memories("a") == {}
        assert [e.action for e in store.audit()] == ["memory.reset", "memory.imported"]

    def test_a_cluster_that_is_forgotten(self, store: AnyStore) -> None:
        store.beat(Part(id="host:a", kind="host", name="a", at=1.0))
        store.beat(Part(id="host:b", kind="host", name="b", at=1.0))
        store.change_mode("a", None, Mode.AUTO, entry())
        for group in ("guards:a", "scale:a:drs", "guards:b", "engine"):
            store.save_settings(group, {"x": 1})
        store.forget("a", entry("cluster.forgotten"))
        assert [p.id for p in store.parts()] == ["host:b"]
        assert (store.modes(), sorted(store.all_settings())) == ({}, ["engine", "guards:b"])
        assert store.audit(1)[0].action == "cluster.forgotten"


def test_a_redis_without_memory_is_said_and_nothing_is_done(redis_server: RedisServer) -> None:
    store = RedisStore.at(redis_server.url)
    store.client.flushall()
    lease = store.acquire("engine", "me", 30.0)
    assert lease is not None
    given_mode(store, "a", Mode.AUTO)
    store.client.config_set("maxmemory", 1)
    try:
        with pytest.raises(RedisError, match="maxmemory"):
            store.save_recommendation(recommendation(1), audit=entry())
        with pytest.raises(RedisError, match="maxmemory"):
            store.change_mode("a", Mode.AUTO, Mode.APPROVE, entry(), lease)
    finally:
        store.client.config_set("maxmemory", 0)
    assert (store.recommendations(), store.audit()) == ([], [])
    assert store.modes() == {"a": Mode.AUTO}


def test_a_trail_that_cannot_be_sealed_is_given_up(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RedisStore.at(redis_server.url)
    store.client.flushall()
    store.append_audit(entry())
    first = seal_entry(entry(), 1, "")  # always behind somebody else's
    monkeypatch.setattr(store, "_next_entry", lambda audit: first)
    with pytest.raises(Unavailable, match="too many write to the audit trail"):
        store.save_recommendation(recommendation(1), audit=entry())
    with pytest.raises(Unavailable, match="too many write to the audit trail"):
        store.append_audit(entry())
