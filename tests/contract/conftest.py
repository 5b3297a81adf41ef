"""Every store, by turns."""

from collections.abc import Iterator

import pytest

from weir.controllers.engine.ports import Store
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
