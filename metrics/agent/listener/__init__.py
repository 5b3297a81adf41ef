"""What a Spark driver can tell about itself, fetched as one text per period.

A listener written in Python would cross into Python for every event. `Listener.java` beside
this file is compiled in the driver by the Janino that Spark ships, aggregates there, and is
polled.
"""

import time
from functools import cached_property
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct, field
from pyspark.sql import SparkSession

from weir.controllers.model.errors import Unavailable

QUEUE = "appStatus"
SET_S = 1.0
"""Two clocks that say of a period that it was this much longer: one of them was set."""


class TaskWork(Struct, frozen=True):
    """Tasks of one query since the last poll."""

    run_ms: int = 0
    cpu_ns: int = 0
    busy_ms: int = 0
    tasks: int = 0
    failed: int = 0
    median_ms: int = 0
    longest_ms: int = 0


class ExecutorWork(Struct, frozen=True):
    """One executor since the last poll."""

    host: str
    cores: int
    added_ms: int
    busy_ms: int = 0
    tasks: int = 0
    failed: int = 0
    heap_bytes: int = 0


class Removed(Struct, frozen=True):
    """An executor that went."""

    id: str
    at_ms: int
    reason: str | None = None


class Started(Struct, frozen=True):
    """A query that began."""

    id: str
    run_id: str
    name: str | None = None


class Terminated(Struct, frozen=True):
    """A query that ended; with an exception if it failed."""

    id: str
    run_id: str
    exception: str | None = None


class SourceProgress(Struct, frozen=True, rename="camel"):
    """One source of a batch; offsets are whatever JSON the source uses."""

    description: str = ""
    end_offset: Any = None
    latest_offset: Any = None
    num_input_rows: int = 0


class StateProgress(Struct, frozen=True, rename="camel"):
    """One stateful operation of a batch."""

    num_rows_total: int = 0
    memory_used_bytes: int = 0


class Progress(Struct, frozen=True, rename="camel"):
    """One committed batch, as Spark reports it."""

    id: str
    run_id: str
    timestamp: str
    batch_id: int
    name: str | None = None
    num_input_rows: int = 0
    duration_ms: dict[str, int] = {}
    sources: list[SourceProgress] = []
    state_operators: list[StateProgress] = []
    observed_metrics: dict[str, dict[str, Any]] = {}


class Poll(Struct, frozen=True):
    """All that happened in a driver between two polls. Query "" is what belongs to no query."""

    at_ms: int
    since_ms: int
    ended: bool = False
    lost_progress: int = 0
    queries: dict[str, TaskWork] = {}
    executors: dict[str, ExecutorWork] = {}
    removed: list[Removed] = []
    started: list[Started] = []
    progress: list[Progress] = []
    terminated: list[Terminated] = []
    dropped_events: int = field(default=0)


def begin_ms(at_ms: int, since_ms: int, lasted_s: float) -> int:
    """When a period began, by the clock that was right at its end: one that was set meanwhile
    says nothing of how long it was, and every rate is per second.

    >>> begin_ms(10_000, 8_000, lasted_s=2.1), begin_ms(10_000, 3_610_000, lasted_s=2.0)
    (8000, 8000)
    """
    apart_s = abs((at_ms - since_ms) / 1000.0 - lasted_s)
    return since_ms if apart_s <= SET_S else at_ms - round(lasted_s * 1000)


_decode = msgspec.json.Decoder(Poll).decode


def _compile(context: Any) -> Any:
    """The listener's class, compiled once per JVM.

    py4j remembers methods by the name of their class, so a second class of the same name
    could not be called.
    """
    gateway, jvm = context._gateway, context._jvm
    if "weir_listener" not in vars(gateway):  # a gateway seems to have every attribute
        source = files(__package__).joinpath("Listener.java").read_text("utf-8")
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(source)
        gateway.weir_listener = compiler.getClassLoader().loadClass("weir.Listener")
    return gateway.weir_listener


class DriverListener:
    """Attached to a driver until `close`; `poll` tells what happened since the last call."""

    def __init__(self, spark: SparkSession) -> None:
        context = getattr(spark, "_sc", None)
        if context is None or getattr(context, "_jsc", None) is None:
            raise Unavailable(
                "this session has no driver of its own (Spark Connect): attach in the driver's process"
            )
        self._listener = _compile(context).newInstance()
        self._polled_at = time.monotonic()
        self._scala_context = context._jsc.sc()
        self._bus = self._scala_context.listenerBus()
        self._streams = spark._jsparkSession.streams()
        # The queue that feeds the Spark UI: one more queue means one more thread to wake for
        # every event, which took a sixth of the throughput of a job of small tasks.
        self._bus.addToQueue(self._listener, QUEUE)
        self._streams.addListener(self._progress)
        self._seed()

    @cached_property
    def _progress(self) -> Any:
        return self._listener.getClass().getField("progressListener").get(self._listener)

    def _seed(self) -> None:
        """Learn the executors that were there before us."""
        infos = self._scala_context.statusStore().executorList(True)
        for i in range(infos.length()):
            info = infos.apply(i)
            if info.totalCores() > 0:  # the driver runs tasks only in local mode
                host = info.hostPort().split(":")[0]
                self._listener.seed(info.id(), host, info.totalCores(), info.addTime().getTime())

    def poll(self) -> Poll:
        """What happened since the last call."""
        before, self._polled_at = self._polled_at, time.monotonic()
        poll = _decode(self._listener.poll())
        since_ms = begin_ms(poll.at_ms, poll.since_ms, self._polled_at - before)
        return msgspec.structs.replace(poll, since_ms=since_ms, dropped_events=self._dropped())

    def _dropped(self) -> int:
        counter = f"queue.{QUEUE}.numDroppedEvents"
        return int(self._bus.metrics().metricRegistry().counter(counter).getCount())

    def close(self) -> None:
        """Detach; the job is as it was before."""
        self._streams.removeListener(self._progress)
        self._bus.removeListener(self._listener)
