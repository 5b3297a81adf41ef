"""What a web worker does unasked: signs of life, the clean-up after killed ones, and an anchor of
the audit trail every minute."""

import asyncio
import contextlib
import hashlib
import logging
import os
import socket
import time

import redis

from weir.components.web.security.workers import Workers
from weir.controllers.engine.ports import Part
from weir.controllers.model.age import age_s
from weir.controllers.model.errors import WeirError
from weir.metrics.store import keys
from weir.metrics.store.anchor import AnchorFile
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.users import UsersFile

log = logging.getLogger(__name__)

EVERY_S = 1.5
ANCHOR_EVERY_S = 60.0
FORGET_AFTER_S = 30.0
"""A killed worker cannot say good-bye; another one strikes it off after this."""


async def beat(store: RedisStore, users: UsersFile) -> None:
    """Report this worker until cancelled, then take it off the list."""
    part_id = f"web:{socket.gethostname()}:{os.getpid()}"
    workers = Workers("presence", 1)
    try:
        while True:
            try:
                await workers(_beat_once, store, part_id, time.time(), users_digest(users))
            except (redis.exceptions.RedisError, OSError) as error:
                log.debug("no sign of life: %s", error)
            except Exception as error:
                store.note_fault("the sign of life", error)
            await asyncio.sleep(EVERY_S)
    finally:
        workers.close()
        with contextlib.suppress(redis.exceptions.RedisError, OSError):
            store.remove_part(part_id)


async def keep_anchor(store: RedisStore, anchor: AnchorFile) -> None:
    """Check the trail regularly, and remember where it was: a trail that is rebuilt between two
    checks shows the sooner the closer they are. Once it is broken that stays on every page."""
    workers, since_anchor = Workers("anchor", 1), False
    try:
        while True:
            try:
                await workers(_anchor_once, store, anchor, since_anchor)
                since_anchor = True
            except (redis.exceptions.RedisError, OSError, WeirError) as error:
                log.warning("the audit trail was not checked: %s", error)
            except Exception as error:
                store.note_fault("the check of the audit trail", error)
            await asyncio.sleep(ANCHOR_EVERY_S)
    finally:
        workers.close()


def _anchor_once(store: RedisStore, anchor: AnchorFile, since_anchor: bool) -> None:
    try:
        key = store.keyring.audit_key()
    except WeirError as error:
        store.entries.skip("audit trail", keys.AUDIT, str(error))
        raise
    chain = anchor.check(store.audit, key=key, since_anchor=since_anchor)
    if not chain.whole:
        why = chain.lost or f"the chain is broken at entry {chain.broken}"
        store.entries.skip("audit trail", keys.AUDIT, why)


def users_digest(users: UsersFile) -> str:
    """Which users a web server has, without naming one: those of the same file are the same."""
    return f"users {hashlib.sha256(b'users' + users.key()).hexdigest()[:8]}"


def others(store: RedisStore, users: UsersFile, now: float) -> list[str]:
    """Web servers of this Redis that are up and have other users."""
    return [
        part.name
        for part in store.parts()
        if part.kind == "web" and part.detail.startswith("users ")
        and part.detail != users_digest(users) and age_s(part.at, now) < FORGET_AFTER_S
    ]  # fmt: skip


def _beat_once(store: RedisStore, part_id: str, now: float, detail: str = "") -> None:
    store.beat(
        Part(id=part_id, kind="web", name=part_id[4:], at=now, pid=os.getpid(), detail=detail)
    )
    for part in store.parts():
        if part.kind == "web" and age_s(part.at, now) > FORGET_AFTER_S:
            store.remove_part(part.id)
