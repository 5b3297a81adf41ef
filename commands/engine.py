"""`engine`: the process that keeps snapshots and history; one of several leads."""

import logging
import os
import signal
import threading
import time
import uuid

from redis.exceptions import RedisError

from controllers.engine.ports import Lease, Part, Store
from controllers.engine.tiers import roll_up
from controllers.model.snapshot import Snapshot
from metrics.commands import LEADER
from metrics.redis_store import RedisStore

log = logging.getLogger(__name__)

CYCLE_S = 1.0
LEASE_S = 6.0


class Engine:
    """One cycle a second: lead if nobody else does, keep the snapshot, roll samples up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._holder = f"engine/{uuid.uuid4().hex[:8]}"
        self._lease: Lease | None = None
        self._stop_event = threading.Event()
        self._rolled_at = 0.0

    def run(self) -> None:
        """Cycle until told to stop; while Redis is away, wait for it."""
        while not self._stop_event.is_set():
            began = time.monotonic()
            try:
                self._cycle(time.time())
            except (RedisError, OSError) as error:
                log.warning("Redis is away: %s", error)
            self._stop_event.wait(max(0.05, CYCLE_S - (time.monotonic() - began)))
        try:
            self._store.remove_part(self._id)
            if self._lease:
                self._store.release(self._lease)
        except (RedisError, OSError):
            log.info("Redis is away; the lease ends by itself")

    def stop(self) -> None:
        """Make `run` end."""
        self._stop_event.set()

    @property
    def _id(self) -> str:
        return f"engine:{self._holder.split('/')[1]}"

    def _cycle(self, now: float) -> None:
        leads = self._leads()
        self._store.beat(
            Part(
                id=self._id,
                kind="engine",
                name="leader" if leads else "standby",
                at=now,
                pid=os.getpid(),
            )
        )
        if not leads:
            return
        for part in self._store.parts():  # engines and workers that died without a word
            if part.kind in ("engine", "web") and now - part.at > 60.0:
                self._store.remove_part(part.id)
        self._store.save_snapshot(Snapshot.of(self._store.latest(), now))
        if now - self._rolled_at >= 10.0:
            roll_up(self._store, now)
            self._rolled_at = now

    def _leads(self) -> bool:
        if self._lease and self._store.renew(self._lease, LEASE_S):
            return True
        self._lease = self._store.acquire(LEADER, self._holder, LEASE_S)
        return self._lease is not None


def run(redis_url: str) -> None:
    """Run an engine until SIGTERM or Ctrl-C."""
    engine = Engine(RedisStore.at(redis_url))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: engine.stop())
    engine.run()
