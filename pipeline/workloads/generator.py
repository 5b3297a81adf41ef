"""The load generator: rows of an application, at a rate and a skew that can be steered."""

import logging
import os
import threading
import time

import numpy as np
import pyarrow as pa
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Part, Store, Workload
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.profile import profile_rate
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import cut_by_shard
from weir.pipeline.edges.stream import Chunk, EdgeStream, chunks_of
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.spells import Spells

log = logging.getLogger(__name__)

TICK_S = 0.1
PAUSE_S = 0.5
MOST_WAITING_ROWS = 2_000_000


def rate_at(workload: Workload, since_s: float) -> float:
    """Rows per second, `since_s` after the workload was set.

    >>> from weir.controllers.model.profile import Profile
    >>> ramp = Profile(kind="ramp", to_rows_per_s=60, over_s=5)
    >>> rate_at(Workload(name="w", rows_per_s=50, profile=ramp), 3)
    56.0
    """
    if workload.paused:
        return 0.0
    return profile_rate(workload.rows_per_s, workload.profile, since_s)


def rows_of(
    application: Application, first: int, count: int, at: float, seconds: float, skew: float
) -> pa.RecordBatch:
    """Rows first, first + 1, ..., spread over the `seconds` before `at`."""
    times = at - seconds + seconds * (np.arange(count) + 1) / max(count, 1)
    return pa.record_batch({"ts": times, "text": application.rows(first, count, skew)})


class Generator:
    """Appends rows where an application's begin, until `stop`. Only one runs at a time."""

    def __init__(
        self, store: Store, redis_url: str, initial: Workload, application: Application
    ) -> None:
        self._store = store
        self._application = application
        self._name = initial.name
        source = application.source
        self._edge = EdgeStream(connect(redis_url), source.edge, source.shards)
        self._spells = Spells(self._edge.client, source.edge)
        self._workload = initial
        self._stop_event = threading.Event()
        self._held = False

    def run(self) -> None:
        """Generate until told to stop; while Redis is away, wait for it."""
        since = last = time.monotonic()
        due = 0.0
        next_look = 0.0
        batch, total = self._resume()
        while not self._stop_event.wait(TICK_S):
            now = time.monotonic()
            try:
                if now >= next_look:
                    next_look = now + 0.5
                    if self._look():
                        since = now
                    self._beat(rate_at(self._workload, now - since))
                rate = 0.0 if self._held else rate_at(self._workload, now - since)
                # After a gap (Redis was away, the machine slept) no burst makes up for it.
                due += rate * min(now - last, 1.0)
                count, last = int(due), now
                if count:
                    skew = self._spells.since(total, self._skew)
                    rows = rows_of(self._application, total, count, time.time(), TICK_S, skew)
                    self._edge.append(self._name, batch, _spread(rows, batch, self._edge.shards))
                    due -= count
                    batch, total = batch + 1, total + count
            except (RedisError, OSError) as error:
                log.warning("Redis is away: %s", error)
                batch, total = self._resume()
                last = time.monotonic()
            except Exception as error:
                self._store.note_fault("the generator", error)
                self._stop_event.wait(PAUSE_S)
                batch, total = self._resume()
                last = time.monotonic()
        self._note_outage()

    def stop(self) -> None:
        """Make `run` end."""
        self._stop_event.set()

    @property
    def _skew(self) -> float:
        asked = self._workload.skew
        return self._application.skew if asked is None else asked

    def _resume(self) -> tuple[int, int]:
        """The next batch and row, from what is in Redis: nothing twice, nothing left out."""
        while not self._stop_event.is_set():
            try:
                return self._edge.last_batch(self._name) + 1, self._edge.totals()[0]
            except (RedisError, OSError, Unavailable):
                self._stop_event.wait(PAUSE_S)
        return 0, 0

    def _look(self) -> bool:
        """Read what is asked for; True if the rate starts over."""
        found = next((w for w in self._store.workloads() if w.name == self._name), None)
        if found is None:
            self._store.set_workload(self._workload)
            return False
        before, self._workload = self._workload, found
        changed = (before.rows_per_s, before.profile) != (found.rows_per_s, found.profile)
        committed = self._edge.committed().values()
        done = min((sum(c.values()) for c in committed), default=0)
        self._held = self._edge.totals()[0] - done > MOST_WAITING_ROWS
        return changed

    def _beat(self, rate: float) -> None:
        detail = f"{rate:,.0f} rows/s, skew {self._skew:g}"
        if self._held:
            detail = f"held back: {MOST_WAITING_ROWS:,} rows are waiting"
        elif self._workload.paused:
            detail = "paused"
        self._store.beat(
            Part(
                id=f"generator:{self._name}",
                kind="generator",
                name=self._name,
                at=time.time(),
                pid=os.getpid(),
                detail=detail,
                title=self._application.title,
                about=self._application.origin,
            )
        )

    def _note_outage(self) -> None:
        try:
            self._store.remove_part(f"generator:{self._name}")
        except (RedisError, OSError):
            log.info("Redis is away")


def _spread(rows: pa.RecordBatch, batch: int, shards: int) -> list[Chunk]:
    """Few rows go to one shard after the other, many are shared by all."""
    if rows.num_rows < 256 * shards:
        return chunks_of(batch % shards, rows)
    return cut_by_shard(rows, shards, None)
