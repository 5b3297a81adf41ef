"""What stands in a store before a test begins, put there without an audit entry."""

from typing import Any

from weir.controllers.model.sample import Mode
from weir.metrics.store import keys
from weir.metrics.store.memory_store import MemoryStore
from weir.metrics.store.redis_store import RedisStore

AnyStore = RedisStore | MemoryStore


def given_mode(store: Any, cluster: str, mode: Mode) -> None:
    """A cluster whose mode somebody has set."""
    if hasattr(store, "client"):
        store.client.hset(keys.MODES, cluster, mode.value)
    else:
        store._modes[cluster] = mode
