"""A live network of queues on Spark: DRS's applications with processors that can be counted.

Each operator has a queue in Redis and a number of processors. A processor is one task of a Spark
job, in a slot and a Python worker of its own, and runs until it is told to stop. It takes the
oldest row, works on it, passes on what follows and says when the row came, when it was begun and
when it was done. To work is to wait, as for a remote service: so 22 processors do not get in each
other's way on two cores, and queues, hand-overs and times are real.

DRS counts executors of Storm, which take one row at a time. Spark's streaming queries take rows in
batches, whose times would hide those of the queues; so the tasks here live as long as Storm's.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import redis
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from weir.controllers.model.errors import Unavailable
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.drs_rows import Arrival, Queued, Served

SLOTS = 96
POLL_S = 0.1
STOP = b""
_READY_S = 120.0


def session(bench: Bench, name: str) -> tuple[SparkSession, str]:
    """Spark with many slots and a Redis, for all parts of an experiment."""
    if "spark" not in bench.shared:
        from weir.pipeline.hosts.session import create_session
        from weir.pipeline.local.redis_server import RedisServer

        bench.tell("Redis and Spark start", 0.0)
        server = RedisServer(bench.folder / "redis").start()
        bench.open.callback(server.stop)
        spark = create_session(
            f"local[{SLOTS}]", f"lab-{name}", executors=1, max_executors=1,
            local_dir=bench.folder / "spark",
        )  # fmt: skip
        bench.open.callback(spark.stop)
        bench.shared["spark"], bench.shared["redis"] = spark, server.url
    return bench.shared["spark"], bench.shared["redis"]


class LiveNetwork:
    """The operators of one application, their queues and their processors."""

    def __init__(self, spark: SparkSession, redis_url: str, operators: Sequence[str]) -> None:
        self.operators = tuple(operators)
        self._spark, self._url = spark, redis_url
        self._client = redis.Redis.from_url(redis_url)
        self._name = f"lab:{time.monotonic_ns()}"
        self._has: dict[str, int] = dict.fromkeys(operators, 0)
        self._started = 0
        self._threads: list[threading.Thread] = []
        self._failed: list[BaseException] = []
        self._ended = threading.Event()
        self.began = 0.0  # when the first arrival was due, on the clock of `Served`
        self.late_s = 0.0  # how late the latest arrival was put into its queue

    @property
    def allocation(self) -> tuple[int, ...]:
        """Processors of each operator, in order."""
        return tuple(self._has[o] for o in self.operators)

    def give(self, allocation: Sequence[int], wait: bool = True) -> None:
        """Start or stop processors until each operator has as many as wanted; others work on."""
        for operator, wanted in zip(self.operators, allocation, strict=True):
            more = wanted - self._has[operator]
            if more > 0:
                self._start(operator, more)
            for _ in range(-more):  # before all rows, for whoever is free next
                self._client.lpush(self._key(operator), STOP)
            self._has[operator] = wanted
        if wait:
            self._wait_ready()

    def _start(self, operator: str, count: int) -> None:
        self._started += count
        serve = _processor(self._url, self._name, operator)

        def job() -> None:
            try:
                self._spark.sparkContext.parallelize(range(count), count).foreachPartition(serve)
            except BaseException as error:
                if not self._ended.is_set():
                    self._failed.append(error)

        thread = InheritableThread(target=job, name=f"lab-{operator}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _wait_ready(self) -> None:
        until = time.monotonic() + _READY_S
        while self.ready() < self._started:
            self.check()
            if time.monotonic() > until:
                raise Unavailable(f"only {self.ready()} of {self._started} processors started")
            time.sleep(0.02)

    def ready(self) -> int:
        """How many processors have begun, of all that ever were asked for."""
        found: Any = self._client.get(f"{self._name}:ready")
        return int(found or 0)

    def feed(self, arrivals: Sequence[Arrival]) -> None:
        """Put every row into its queue when it is due, from now on, in a thread."""
        self.began, self.late_s = time.monotonic() + 0.05, 0.0
        thread = threading.Thread(target=self._feed, args=(arrivals, self.began), daemon=True)
        thread.start()

    def _feed(self, arrivals: Sequence[Arrival], began: float) -> None:
        try:
            with redis.Redis.from_url(self._url) as client:
                for number, arrival in enumerate(arrivals):
                    if self._ended.wait(max(0.0, began + arrival.at - time.monotonic())):
                        return
                    at = time.monotonic()
                    self.late_s = max(self.late_s, at - began - arrival.at)
                    queued = msgspec.msgpack.encode(Queued(number, at, arrival.row))
                    client.rpush(self._key(arrival.row.operator), queued)
        except BaseException as error:
            if not self._ended.is_set():
                self._failed.append(error)

    def served(self) -> list[Served]:
        """What was done since this was last asked."""
        self.check()
        found: Any = self._client.lpop(f"{self._name}:served", 100_000)
        return [msgspec.msgpack.decode(raw, type=Served) for raw in found or ()]

    def check(self) -> None:
        """Raise what made a processor or the source fail."""
        if self._failed:
            raise self._failed[0]

    def close(self) -> None:
        """Stop all processors and forget the queues."""
        self._ended.set()
        for operator in self.operators:
            self._client.delete(self._key(operator))
        self.give([0] * len(self.operators), wait=False)
        for thread in self._threads:
            thread.join(20.0)
        names = [self._key(o) for o in self.operators]
        self._client.delete(f"{self._name}:ready", f"{self._name}:served", *names)
        self._client.close()

    def _key(self, operator: str) -> str:
        return f"{self._name}:{operator}"


def _processor(url: str, name: str, operator: str) -> Callable[[Iterable[Any]], None]:
    """What a task does until it is told to stop."""

    def serve(_: Iterable[Any]) -> None:
        # Without a limit: a row may be long in coming, and one that was taken must not be lost.
        client = redis.Redis.from_url(url, socket_timeout=None)
        client.incr(f"{name}:ready")
        while True:
            found: Any = client.blpop([f"{name}:{operator}"])
            begun = time.monotonic()
            if found[1] == STOP:
                return
            queued = msgspec.msgpack.decode(found[1], type=Queued)
            row = queued.row
            time.sleep(row.work_s)
            done = time.monotonic()
            following: dict[str, list[bytes]] = defaultdict(list)
            for then in row.then:
                item = Queued(queued.arrival, done, then)
                following[then.operator].append(msgspec.msgpack.encode(item))
            sent = {target: len(rows) for target, rows in following.items()}
            said = Served(queued.arrival, operator, queued.at, begun, done, sent)
            with client.pipeline(transaction=False) as together:
                for target, rows in following.items():
                    together.rpush(f"{name}:{target}", *rows)
                together.rpush(f"{name}:served", msgspec.msgpack.encode(said))
                together.execute()

    return serve


def run(
    networks: Sequence[LiveNetwork],
    arrivals: Sequence[Arrival],
    tell: Callable[[float], None] = lambda share: None,
    most_s: float = 600.0,
) -> list[list[Served]]:
    """The same rows through all of these networks at once, until the last one is done."""
    total = sum(a.row.rows for a in arrivals)
    for network in networks:
        network.feed(arrivals)
    began = time.monotonic()
    found: list[list[Served]] = [[] for _ in networks]
    while any(len(served) < total for served in found):
        time.sleep(POLL_S)
        for network, served in zip(networks, found, strict=True):
            served += network.served()
        least = min(map(len, found))
        tell(min(0.99, least / total))
        if time.monotonic() - began > most_s:
            raise Unavailable(f"{total - least} of {total} rows are not done in {most_s:g} s")
    return found
