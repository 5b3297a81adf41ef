"""`engine`: the process that keeps snapshots and history; one of several leads."""

import logging
import os
import signal
import threading
import time
import uuid

from redis.exceptions import RedisError

from controllers.engine.balance import (
    BALANCE,
    BalanceSettings,
    plan_now,
    problem_now,
    rebalance_of,
    why_wait,
)
from controllers.engine.moves import advance, waiting_for
from controllers.engine.outlook import outlook, warm_up
from controllers.engine.ports import Lease, Part, Store
from controllers.engine.tiers import roll_up
from controllers.model.errors import WeirError
from controllers.model.placement import operator_lease
from controllers.model.snapshot import Snapshot
from controllers.settings import build
from metrics.commands import LEADER
from metrics.redis_store import RedisStore

log = logging.getLogger(__name__)

CYCLE_S = 1.0
BUSY_CYCLE_S = 0.25  # while something moves
PLAN_S = 5.0
LEASE_S = 6.0
BURY_S = 15.0


class Engine:
    """One cycle a second: lead if nobody else does, keep the snapshot, roll samples up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._holder = f"engine/{uuid.uuid4().hex[:8]}"
        self._lease: Lease | None = None
        self._stop_event = threading.Event()
        self._rolled_at = 0.0
        self._busy = False
        self._planned_at = 0.0

    def run(self) -> None:
        """Cycle until told to stop; while Redis is away, wait for it."""
        while not self._stop_event.is_set():
            began = time.monotonic()
            try:
                self._cycle(time.time())
            except (RedisError, OSError) as error:
                log.warning("Redis is away: %s", error)
            except WeirError as error:  # e.g. a setting that nobody can act on
                log.warning("this cycle was given up: %s", error)
            pace_s = BUSY_CYCLE_S if self._busy else CYCLE_S
            self._stop_event.wait(max(0.05, pace_s - (time.monotonic() - began)))
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
        self._busy = self._drive_moves(now)
        self._balance(now)
        self._bury(now)
        self._store.save_snapshot(Snapshot.of(self._store.latest(), now))
        if now - self._rolled_at >= 10.0:
            roll_up(self._store, now)
            self._rolled_at = now

    def _drive_moves(self, now: float) -> bool:
        """Bring every rebalance one step on; True while one is under way."""
        open_ = [r for r in self._store.rebalances() if not r.final]
        if not open_ or self._lease is None:
            return False
        snapshot = Snapshot.of(self._store.latest(), now)
        placements = self._store.placements()
        leases = {name: self._store.lease(operator_lease(name)) for name in waiting_for(open_)}
        for rebalance in open_:
            after, changes = advance(rebalance, snapshot, placements, leases, now)
            if after != rebalance:
                self._store.save_rebalance(after, changes, self._lease)
        return True

    def _balance(self, now: float) -> None:
        """See what every planner would do; in auto, follow the chosen one."""
        if now - self._planned_at < PLAN_S:
            return
        self._planned_at = now
        settings = build(BalanceSettings, self._store.settings(BALANCE))
        snapshot = Snapshot.of(self._store.latest(), now)
        since = now - settings.window_s
        samples = {c.name: self._store.samples(c.name, since, now) for c in snapshot.clusters}
        problem = problem_now(snapshot, samples, settings)
        wait = why_wait(snapshot, problem, self._store.rebalances(), settings, now)
        view = outlook(
            problem,
            now,
            wait=wait,
            chosen=settings.planner,
            auto=settings.auto,
            before=self._store.outlook(),
        )
        self._store.save_outlook(view)
        if wait or not settings.auto:
            return
        plan = plan_now(problem, settings)
        log.info("%s: %s", plan.planner, plan.reason.text)
        if plan.moves:
            rebalance = rebalance_of(plan, uuid.uuid4().hex, "engine", now)
            self._store.save_rebalance(rebalance, leader=self._lease)
            self._busy = True

    def _bury(self, now: float) -> None:
        """Forget engines and web workers that died without a word and were replaced."""
        parts = self._store.parts()
        fresh = {p.kind for p in parts if now - p.at < 5.0}
        for part in parts:
            if part.kind in ("engine", "web") and part.kind in fresh and now - part.at > BURY_S:
                self._store.remove_part(part.id)

    def _leads(self) -> bool:
        if self._lease and self._store.renew(self._lease, LEASE_S):
            return True
        self._lease = self._store.acquire(LEADER, self._holder, LEASE_S)
        return self._lease is not None


def run(redis_url: str) -> None:
    """Run an engine until SIGTERM or Ctrl-C."""
    warm_up()  # before it leads: a leader that compiles for seconds would lose its lease
    engine = Engine(RedisStore.at(redis_url))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: engine.stop())
    engine.run()
