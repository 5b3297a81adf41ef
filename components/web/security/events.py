"""What happened at the door: one line in the log each, and one call for the audit trail.

Nothing secret may stand in an event: no password, token, link, cookie or query string,
and no name that was typed but is not a user's (people type passwords into the wrong field).
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Recommendations

LOG = "weir.security"
log = logging.getLogger(LOG)

AUDITED = (
    "sign_in.ok", "sign_in.locked", "sign_out", "session.revoked", "link.made", "user.", "token.",
    "password.", "role.refused", "csrf.refused",
)  # fmt: skip
"""What belongs in the audit trail. It keeps only the newest entries, so whoever could fill it
could erase it: what strangers try is only logged, except that a lock has begun."""
REFUSALS = ("sign_in.locked", "password.refused", "role.refused", "csrf.refused")
REFUSALS_KEPT = 20
"""How many refusals of one person go into the trail within an hour; all strangers count as one."""
WAITING_MOST = 1000
"""How many events may wait for a trail that does not answer."""


class SecurityEvent(Struct, frozen=True, kw_only=True):
    """Who did or tried what, from where."""

    at: float
    by: str
    action: str  # e.g. "sign_in.failed"
    subject: str = ""
    address: str = ""
    detail: str = ""


Sink = Callable[[SecurityEvent], None]
_sink: ContextVar[Sink | None] = ContextVar("weir_security_sink", default=None)


def record(event: SecurityEvent) -> None:
    """Log an event, and hand it to the audit trail of the request at hand."""
    log.info(
        "%s by %s from %s%s%s",
        event.action,
        one_line(event.by),
        event.address or "here",
        f": {one_line(event.subject)}" if event.subject else "",
        f" ({one_line(event.detail)})" if event.detail else "",
    )
    sink = _sink.get()
    if sink is not None and event.action.startswith(AUDITED):
        sink(event)


def set_sink(sink: Sink | None) -> None:
    """Said by the middleware: where `record` hands events to."""
    _sink.set(sink)


class Background:
    """A sink that never keeps a request waiting; events keep their order.

    What would be too much is dropped and counted, and the next entry says how many there were.
    """

    def __init__(self, sink: Sink, waiting_most: int = WAITING_MOST) -> None:
        self._sink = sink
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._room = threading.BoundedSemaphore(waiting_most)
        self._hour = 0
        self._refusals: Counter[str] = Counter()  # of this hour, by who was refused
        self._dropped = 0
        self._lock = threading.Lock()

    def __call__(self, event: SecurityEvent) -> None:
        """Hand an event on, if there is room for it."""
        with self._lock:
            if self._too_many(event) or not self._room.acquire(blocking=False):
                self._dropped += 1
                return
            if self._dropped:
                missing = f"{self._dropped} before it were too many to keep"
                event = replace(event, detail="; ".join(filter(None, (event.detail, missing))))
                self._dropped = 0
            self._worker.submit(self._keep, event)

    def _too_many(self, event: SecurityEvent) -> bool:
        if event.action not in REFUSALS:
            return False
        hour = int(event.at // 3600)
        if hour != self._hour:
            self._hour = hour
            self._refusals.clear()
        self._refusals[event.by] += 1
        return self._refusals[event.by] > REFUSALS_KEPT

    def _keep(self, event: SecurityEvent) -> None:
        try:
            self._sink(event)
        except Exception:  # the door must open and close whatever the trail says
            log.exception("the audit trail did not take %s", event.action)
        finally:
            self._room.release()


def keep(store: Recommendations, event: SecurityEvent) -> None:
    """Put an event into the audit trail."""
    store.append_audit(
        AuditEntry(
            at=event.at, by=event.by, action=event.action, subject=event.subject,
            address=event.address, detail=event.detail,
        )
    )  # fmt: skip


def one_line(text: str, most: int = 120) -> str:
    """Text that cannot forge a second line or flood the log.

    >>> one_line("ada\\nadmin signed in")
    'ada?admin signed in'
    """
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= most else shown[: most - 3] + "..."
