"""Every store, by turns, and the web side in this process."""

import logging
import time
from collections.abc import Iterator

import pytest

from tests.support.feeder import Feeder
from tests.support.inside import Inside
from weir.controllers.engine.ports import Store
from weir.controllers.model.placement import LEADER
from weir.metrics.store.memory_store import MemoryStore
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    server: RedisServer = request.getfixturevalue("redis_server")
    found = RedisStore.at(server.url)
    found.client.flushall()
    yield found
    found.client.close()


@pytest.fixture(scope="module")
def inside(own_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """The web side in this process, with clusters that have reported."""
    feeder = Feeder(own_redis.url, obeys=True)
    feeder.history(0.5)
    feeder._hosts.step(time.time())
    found = Inside(own_redis.url, tmp_path_factory.mktemp("users"))
    found.store.acquire(LEADER, "engine/test", 3600.0)  # somebody would carry it out
    yield found
    found.stop()


@pytest.fixture
def unchanged(inside: Inside) -> Iterator[None]:
    """Whatever the test asks for, nothing may have come of it."""
    before, users = inside.everything(), inside.users.content()
    yield
    after = inside.everything()
    leases = {k for k in {*before, *after} if b"lease" in k}  # they run out by themselves
    assert {k: v for k, v in after.items() if k not in leases} == {
        k: v for k, v in before.items() if k not in leases
    }
    assert inside.users.content() == users


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that is logged, at any level."""
    caplog.set_level(logging.DEBUG)
    return caplog
