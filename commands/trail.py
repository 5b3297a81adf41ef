"""Who sits at the terminal, and what they change about users and tokens in the audit trail."""

import getpass
import logging
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from weir.controllers.service import Request


def me() -> str:
    """Who sits at the terminal."""
    return f"command line: {getpass.getuser()}"


def request(comment: str = "") -> Request:
    """A request of whoever sits at the terminal."""
    return Request(by=me(), at=time.time(), comment=comment, id=uuid.uuid4().hex)


@contextmanager
def auditing(redis_url: str) -> Iterator[None]:
    """What is recorded within goes into the audit trail. The users' file needs no Redis, so
    where there is none the change still holds, and the terminal says what is missing."""
    from redis.exceptions import RedisError

    from weir.components.web.security.events import LOG, SecurityEvent, keep, set_sink
    from weir.metrics.store.redis_store import RedisStore

    def sink(event: SecurityEvent) -> None:
        try:
            keep(RedisStore.at(redis_url), event)
        except (RedisError, OSError):
            text = "Redis cannot be reached, so the audit trail has no entry of this."
            print(text, file=sys.stderr)

    log = logging.getLogger(LOG)
    set_sink(sink)
    log.setLevel(logging.WARNING)  # the terminal says it in words of its own
    try:
        yield
    finally:
        set_sink(None)
        log.setLevel(logging.NOTSET)


def note(redis_url: str, action: str, subject: str, detail: str = "") -> None:
    """One entry about a user or a token."""
    from weir.components.web.security.events import SecurityEvent, record

    with auditing(redis_url):
        record(
            SecurityEvent(at=time.time(), by=me(), action=action, subject=subject, detail=detail)
        )
