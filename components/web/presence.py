"""A web worker's own sign of life, and the clean-up after workers that were killed."""

import asyncio
import contextlib
import logging
import os
import socket
import time

import redis

from weir.controllers.engine.ports import Part
from weir.controllers.model.age import age_s
from weir.metrics.store.redis_store import RedisStore

log = logging.getLogger(__name__)

EVERY_S = 1.5
FORGET_AFTER_S = 30.0
"""A killed worker cannot say good-bye; another one strikes it off after this."""


async def beat(store: RedisStore) -> None:
    """Report this worker until cancelled, then take it off the list."""
    part_id = f"web:{socket.gethostname()}:{os.getpid()}"
    try:
        while True:
            try:
                await asyncio.to_thread(_beat_once, store, part_id, time.time())
            except (redis.exceptions.RedisError, OSError) as error:
                log.debug("no sign of life: %s", error)
            except Exception as error:
                store.note_fault("the sign of life", error)
            await asyncio.sleep(EVERY_S)
    finally:
        with contextlib.suppress(redis.exceptions.RedisError, OSError):
            store.remove_part(part_id)


def _beat_once(store: RedisStore, part_id: str, now: float) -> None:
    store.beat(Part(id=part_id, kind="web", name=part_id[4:], at=now, pid=os.getpid()))
    for part in store.parts():
        if part.kind == "web" and age_s(part.at, now) > FORGET_AFTER_S:
            store.remove_part(part.id)
