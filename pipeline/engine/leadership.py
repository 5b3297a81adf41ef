"""Which of several engines leads, and for how long it has looked without a gap."""

import contextlib
import threading
import time
import uuid

from redis.exceptions import RedisError

from weir.controllers.engine.ports import Lease, Leases
from weir.controllers.model.errors import Fenced
from weir.controllers.model.placement import LEADER

LEASE_S = 6.0
HANGS_S = 60.0
GAP_S = 2.5
"""Between two looks; after a longer one nobody is declared dead for the time of a lease."""


class Leadership:
    """One engine's part in who leads: its lease, renewed while it works and lost when it hangs."""

    def __init__(self, store: Leases) -> None:
        self._store = store
        self.holder = f"engine/{uuid.uuid4().hex[:8]}"
        self._lease: Lease | None = None
        self._cycle_began = 0.0
        self._watch_token = -1
        self._watch_since = self._watched_at = 0.0

    def begin_cycle(self) -> None:
        """Note that a cycle begins now: one that hangs for a minute loses the lease."""
        self._cycle_began = time.monotonic()

    def take(self) -> bool:
        """Renew the lease, or take it where it is free; whether this engine leads."""
        if self._lease and self._store.renew(self._lease, LEASE_S):
            return True
        self._lease = self._store.acquire(LEADER, self.holder, LEASE_S)
        return self._lease is not None

    def renew_lease(self) -> Lease:
        """Our lease, renewed; an engine that has lost it gives up this cycle."""
        if self._lease is None or not self._store.renew(self._lease, LEASE_S):
            raise Fenced("another engine leads by now")
        return self._lease

    def keep(self, stop: threading.Event) -> None:
        """Renew the lease during a long cycle; a cycle that hangs still loses it.

        A suspended process stops renewing too, and what it does later is fenced off.
        """
        while not stop.wait(LEASE_S / 3):
            lease, busy_s = self._lease, time.monotonic() - self._cycle_began
            if lease is None or busy_s > HANGS_S:
                continue
            with contextlib.suppress(RedisError, OSError):
                self._store.renew(lease, LEASE_S)

    def give_up(self) -> None:
        """Let others lead at once."""
        if self._lease:
            self._store.release(self._lease)

    def watch_anew(self) -> None:
        """What was seen before says nothing of how long anybody has been silent."""
        self._watch_token = -1

    def watch_time_s(self, lease: Lease) -> float:
        """For how long this engine has led and looked without a gap. After one, hosts may not
        have had the time to take up their leases again."""
        now = time.monotonic()
        if lease.token != self._watch_token or now - self._watched_at > GAP_S:
            self._watch_token, self._watch_since = lease.token, now
        self._watched_at = now
        return now - self._watch_since
