"""One reader of Redis per web worker, shared by all its tabs.

It keeps the last 15 minutes of every cluster as they stand in Redis, so a page
costs no read, and wakes the feeds when something is new. Nothing here is the
only copy of anything: a worker that dies takes nothing with it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import urlsplit

import redis
import redis.asyncio

from weir.components.live.control import Control
from weir.components.live.control_reader import ControlReader
from weir.components.live.page import Pages
from weir.components.live.window import SeriesWindow
from weir.components.live.world import World, world_of
from weir.components.web.security.workers import Workers
from weir.controllers.engine.ports import KEPT_S, Part, Rebalance, Tier, Workload
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.model.command import Command, CommandResult
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.failover import Death
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.settings import build
from weir.metrics.store.redis_samples import REPORT, Row
from weir.metrics.store.redis_store import RedisStore

log = logging.getLogger(__name__)

BLOCK_MS = 500
FACTS_EVERY_S = 1.0
TIMEOUT_S = 3.0
WORLD_KEPT_S = 1.0
STALLED_S = 10.0
"""A reader whose round takes longer than this counts as dead."""
PAUSES = 3.0
"""The next change waits this many times as long as it took to tell all tabs of the last one."""
PAUSE_S = 0.3
REBALANCES_SHOWN = 30

_READERS = ("reports", "facts")
_FAILURES = (redis.exceptions.RedisError, OSError, asyncio.TimeoutError)


class Hub:
    """The world as this worker knows it."""

    def __init__(
        self,
        redis_url: str,
        store: RedisStore,
        target_latency_s: float,
        pages: Pages,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.version = 0
        self.told_s = 0.0  # of a core, to tell all tabs of the last change
        self._made_s = 0.0  # of a core, to make the last world
        self._url = redis_url
        self._target_latency_s = target_latency_s
        self._clock = clock
        self._workers = Workers("facts", 1)
        self._window = SeriesWindow()
        self._rounds = dict.fromkeys(_READERS, time.monotonic())  # reader -> end of its last one
        self._parts: list[Part] = []
        self._deaths: list[Death] = []
        self._workloads: list[Workload] = []
        self._commands: list[tuple[Command, CommandResult]] = []
        self._outlook: Outlook | None = None
        self._rebalances: list[Rebalance] = []
        self._balance = BalanceSettings()
        self._pages = pages
        self._readers = pages.readers()
        self._read: dict[str, Any] = {}  # by the readers, by fields of the world
        self._control_reader = ControlReader()
        self._control = Control()
        self._ready = False
        self._down_since: float | None = None
        self._world: World | None = None
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to read; returns at once, whether Redis is there or not."""
        self._rounds = dict.fromkeys(_READERS, time.monotonic())
        self._tasks = [asyncio.create_task(self._tail()), asyncio.create_task(self._facts())]

    async def stop(self) -> None:
        """End both readers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stall_s(self) -> float | None:
        """For how long a reader has come to no end; None while both work."""
        waited_s = time.monotonic() - min(self._rounds.values())
        ended = any(task.done() for task in self._tasks)
        return waited_s if ended or waited_s > STALLED_S else None

    def world(self) -> World:
        """What is known now; the same object for all who ask within a moment."""
        now = self._clock()
        if self._world is None or not 0 <= now - self._world.at <= WORLD_KEPT_S:
            began = time.thread_time()
            stalled_s = self.stall_s()
            self._world = world_of(
                self._window.series(),
                at=now,
                ready=self._ready,
                redis_address=_address(self._url),
                redis_down_since=self._down_since,
                reader_down_since=None if stalled_s is None else now - stalled_s,
                skipped=self.store.skipped(),
                target_latency_s=self._target_latency_s,
                parts=self._parts,
                deaths=self._deaths,
                workloads=self._workloads,
                commands=self._commands,
                outlook=self._outlook,
                rebalances=self._rebalances,
                balance=self._balance,
                control=self._control,
                **self._read,
            )
            self._made_s = time.thread_time() - began
        return self._world

    async def wait_for_change(self, since: int, timeout_s: float) -> int:
        """Wait until there is something newer than `since`, or until the time is over."""
        deadline = time.monotonic() + timeout_s
        while self.version == since:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
        return self.version

    async def first(self, timeout_s: float) -> World:
        """The world once Redis has answered or failed to, or what there is after a while."""
        deadline = time.monotonic() + timeout_s
        while not self._ready and self._down_since is None and time.monotonic() < deadline:
            await self.wait_for_change(self.version, deadline - time.monotonic())
        return self.world()

    def look(self, path: str) -> bool:
        """A tab shows this address; True while what it needs has not been read."""
        shown = self._pages.place(path)
        reader = self._readers.get(shown.kind)
        return reader is not None and reader.look(shown.name, self._clock())

    async def world_for(self, path: str) -> World:
        """The world with all that the page at an address needs.

        A click may come to a worker that feeds no tab with that page.
        """
        if self.look(path):
            await self.refresh()
        return self.world()

    async def refresh(self) -> None:
        """Read all that is small now, e.g. after a click."""
        with contextlib.suppress(*_FAILURES):
            await self._read_facts()

    # -- the two readers

    async def _tail(self) -> None:
        """Follow the samples of every cluster."""
        client = redis.asyncio.Redis.from_url(
            self._url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), 0),
        )
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(client.aclose)
            while True:
                if not await self._survive("reports", self._read_samples(client)):
                    await asyncio.sleep(0.5)

    async def _read_samples(self, client: Any) -> None:
        if self._window.empty:
            await asyncio.sleep(0.2)  # the other reader finds out which clusters there are
            return
        names = self._window.streams()
        if not names:
            await asyncio.sleep(FACTS_EVERY_S)
            return
        now = self._clock()
        streams = {key: self._window.position(name, now) for key, name in names.items()}
        try:
            found = await client.xread(streams, count=1000, block=BLOCK_MS)
        except redis.exceptions.ResponseError:
            if not await self._look_for_others(client, names):
                raise
            return
        good = [self._take(names[key.decode()], entries) for key, entries in found or ()]
        if any(good):
            self._wake()
            # What comes meanwhile is told together: a large page must not take a whole core.
            await asyncio.sleep(min(PAUSE_S, PAUSES * (self._made_s + self.told_s)))
        elif found:  # entries ahead come back each time
            await asyncio.sleep(BLOCK_MS / 1000)

    def _take(self, name: str, entries: Sequence[Row]) -> int:
        """Add what can be read; how many were new."""
        self._window.pass_by(name, [entry_id for entry_id, _ in entries], self.store.now())
        return sum(self._window.add(s) for s in self.store.samples_in(name, entries))

    async def _look_for_others(self, client: Any, names: dict[str, str]) -> bool:
        """One key that is no stream must not hide all others: find and leave it out."""
        found = False
        for key, name in names.items():
            if await client.type(key) not in (b"stream", b"none"):
                self.store.entries.skip(REPORT, key, "the key holds another type")
                self._window.leave_out(name)
                found = True
        return found

    async def _facts(self) -> None:
        """Everything that is small and read as a whole."""
        while True:
            await self._survive("facts", self._read_facts())
            await asyncio.sleep(FACTS_EVERY_S)

    async def _survive(self, reader: str, round_: Coroutine[Any, Any, None]) -> bool:
        """One round of a reader, whatever it meets; only one that it does not expect leaves the
        reader without an end of its round."""
        try:
            await round_
        except _FAILURES as error:
            self._note_loss(error)
            self._rounds[reader] = time.monotonic()
            return False
        except Exception as error:
            self.store.note_fault(f"the reader of {reader}", error)
            return False
        self._rounds[reader] = time.monotonic()
        return True

    async def _read_facts(self) -> None:
        now = self._clock()
        told = await self._workers(self._read_all, self._window.filled(), now)
        clusters, history, store_now, *facts = told
        self._window.drop_ahead(store_now)
        self._window.follow(clusters, history, now)
        self._parts, self._deaths, self._workloads, self._commands, *balance = facts
        self._outlook, self._rebalances, self._balance, self._read, self._control = balance
        self._ready, self._down_since = True, None
        self._wake()

    def _read_all(self, known: frozenset[str], now: float) -> tuple[Any, ...]:
        store = self.store
        clusters = store.clusters()
        since = now - KEPT_S[Tier.FULL]
        return (
            clusters,
            {
                c: store.samples(c, since, float("inf")) or _newest(store, c)
                for c in clusters
                if c not in known
            },
            store.now(),
            store.parts(),
            store.deaths(),
            list(store.workloads()),
            store.recent_commands(limit=30),
            store.outlook(),
            store.rebalances()[:REBALANCES_SHOWN],
            _balance_settings(store),
            {k: v for r in self._readers.values() for k, v in r.read(store, now).items()},
            self._control_reader.read(store, now),
        )

    def _note_loss(self, error: Exception) -> None:
        if self._down_since is None:
            log.warning("Redis does not answer: %s", error)
            self._down_since = self._clock()
            self._wake()

    def _wake(self) -> None:
        self.version += 1
        self._world = None
        self._changed.set()
        self._changed = asyncio.Event()


def _newest(store: RedisStore, cluster: str) -> list[ClusterSample]:
    """The last report of a cluster whose series has run out: it is shown as silent, not as gone."""
    return [s for s in store.latest() if s.cluster.name == cluster]


def _balance_settings(store: RedisStore) -> BalanceSettings:
    """As they are kept; settings that no longer fit count as the defaults."""
    try:
        return build(BalanceSettings, store.settings(BALANCE))
    except InvalidInput as error:
        log.warning("settings of the balance: %s", error)
        return BalanceSettings()


def _address(url: str) -> str:
    """Where Redis is, without user and password.

    >>> _address("redis://me:secret@db:6379/0")
    'db:6379'
    """
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 6379}" if parts.hostname else parts.path
