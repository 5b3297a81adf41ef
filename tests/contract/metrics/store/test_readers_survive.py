"""Threads and loops outlive what nobody expected, or say that they are dead."""

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from fastapi import FastAPI

import weir.components.live.hub
import weir.metrics.store.clock
from tests.support.given import given_mode
from tests.support.loops import run
from tests.support.world import wide
from weir.components.live.hub import Hub
from weir.components.pages.registry import PAGES
from weir.components.web.api import health
from weir.components.web.security.links import Invitation, make_link, revoke_links, use_link
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Part, Placement
from weir.controllers.model.sample import Mode
from weir.controllers.model.slicing import Slicing
from weir.metrics.runs.recorder import Recorder
from weir.metrics.store import keys
from weir.metrics.store.anchor import AnchorFile
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.engine.process import Engine
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[RedisStore]:
    found = RedisStore.at(redis_server.url)
    found.client.flushall()
    found.append(wide(time.time()))
    yield found
    found.client.close()


@pytest.fixture
def hub(store: RedisStore, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.setattr(weir.components.live.hub, "STALLED_S", 0.5)
    monkeypatch.setattr(weir.components.live.hub, "FACTS_EVERY_S", 0.05)
    monkeypatch.setattr(weir.components.live.hub, "BLOCK_MS", 50)
    return Hub(redis_server.url, store, 5.0, PAGES)


async def until(hub: Hub, status: int, within_s: float = 120.0) -> dict[str, Any]:
    """The first answer of /health with that status."""
    server = FastAPI()
    health.register(server, hub)
    transport = httpx.ASGITransport(server)
    ends = time.monotonic() + within_s
    async with httpx.AsyncClient(transport=transport, base_url="http://weir") as client:
        while True:
            answer = await client.get("/health")
            if answer.status_code == status:
                found: dict[str, Any] = answer.json()
                return found
            assert time.monotonic() < ends, answer.text
            await asyncio.sleep(0.05)


def test_a_redis_that_hangs_holds_nobody_up(
    hub: Hub, store: RedisStore, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for it waits in a thread of its own, not where pages are answered."""
    monkeypatch.setattr(weir.metrics.store.clock, "ASKED_EVERY_S", 0.0)
    process = redis_server.process
    assert process is not None
    patience_s = store.client.connection_pool.connection_kwargs["socket_timeout"]
    gaps: list[float] = []

    async def look() -> None:
        hub.start()
        await until(hub, 200)
        process.send_signal(signal.SIGSTOP)
        began = at = time.monotonic()
        while at < began + 1.5 * patience_s:
            await asyncio.sleep(0.05)
            gaps.append(time.monotonic() - at)
            at += gaps[-1]
        process.send_signal(signal.SIGCONT)
        await until(hub, 200)
        await hub.stop()

    try:
        run(look())
    finally:
        process.send_signal(signal.SIGCONT)
    assert max(gaps) < patience_s


class TestHealth:
    @pytest.mark.parametrize("reader", [0, 1])
    def test_a_dead_reader_is_not_well(self, hub: Hub, reader: int) -> None:
        async def look() -> None:
            hub.start()
            assert (await until(hub, 200))["reader"] == {"up": True, "down_since": None}
            hub._tasks[reader].cancel()
            said = await until(hub, 503)
            await hub.stop()
            assert said["status"] == "degraded"
            assert said["redis"]["up"]
            assert not said["reader"]["up"]

        run(look())

    def test_one_that_always_fails_is_shown_and_comes_back(
        self, hub: Hub, store: RedisStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def look() -> None:
            hub.start()
            await until(hub, 200)
            with monkeypatch.context() as patch:
                patch.setattr(hub, "_read_all", lambda *_: 1 / 0)
                said = await until(hub, 503)
                assert [s["kind"] for s in said["skipped"]] == ["fault"]
            await until(hub, 200)
            await hub.stop()

        run(look())

    def test_what_was_skipped_is_told_without_names_or_values(
        self, hub: Hub, store: RedisStore
    ) -> None:
        store.client.hset(keys.PARTS, "password=tulip", b'{"secret": "rose"')

        async def look() -> None:
            hub.start()
            said = await until(hub, 200)
            while not said["skipped"]:
                said = await until(hub, 200)
            await hub.stop()
            assert said["status"] == "degraded"
            (skip,) = said["skipped"]
            assert (skip["kind"], skip["count"]) == ("sign of life", 1)
            assert "tulip" not in str(said)
            assert "rose" not in str(said) + str(store.skipped())

        run(look())

    def test_reports_of_others_go_on_beside_a_series_of_another_type(
        self, hub: Hub, store: RedisStore, redis_server: RedisServer
    ) -> None:
        at = time.time()

        async def look() -> None:
            client = redis.asyncio.Redis.from_url(redis_server.url)
            await hub._read_facts()
            store.client.hset(keys.CLUSTERS, "other", b"{}")
            store.client.set(keys.samples("other", 0), "text")
            await hub._read_facts()
            store.append(wide(at))
            for _ in range(3):
                await hub._read_samples(client)
            await client.aclose()

        run(look())
        assert hub.world().series["wide"][-1].at == at


def test_a_cycle_that_fails_is_told_and_the_next_one_comes(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(store)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_control", lambda _now: 1 / 0)
        engine.cycle(time.time())
        assert engine._rolled_at > 0.0  # all else had its turn
        engine.cycle(time.time())
    (part,) = store.parts()
    assert [(s.kind, s.example) for s in part.skipped] == [("fault", "engine, control")]


def test_a_step_of_the_recorder_that_fails_is_told(
    store: RedisStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(store, tmp_path)
    steps = 0

    def step(_now: float) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            recorder.stop()
        raise ZeroDivisionError

    monkeypatch.setattr(recorder, "step", step)
    monkeypatch.setattr("weir.metrics.runs.recorder.POLL_S", 0.01)
    recorder.run()
    assert steps == 3
    assert [s.kind for s in store.skipped()] == ["fault"]


class TestLastKnown:
    """What people decided holds when its value is broken, and never becomes more than that."""

    def test_placements_and_settings(self, store: RedisStore) -> None:
        here = Placement(operator="extractor", cluster="wide")
        store.place(here)
        store.save_settings(ENGINE, {"paused": True})
        assert store.placements() == {"extractor": here}
        assert store.settings(ENGINE) == {"paused": True}
        store.client.hset(keys.PLACEMENT, "extractor", b"{")
        store.client.hset(keys.SETTINGS, ENGINE, b"[]")
        assert store.placements() == {"extractor": here}
        assert store.settings(ENGINE) == store.all_settings()[ENGINE] == {"paused": True}
        there = Placement(operator="extractor", cluster="narrow")
        assert store.place_if(there, seen=here)
        assert store.placements() == {"extractor": there}

    @pytest.mark.parametrize("bad", [b"{", b"[]", b'{"operator": "x", "owners": {"x.0": [1]}}'])
    def test_slices(self, store: RedisStore, bad: bytes) -> None:
        first = Slicing.even("x", 2)
        assert store.slice_if(first, seen=None)
        assert store.slicings() == {"x": first}
        store.client.hset(keys.SLICINGS, "x", bad)
        assert store.slicings() == {"x": first}
        assert [s.kind for s in store.skipped()] == ["slicing"]
        assert store.slice_if(first.joined(), seen=first)
        assert store.slicings() == {"x": first.joined()}

    def test_an_unreadable_mode_lets_the_engine_do_nothing(self, store: RedisStore) -> None:
        given_mode(store, "wide", Mode.AUTO)
        store.client.hset(keys.MODES, "wide", b"\xff")
        assert store.modes() == {"wide": Mode.OBSERVE}


class TestTrail:
    def fill(self, store: RedisStore) -> None:
        for i in range(5):
            store.append_audit(AuditEntry(at=1.0 + i, by="ada", action="tested"))

    @pytest.mark.parametrize("bad", [b"", b"{", b"\xff", b"[]", b'{"at": 1}'])
    def test_garbage_is_where_the_chain_is_broken(
        self, store: RedisStore, tmp_path: Path, bad: bytes
    ) -> None:
        self.fill(store)
        store.client.xadd(keys.AUDIT, {"e": bad}, id="6-0")
        store.append_audit(AuditEntry(at=9.0, by="ada", action="tested"))
        chain = AnchorFile(tmp_path / "anchor.json").check(store.audit)
        assert (chain.broken, chain.checked) == (6, 7)
        assert [e.number for e in store.audit(3)] == [7, 6, 5]

    def test_an_entry_with_another_number_does_not_lead_in_circles(
        self, store: RedisStore, tmp_path: Path
    ) -> None:
        self.fill(store)
        newest: Any = store.client.xrevrange(keys.AUDIT, count=1)
        ((_, fields),) = newest
        store.client.xadd(keys.AUDIT, {"e": fields[b"e"]}, id="6-0")
        assert AnchorFile(tmp_path / "anchor.json").check(store.audit).broken == 6

    def test_a_trail_of_another_type_is_a_broken_one(
        self, store: RedisStore, tmp_path: Path
    ) -> None:
        self.fill(store)
        anchor = AnchorFile(tmp_path / "anchor.json")
        assert anchor.check(store.audit).whole
        store.client.set(keys.AUDIT, "text")
        assert not anchor.check(store.audit).whole


@pytest.mark.parametrize("bad", [b"", b"{", b"\xff", b"[" * 50_000, b'{"user": 1}'])
def test_a_link_that_cannot_be_read_signs_nobody_in(store: RedisStore, bad: bytes) -> None:
    path = make_link(store.client, b"key", Invitation(user="ada"), 60.0)
    (key,) = store.client.keys("weir:link:*")
    store.client.set(key, bad)
    assert use_link(store.client, b"key", path.partition("=")[2], 1.0) is None
    store.client.sadd(keys.links("ada"), b"\xff")
    revoke_links(store.client, "ada")
    assert not store.client.exists(keys.links("ada"))


def test_a_part_of_another_type_of_key_keeps_nobody_from_work(store: RedisStore) -> None:
    store.client.delete(keys.PARTS)
    store.client.set(keys.PARTS, "text")
    engine = Engine(store)
    engine.cycle(time.time())
    assert engine._rolled_at > 0.0
    store.client.delete(keys.PARTS)
    store.beat(Part(id="a", kind="web", name="a", at=time.time()))
    assert {s.kind for p in store.parts() for s in p.skipped} >= {"fault"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda client, lease: client.set(lease, "x"),
        lambda client, lease: client.hset(lease, mapping={"holder": "nobody", "token": "9"}),
        lambda client, lease: client.hset(keys.TOKENS, "engine", "x"),
        lambda client, lease: client.hset(keys.TOKENS, "engine", str(2**63 - 1)),
        lambda client, lease: client.set(keys.TOKENS, "x"),
    ],
)
def test_a_lease_that_cannot_be_one_keeps_nobody_waiting(store: RedisStore, spoil: Any) -> None:
    """Without a time to live it would be held for ever; without tokens nobody could lead."""
    before = store.acquire("engine", "one", 60.0)
    assert before is not None
    assert store.release(before) is None
    spoil(store.client, keys.lease("engine"))
    taken = store.acquire("engine", "two", 60.0)
    assert taken is not None
    assert taken.token > before.token
    assert store.renew(taken, 60.0)
    store.client.delete(keys.lease("engine"))  # it ran out
    spoil(store.client, keys.lease("engine"))
    if store.renew(taken, 60.0):
        assert store.lease("engine") == taken
    again = store.acquire("engine", "two", 60.0)
    assert again is not None
    assert store.renew(again, 60.0)


@pytest.mark.parametrize("name", ["../../tmp/x", "--help", "a b", ""])
def test_an_order_with_a_name_that_no_host_has_starts_nothing(store: RedisStore, name: str) -> None:
    """It would become a word of the launcher's command, and part of a file's name."""
    order = {"cluster": name, "wanted": "running", "at": 1.0, "by": "eve"}
    store.client.hset(keys.HOSTS, name, json.dumps(order))
    assert store.host_orders() == {}
    assert name == "" or store.skipped()
