"""A report dated ahead of the store's clock erases nothing, steers nothing and blocks nobody."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import redis.asyncio
from msgspec.structs import replace

from tests.support.loops import run
from tests.support.world import wide
from weir.components.live.hub import Hub
from weir.components.pages.registry import PAGES
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.age import AHEAD_S
from weir.controllers.model.brief import brief_of
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store import keys
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.engine.process import Engine
from weir.pipeline.local.redis_server import RedisServer

HOUR = 3600.0


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[RedisStore]:
    found = RedisStore.at(redis_server.url)
    found.client.flushall()
    yield found
    found.client.close()


def fill(store: RedisStore) -> list[float]:
    now = time.time()
    times = [now - 20 + 2 * i for i in range(10)]
    for at in times:
        assert store.append(wide(at))
    return times


def by_another_door(store: RedisStore, at: float, **changes: Any) -> None:
    """What a writer that does not ask leaves behind."""
    sample = wide(at)
    operator = replace(sample.operators[0], **changes)
    data = msgspec.json.encode(replace(sample, operators=(operator,)))
    store.client.xadd(keys.samples("wide", Tier.FULL), {"s": data}, id=f"{int(at * 1000)}-0")
    store.client.hset(keys.CLUSTERS, "wide", data)


def times(store: RedisStore) -> list[float]:
    return [s.at for s in store.samples("wide", 0.0, float("inf"))]


@pytest.mark.parametrize("ahead_s", [AHEAD_S + 5, HOUR, 400 * 86400.0])
def test_it_is_refused_at_the_door_and_shown(store: RedisStore, ahead_s: float) -> None:
    known = fill(store)
    assert not store.append(wide(time.time() + ahead_s))
    assert times(store) == known
    assert [s.at for s in store.latest()] == known[-1:]
    assert store.append(wide(time.time()))
    (skip,) = store.skipped()
    assert (skip.kind, skip.count) == ("report", 1)
    assert "ahead" in skip.why


def test_clocks_may_be_a_little_apart(store: RedisStore) -> None:
    fill(store)
    assert store.append(wide(time.time() + AHEAD_S / 2))
    assert store.skipped() == ()


def test_one_by_another_door_is_not_read_and_goes_with_the_next_report(store: RedisStore) -> None:
    known = fill(store)
    by_another_door(store, time.time() + HOUR)
    assert times(store) == known
    assert store.latest() == []
    assert any("ahead" in s.why for s in store.skipped())
    at = time.time()
    assert store.append(wide(at))
    assert times(store) == [*known, at]
    assert [s.at for s in store.latest()] == [at]
    assert store.client.xlen(keys.samples("wide", Tier.FULL)) == len(known) + 1


def test_a_bare_id_ahead_does_not_block_either(store: RedisStore) -> None:
    known = fill(store)
    key = keys.samples("wide", Tier.FULL)
    entry = store.client.xadd(key, {"s": b"{}"}, id="18446744073709551614-0")
    store.client.xdel(key, entry)  # the stream still knows its last id
    at = time.time()
    assert store.append(wide(at))
    assert not store.append(wide(at))
    assert times(store) == [*known, at]


def test_the_engine_does_not_look_at_them(store: RedisStore) -> None:
    fill(store)
    for i in range(20):
        by_another_door(store, time.time() + HOUR + 2 * i, load=60.0, arrival_rows_per_s=1e6)
    store.append(wide(time.time()))
    engine = Engine(store)
    engine.cycle(time.time())
    now = time.time()
    assert Snapshot.of(store.latest(), now).load("wide") == pytest.approx(0.5)
    seen = engine._window.refresh(store, store.latest(), now - 60)["wide"]
    assert max(s.at for s in seen) <= now


def test_the_pages_go_on_behind_one(store: RedisStore, redis_server: RedisServer) -> None:
    known = fill(store)
    hub = Hub(redis_server.url, store, 5.0, PAGES)
    at = time.time() + 1.0

    async def look() -> None:
        client = redis.asyncio.Redis.from_url(redis_server.url)
        await hub._read_facts()
        by_another_door(store, time.time() + HOUR)
        await hub._read_samples(client)
        store.append(wide(at))
        await hub._read_samples(client)
        await client.aclose()

    run(look())
    assert [s.at for s in hub.world().series["wide"]] == [*known, at]


@pytest.mark.parametrize("left", [b"{", b"null", b"\xff\n", None])
def test_figures_over_long_times_survive_what_cannot_be_read(
    store: RedisStore, left: bytes | None
) -> None:
    now = time.time()
    samples = [wide(now - 60 * i) for i in (3, 2, 1)]
    for sample in samples:
        assert store.append(sample, Tier.MINUTE)
    expected = [brief_of(s) for s in samples]
    key = keys.briefs("wide", Tier.MINUTE)
    if left is None:  # samples that an earlier version kept
        store.client.set(key, store.client.get(key).split(b"\n", 1)[1])
    else:
        store.client.append(key, left)
    assert store.briefs("wide", 0.0, float("inf"), Tier.MINUTE) == expected
    assert bool(store.skipped()) == (left is not None)


def test_figures_over_long_times_stay_as_long_as_their_tier(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.metrics.store.redis_samples.BRIEF_BYTES", 1)
    now = time.time()
    for i in range(100, 0, -1):
        assert store.append(wide(now - 60 * i), Tier.MINUTE)
    found = store.client.get(keys.briefs("wide", Tier.MINUTE))
    assert isinstance(found, bytes)
    assert len(found) <= 2 * KEPT_S[Tier.MINUTE] // 60
    assert len(store.briefs("wide", 0.0, float("inf"), Tier.MINUTE)) == 100
