"""The agent in a driver: samples each period, signs of life, and commands.

`attach` is the one line for a job of your own; a host builds the same agent with more facts and
more handlers.
"""

import atexit
import contextlib
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from weir.controllers.engine.ports import Part, Store
from weir.controllers.model.command import Action, ScaleTo
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster
from weir.metrics.agent.commands import CommandRunner, Handler
from weir.metrics.agent.executors import SparkExecutors
from weir.metrics.agent.listener import DriverListener, Poll
from weir.metrics.agent.publisher import Publisher
from weir.metrics.agent.removal import is_loss
from weir.metrics.agent.sampler import Sampler
from weir.metrics.agent.track import OperatorFacts
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.where import redis_url as usual_redis

log = logging.getLogger(__name__)


class Agent:
    """Measures one application and carries out what it is told, until `close`."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        store: Store,
        *,
        period_s: float,
        executors: SparkExecutors,
        facts: Callable[[], Sequence[OperatorFacts]] = tuple,
        handlers: Mapping[type[Action], Handler] | None = None,
        hosted: bool = False,
        declared: Iterable[str] | None = None,
    ) -> None:
        if not name or len(name) > 100 or any(c in name for c in ":/ \n"):
            raise InvalidInput(
                f"'{name}' cannot name a cluster: 1 to 100 characters without space, ':' or '/'",
                field="name",
            )
        if period_s < 0.2:
            raise InvalidInput("a period is at least 0.2 s", field="period_s")
        self.name = name
        self.holder = f"{spark.sparkContext.applicationId}/{uuid.uuid4().hex[:8]}"
        self._executors = executors
        self._facts = facts
        self._period_s = period_s
        self._hosted = hosted
        self._listener = DriverListener(spark)
        self._sampler = Sampler()
        self._fixed = _application(spark, executors, name, hosted)
        self._fixed["declared"] = None if declared is None else tuple(sorted(declared))
        self._memory_max = _memory_bytes(spark)
        self._lost = 0
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weir-agent", daemon=True)
        self._publisher = Publisher(store, name, self.holder, self._part)
        self._commands = CommandRunner(
            store, name, self.holder, {ScaleTo: self._scale, **(handlers or {})}
        )

    def start(self) -> "Agent":
        """Begin to measure."""
        for thread in (self._publisher, self._commands, self._thread):
            thread.start()
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Detach: the job goes on as if the agent had never been there."""
        if self._stop_event.is_set():
            return
        self._stop_event.set()
        atexit.unregister(self.close)
        self._commands.close()
        self._publisher.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=3.0)
        try:
            self._listener.close()
        except (Py4JError, OSError):
            log.debug("the driver has already gone")

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop_event.is_set():
            due = max(due + self._period_s, time.monotonic())
            if self._stop_event.wait(max(0.0, due - time.monotonic())):
                return
            try:
                self._sample()
            except (Py4JError, OSError):  # the session was stopped
                log.info("the driver has gone; the agent ends")
                threading.Thread(target=self.close, daemon=True).start()
                return
            except Exception:
                log.exception("one sample was lost")

    def _sample(self) -> None:
        poll = self._listener.poll()
        self._lost += sum(1 for r in poll.removed if is_loss(r.reason))
        self._executors.cores = _cores(poll, self._executors.cores)
        amiss = self._executors.watch(len(poll.executors), time.monotonic())
        cluster = Cluster(
            **{**self._fixed, **({"message": amiss} if amiss else {})},
            cores_per_executor=self._executors.cores,
            executors_granted=self._executors.granted,
            executors_wanted=self._executors.wanted,
            min_executors=self._executors.minimum,
            max_executors=self._executors.maximum,
            executors_lost=self._lost,
        )
        self._publisher.put(self._sampler.sample(poll, cluster, self._facts(), self._memory_max))

    def _part(self) -> Part:
        kind = "host" if self._hosted else "agent"
        return Part(
            id=f"{kind}:{self.name}", kind=kind, name=self.name, at=time.time(), pid=os.getpid()
        )

    def _scale(self, action: ScaleTo, report: Callable[[float, str], None]) -> str:
        return self._executors.scale_to(action.executors, report)


def attach(
    spark: SparkSession,
    name: str,
    redis_url: str | None = None,
    *,
    period_s: float = 10.0,
    min_executors: int = 1,
    max_executors: int | None = None,
) -> Agent:
    """Watch a running PySpark job, and let it be scaled, with one line in it.

    Without `redis_url` it is the one of WEIR_REDIS_URL, or of the demo that runs in this folder.
    The job never waits for Redis: without it, samples are kept for a while, then dropped
    and counted. Close the agent, or simply stop the session, and nothing is left behind.
    """
    if not hasattr(spark, "_jsparkSession") or spark.__class__.__module__.startswith(
        "pyspark.sql.connect"
    ):
        raise InvalidInput(
            "attach needs the driver itself, and this is a session of Spark Connect: call attach "
            "in the application that runs the Connect server, or import its event log",
            field="spark",
        )
    executors = SparkExecutors(spark, min_executors, 0, wanted=0)
    there = len(executors.present())
    most = most_of(spark.sparkContext.getConf().get, there)
    executors.maximum = max_executors or max(most, min_executors)
    return Agent(
        spark,
        name,
        RedisStore.at(redis_url or usual_redis()),
        period_s=period_s,
        executors=executors,
    ).start()


def most_of(setting: Callable[[str], str | None], there: int) -> int:
    """The most executors that Spark's own settings let an application have; those that are
    there, where nothing says so.

    >>> most_of({"spark.cores.max": "12", "spark.executor.cores": "3"}.get, 2)
    4
    >>> most_of({"spark.dynamicAllocation.maxExecutors": "8"}.get, 2), most_of({}.get, 2)
    (8, 2)
    """
    said = []
    with contextlib.suppress(TypeError, ValueError):
        said.append(int(setting("spark.dynamicAllocation.maxExecutors") or ""))
    with contextlib.suppress(TypeError, ValueError):
        cores = int(setting("spark.executor.cores") or "")
        said.append(int(setting("spark.cores.max") or "") // max(1, cores))
    with contextlib.suppress(TypeError, ValueError):
        there = max(there, int(setting("spark.executor.instances") or ""))
    return min(said) if said else there


def _application(
    spark: SparkSession, executors: SparkExecutors, name: str, hosted: bool
) -> dict[str, Any]:
    context = spark.sparkContext
    why_not = executors.why_not()
    return {
        "name": name,
        "app_id": context.applicationId,
        "app_name": context.appName,
        "spark_version": spark.version,
        "ui_url": context.uiWebUrl or "",
        "can_scale": not why_not,
        "hosted": hosted,
        "message": why_not,
    }


def _cores(poll: Poll, before: int) -> int:
    """Cores of an executor, as those that are there have them: without a setting, a Standalone
    worker gives all of its own."""
    found = [e.cores for e in poll.executors.values()]
    return max(1, round(sum(found) / len(found))) if found else before


def _memory_bytes(spark: SparkSession) -> int:
    runtime = spark.sparkContext._jsc.sc().executorMemory()
    return int(runtime) * 1024 * 1024
