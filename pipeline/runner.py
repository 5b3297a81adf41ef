"""One operator in one host: its lease, its query, and what to do when it fails.

stopped --lease--> running --failure--> restarting --back-off--> running
   |                  |                                             |
   +-- waiting        +--- lease lost, moved away or stopped -------+--> stopped
"""

import logging
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from controllers.engine.ports import Lease, Store
from controllers.model.placement import operator_lease
from controllers.model.snapshot import OperatorStatus
from metrics.sampler import Backlog, OperatorFacts, epoch
from pipeline.operator import Context, Operator, OperatorError

log = logging.getLogger(__name__)

LEASE_S = 12.0
RENEW_S = 2.0
BACK_OFF_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
HEALTHY_S = 60.0


class Runner:
    """Keeps one operator in the state that is wanted. `step` is called often, by one thread."""

    def __init__(
        self,
        operator: Operator,
        spark: SparkSession,
        store: Store,
        holder: str,
        redis_url: str,
        checkpoints: Path,
    ) -> None:
        self.operator = operator
        self.status = OperatorStatus.STOPPED
        self.message = ""
        self.restarts = 0
        self._spark = spark
        self._store = store
        self._holder = holder
        self._redis_url = redis_url
        self._checkpoints = checkpoints
        self._query: Any = None
        self._query_id: str | None = None
        self._lease: Lease | None = None
        self._renewed_at = 0.0
        self._next_try = 0.0
        self._failures = 0
        self._started_at = 0.0
        self._last_commit_at: float | None = None  # of the run before

    def step(self, wanted: bool) -> None:
        """Do what is needed now; never raises because of the store or the query."""
        try:
            self._renew()
        except (RedisError, OSError):
            self._without_store()
            return
        try:
            if not wanted:
                self.stop("")
            elif self._query is None:
                self._try_start()
            else:
                self._watch()
        except (RedisError, OSError) as error:
            log.warning("%s: the store is away: %s", self.operator.name, error)

    # -- lease

    def _renew(self) -> None:
        if self._lease is None or time.monotonic() - self._renewed_at < RENEW_S:
            return
        if self._store.renew(self._lease, LEASE_S):
            self._renewed_at = time.monotonic()
            return
        # It ran out, e.g. while Redis was away. If nobody else took it, it is ours again
        # under a new token, and the query must be started anew to write under that token.
        self._lease = None
        self._halt()
        self.status, self.message = OperatorStatus.RESTARTING, "its lease had run out"

    def _without_store(self) -> None:
        """Nobody can take the lease over before it ends; then the query must not run."""
        if self._lease and time.monotonic() - self._renewed_at > LEASE_S - 1.0:
            self._lease = None
            self._halt()
            self.status = OperatorStatus.RESTARTING
            self.message = "stopped until Redis is back: its lease could not be kept"

    # -- query

    def _try_start(self) -> None:
        if time.monotonic() < self._next_try:
            return
        if self._lease is None:
            self._lease = self._store.acquire(
                operator_lease(self.operator.name), self._holder, LEASE_S
            )
            self._renewed_at = time.monotonic()
        if self._lease is None:
            held = self._store.lease(operator_lease(self.operator.name))
            self.status = OperatorStatus.WAITING
            self.message = f"its lease is held by {held.holder}" if held else ""
            return
        self.status, self.message = OperatorStatus.STARTING, ""
        try:
            context = Context(self._redis_url, self._lease.token)
            self._last_commit_at = self._store.last_commit(self.operator.name)
            self._query = self.operator.start(self._spark, context, self._checkpoints)
            self._query_id = str(self._query.id)
            self._started_at = time.monotonic()
            self.status = OperatorStatus.RUNNING
        except OperatorError as error:
            log.warning("%s", error, exc_info=error.__cause__)
            self._failed(str(error), OperatorStatus.FAILED)

    def _watch(self) -> None:
        if self._query.isActive:
            if self._failures and time.monotonic() - self._started_at > HEALTHY_S:
                self._failures = 0
            return
        error = self._query.exception()
        self._query = None
        text = _reason(error)
        log.warning("operator '%s' failed: %s", self.operator.name, text)
        self._failed(text, OperatorStatus.RESTARTING)

    def _failed(self, text: str, status: OperatorStatus) -> None:
        wait_s = BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1
        self.restarts += 1
        self._next_try = time.monotonic() + wait_s
        self.status = status
        self.message = f"{text} (next try in {wait_s:.0f} s)"

    def restart(self) -> None:
        """Stop at a batch boundary; the next step starts it again, with fresh patience."""
        self._halt()
        self._failures = 0
        self._next_try = 0.0

    def stop(self, message: str) -> None:
        """Stop at a batch boundary and give the lease back."""
        self._halt()
        if self._lease:
            self._store.release(self._lease)
            self._lease = None
        self._failures = 0
        self._next_try = 0.0
        self.status, self.message = OperatorStatus.STOPPED, message

    def _halt(self) -> None:
        if self._query is None:
            return
        query, self._query = self._query, None
        stop_at_boundary(self._spark, query)
        at = last_commit_at(query)
        if at is not None:
            with suppress(RedisError, OSError):  # only the measurement of a pause needs it
                self._store.set_last_commit(self.operator.name, at)

    def facts(self) -> OperatorFacts:
        """What the agent reports besides measurements."""
        return OperatorFacts(
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
        )

    def _backlog(self) -> Backlog | None:
        if self.operator.backlog is None:
            return None
        try:
            return self.operator.backlog(self._redis_url)
        except (RedisError, OSError):
            return None


def stop_at_boundary(spark: SparkSession, query: Any, timeout_s: float = 30.0) -> None:
    """Stop a query after the batch it is in, so that nothing has to be done again.

    A plain stop interrupts the batch. Spark's own loop ends by itself once the query's
    state says TERMINATED; that is internal, so if it cannot be set the query is stopped
    plainly, which is correct too, only slower to resume. A query that merely waits for its
    next trigger would sit the wait out, so that one is stopped at once.
    """
    try:
        runtime = spark.sparkContext._jvm.org.apache.spark.sql.execution.streaming.runtime
        terminated = getattr(getattr(runtime, "TERMINATED$"), "MODULE$")
        query._jsq.streamingQuery().state().set(terminated)
        if query.status["isTriggerActive"]:
            query.awaitTermination(int(timeout_s))
    except Exception as error:  # also the query's own failure: it is ending anyway
        log.info("no clean stop at a batch boundary: %s", type(error).__name__)
    try:
        query.stop()
    except Py4JError as error:
        log.warning("stopping failed: %s", error)


def last_commit_at(query: Any) -> float | None:
    """When the query committed its last batch."""
    for progress in reversed(query.recentProgress):
        if "addBatch" in progress["durationMs"]:
            return epoch(progress["timestamp"]) + progress["durationMs"]["triggerExecution"] / 1000
    return None


def _reason(error: Any) -> str:
    if error is None:
        return "it ended by itself"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The last "SomethingError: ..." line of a Python traceback says more than its head.
    python = [line for line in lines if "Error: " in line and not line.startswith("File")]
    return (python[-1] if python else lines[0] if lines else type(error).__name__)[:300]
