"""Every store, by turns."""

from collections.abc import Iterator

import pytest

from controllers.engine.ports import Store
from metrics.memory_store import MemoryStore
from metrics.redis_store import RedisStore
from pipeline.redis_server import RedisServer


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
