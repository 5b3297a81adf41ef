"""A web worker's own sign of life, and the clean-up after workers that were killed."""

import asyncio
import contextlib
import os
import socket
import time

import redis

from weir.controllers.engine.ports import Part
from weir.metrics.store.redis_store import RedisStore

EVERY_S = 1.5
FORGET_AFTER_S = 30.0
"""A killed worker cannot say good-bye; another one strikes it off after this."""


async def beat(store: RedisStore) -> None:
    """Report this worker until cancelled, then take it off the list."""
    part_id = f"web:{socket.gethostname()}:{os.getpid()}"
    try:
        while True:
            with contextlib.suppress(redis.exceptions.RedisError, OSError):
                await asyncio.to_thread(_beat_once, store, part_id, time.time())
            await asyncio.sleep(EVERY_S)
    finally:
        with contextlib.suppress(redis.exceptions.RedisError, OSError):
            store.remove_part(part_id)


def _beat_once(store: RedisStore, part_id: str, now: float) -> None:
    store.beat(Part(id=part_id, kind="web", name=part_id[4:], at=now, pid=os.getpid()))
    for part in store.parts():
        if part.kind == "web" and now - part.at > FORGET_AFTER_S:
            store.remove_part(part.id)
