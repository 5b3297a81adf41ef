"""Sends samples to the store; a job never waits for Redis, nor fails with it."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from msgspec.structs import replace
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Lease, Part, Store
from weir.controllers.engine.stored import failover_settings
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.placement import cluster_lease
from weir.controllers.model.sample import ClusterSample

log = logging.getLogger(__name__)

RETRY_S = 0.5
SETTINGS_S = 5.0
"""How often the settings are looked at: how long a lease is may change at any time."""


class Publisher(threading.Thread):
    """Sends samples and signs of life in the background.

    While the store is away the newest `limit` samples wait and the oldest are dropped
    and counted. A lease on the cluster's name keeps two applications from reporting
    under the same one: the second waits and says so in the log.
    """

    def __init__(
        self, store: Store, cluster: str, holder: str, part: Callable[[], Part], limit: int = 500
    ) -> None:
        super().__init__(name="weir-publisher", daemon=True)
        self.dropped = 0
        self._store = store
        self._lease_name = cluster_lease(cluster)
        self._holder = holder
        self._part = part
        self._limit = limit
        self._waiting: deque[ClusterSample] = deque()
        self._wake = threading.Event()
        self._stopping = False
        self._away = False
        self._lease: Lease | None = None
        self._failover = FailoverSettings()
        self._next_beat = 0.0
        self._next_settings = 0.0

    def put(self, sample: ClusterSample) -> None:
        """Hand over a sample; returns at once."""
        while len(self._waiting) >= self._limit:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(sample)
        self._wake.set()

    def run(self) -> None:
        while not self._stopping:
            self._wake.wait(max(0.05, self._next_beat - time.monotonic()))
            self._wake.clear()
            try:
                self._beat()
                while self._lease and self._waiting:
                    self._beat()  # also while many wait: silence would be taken for death
                    sample = self._waiting[0]
                    cluster = replace(sample.cluster, dropped_samples=self.dropped)
                    self._append(replace(sample, cluster=cluster))
                    if self._waiting and self._waiting[0] is sample:
                        self._waiting.popleft()
                if self._away:
                    self._away = False
                    log.info("the store is back")
            except (RedisError, OSError) as error:
                if not self._away:
                    log.warning("the store is away, samples wait here: %s", error)
                self._away = True
                time.sleep(RETRY_S)
            except Exception as error:
                self._store.note_fault("the publisher of reports", error)
                time.sleep(RETRY_S)

    def _beat(self) -> None:
        """Give a sign of life if it is time for one."""
        now = time.monotonic()
        if now < self._next_beat:
            return
        self._next_beat = now + self._failover.renew_s
        if self._hold_name():
            self._store.beat(self._part())
        if now >= self._next_settings:
            self._next_settings = now + SETTINGS_S
            self._failover = failover_settings(self._store)

    def _append(self, sample: ClusterSample) -> None:
        """A report that nobody can keep is lost and counted; the next ones are not."""
        try:
            self._store.append(sample)
        except (RedisError, OSError):
            raise
        except Exception as error:
            self.dropped += 1
            self._store.note_fault("a report", error)

    def _hold_name(self) -> bool:
        """Is the cluster's name ours? Tries to make it so."""
        lease_s = self._failover.lease_s
        if self._lease and self._store.renew(self._lease, lease_s):
            return True
        had = self._lease
        self._lease = self._store.acquire(self._lease_name, self._holder, lease_s)
        if self._lease is None and had is None and not self._waiting:
            log.warning("%s is in use by another application; waiting for it", self._lease_name)
        return self._lease is not None

    def close(self) -> None:
        """Stop and give the name back, if the store can be reached."""
        self._stopping = True
        self._wake.set()
        self.join(timeout=3.0)
        if self._lease:
            try:
                self._store.remove_part(self._part().id)
                self._store.release(self._lease)
            except (RedisError, OSError):
                log.info("the store is away; the name will be free when its lease ends")
