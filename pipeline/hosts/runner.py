"""One operator in one host: its lease, its query, and what to do when it fails.

stopped --lease--> running --failure--> restarting --back-off--> running
   |                  |                                             |
   +-- waiting        +--- lease lost, moved away or stopped -------+--> stopped

A query that is to end at a batch boundary may take as long as its batch. Nobody waits for
it: every step looks again, and its lease is kept by another thread, which asks only the
store and never Spark, until the query can no longer write.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Lease, Store
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import OperatorStatus
from weir.metrics.agent.listener import Progress
from weir.metrics.agent.track import Backlog, OperatorFacts
from weir.metrics.store.away import AwayLog
from weir.pipeline.hosts.operator import Context, Operator, OperatorError
from weir.pipeline.hosts.query import (
    commit_time,
    end_reason,
    ends_at_boundary,
    has_batch,
    has_ended,
    last_progress,
)

log = logging.getLogger(__name__)

COMMITS_S = 2.0
"""How often a query's last commit is looked at: the pause of a move counts from there."""
HALT_S = 30.0
"""How long a query may take to reach its batch boundary before it is stopped mid-batch."""
BACK_OFF_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
HEALTHY_S = 60.0


class Runner:
    """Keeps one operator in the state that is wanted. One thread calls `step` often, another
    one `renew`."""

    def __init__(
        self,
        operator: Operator,
        spark: SparkSession,
        store: Store,
        holder: str,
        redis_url: str,
        checkpoints: Path,
        clock: Callable[[], float] = time.monotonic,
        confirm: Callable[[Operator], bool] = lambda operator: True,
    ) -> None:
        self.operator = operator
        self._confirm = confirm  # asked under the lease, before the query is started
        self.status = OperatorStatus.STOPPED
        self.message = ""
        self.restarts = 0
        self._spark = spark
        self._store = store
        self._holder = holder
        self._redis_url = redis_url
        self._checkpoints = checkpoints
        self._clock = clock
        self._query: Any = None
        self._query_id: str | None = None
        self._failover = FailoverSettings()
        self._lease: Lease | None = None
        self._lost: Lease | None = None  # the lease that was found to be no longer ours
        self._renewed_at = 0.0
        self._halt_until: float | None = None  # while the query is to end at a batch boundary
        self._again = False  # it is to be started again once it has ended
        self._away = AwayLog(log, f"{operator.name}: the store is away")
        self._next_try = 0.0
        self._failures = 0
        self._started_at = 0.0
        self._looked_at = 0.0
        self._idle: Progress | None = None  # its last trigger, if that found nothing to do
        self._commit_at: float | None = None  # the last one known
        self._told_at: float | None = None  # that commit, once the store knows it
        self._last_commit_at: float | None = None  # of the run before

    def step(self, wanted: bool) -> None:
        """Do what is needed now; never waits for a batch, never raises because of the store."""
        try:
            if self._lease_over():
                self._give_up()
            elif not wanted:
                self.stop("")
            elif self._again or self._halt_until is not None:
                if self._halt():
                    self._refresh()
            elif self._query is None:
                self._try_start()
            else:
                self._watch()
        except (RedisError, OSError) as error:
            self._away.note(error)

    # -- lease

    def renew(self, failover: FailoverSettings | None = None) -> None:
        """Keep the lease, if there is one."""
        self._failover = failover or self._failover
        lease, asked_at = self._lease, self._clock()
        if lease is None:
            return
        with suppress(RedisError, OSError):
            if self._store.renew(lease, self._failover.lease_s):
                self._away.note(None)
                self._renewed_at = asked_at
                self._tell_commit()
            else:
                self._lost = lease

    def _tell_commit(self) -> None:
        """Keep in the store when it committed last: a host that is killed can no longer tell,
        and the pause of a move counts from there."""
        at = self._commit_at
        if at is not None and at != self._told_at:
            self._store.set_last_commit(self.operator.name, at)
            self._told_at = at

    def _lease_over(self) -> bool:
        if self._lease is None:
            return False
        alone_s = self._clock() - self._renewed_at
        return self._lost is self._lease or alone_s > self._failover.alone_s

    def _give_up(self) -> None:
        """Stop at once: without its lease the query must not write.

        If nobody else took the lease it is ours again under a new token, and the query is
        started again to write under that token.
        """
        if self._query is not None:
            why = "its lease had run out"
            if self._lost is not self._lease:
                why = "stopped until Redis is back: its lease could not be kept"
            if not self._end():
                return
            self.status, self.message = OperatorStatus.RESTARTING, why
        self._lease = None

    # -- query

    def _try_start(self) -> None:
        if self._clock() < self._next_try:
            return
        if self._lease is None:
            self._renewed_at = self._clock()
            self._lease = self._store.acquire(
                operator_lease(self.operator.name), self._holder, self._failover.lease_s
            )
            self._away.note(None)
        if self._lease is None:
            held = self._store.lease(operator_lease(self.operator.name))
            self.status = OperatorStatus.WAITING
            self.message = f"its lease is held by {held.holder}" if held else ""
            return
        if not self._confirm(self.operator):
            self._store.release(self._lease)
            self._lease = None
            return
        self.status, self.message = OperatorStatus.STARTING, ""
        try:
            context = Context(self._redis_url, self._lease.token)
            known = (self._store.last_commit(self.operator.name), self._commit_at)
            self._commit_at = max((at for at in known if at is not None), default=None)
            self._last_commit_at = self._commit_at
            self._idle = None
            self._query = self.operator.start(self._spark, context, self._checkpoints)
            self._query_id = str(self._query.id)
            self._started_at = self._clock()
            self.status = OperatorStatus.RUNNING
        except OperatorError as error:
            log.warning("%s", error, exc_info=error.__cause__)
            self._fail(str(error), OperatorStatus.FAILED)

    def _watch(self) -> None:
        now = self._clock()
        if now - self._looked_at >= COMMITS_S:
            self._looked_at = now
            self._look()
        if self._query.isActive:
            if self._failures and now - self._started_at > HEALTHY_S:
                self._failures = 0
            return
        error = self._query.exception()
        self._look()
        self._query = None
        text = end_reason(error)
        log.warning("operator '%s' failed: %s", self.operator.name, text)
        self._fail(text, OperatorStatus.RESTARTING)

    def _fail(self, text: str, status: OperatorStatus) -> None:
        wait_s = BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1
        self.restarts += 1
        self._next_try = self._clock() + wait_s
        self.status = status
        self.message = f"{text} (next try in {wait_s:.0f} s)"

    def restart(self) -> None:
        """Let it end at a batch boundary and start again, with fresh patience."""
        self._again = True
        self.status, self.message = OperatorStatus.STARTING, "stopping at a batch boundary"

    def stop(self, message: str) -> bool:
        """Stop at a batch boundary, then give the lease back; True once that is done."""
        if not self._halt():
            return False
        if self._lease:
            self._tell_commit()
            self._store.release(self._lease)
            self._away.note(None)
            self._lease = None
        self._refresh()
        self.status, self.message = OperatorStatus.STOPPED, message
        return True

    def _refresh(self) -> None:
        self._again = False
        self._failures = 0
        self._next_try = 0.0

    def _halt(self) -> bool:
        """Let the query end at a batch boundary, or without one if that takes too long; True
        once it can no longer write."""
        if self._query is None:
            return True
        now = self._clock()
        if self._halt_until is None:
            self._halt_until = now + HALT_S if ends_at_boundary(self._spark, self._query) else now
        if now < self._halt_until and not has_ended(self._query):
            return False
        return self._end()

    def _end(self) -> bool:
        """Stop the query at once, within a batch if need be; True once it can no longer write."""
        try:
            self._query.stop()  # waits until nothing of it runs
        except Exception as error:
            log.warning("%s: stopping failed: %s", self.operator.name, error)
            if not has_ended(self._query):
                return False
        self._look()
        self._query = self._halt_until = None
        return True

    def _look(self) -> None:
        """See what its last trigger did."""
        with suppress(Py4JError, OSError, msgspec.MsgspecError):  # only measurements need it
            progress = last_progress(self._query)
            if progress is None:
                return
            self._idle = None if has_batch(progress) else progress
            if has_batch(progress):
                self._commit_at = commit_time(progress)

    @property
    def idle(self) -> bool:
        """It has neither a query nor a lease."""
        return self._query is None and self._lease is None

    def facts(self) -> OperatorFacts:
        """What the agent reports besides measurements."""
        share = self.operator.share
        return OperatorFacts(
            slice_of=share.operator if share else "",
            key_groups=share.key_groups if share else (),
            unsliced="" if share else self.operator.unsliced,
            name=self.operator.name,
            query_id=self._query_id,
            status=self.status,
            message=self.message,
            restarts=self.restarts,
            lease_token=self._lease.token if self._lease else None,
            reads=self.operator.reads,
            writes=self.operator.writes,
            trigger_s=self.operator.trigger_s,
            backlog=self._backlog(),
            last_commit_at=self._last_commit_at,
            idle=self._idle,
        )

    def _backlog(self) -> Backlog | None:
        if self.operator.backlog is None:
            return None
        try:
            share = self.operator.share
            return self.operator.backlog(self._redis_url, share.key_groups if share else ())
        except (RedisError, OSError):
            return None
