"""A small cluster for live comparisons of scalers: Redis, Spark Standalone and one streaming query.

The query reads readings of smart plugs and each row waits, as if it called a remote service, so
that executors count although all of them share the processors of one machine.
"""

import itertools
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F

from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.sample import Batch, ClusterSample
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.agent.agent import Agent
from weir.metrics.agent.executors import SparkExecutors
from weir.metrics.agent.track import Backlog, OperatorFacts
from weir.metrics.store.memory_store import MemoryStore
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import FORMAT, EdgeSource
from weir.pipeline.edges.stream import EdgeStream, chunks_of
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.live import BY
from weir.pipeline.experiments.live_places import scale_command
from weir.pipeline.hosts.operator import observed
from weir.pipeline.workloads.cost import with_cost
from weir.pipeline.workloads.plugs import readings

CLUSTER, OPERATOR = "lab", "predictor"
SHARDS, PERIOD_S, FEED_S = 8, 1.0, 0.2
WARM_ROWS_PER_S = 40.0
_SCHEMA = "ts double, text string"


class Cluster:
    """One application that can be fed, measured and scaled."""

    def __init__(
        self, bench: Bench, most: int, trigger_s: float, cost_s: float, max_rows: int
    ) -> None:
        from weir.pipeline.hosts.session import LOCAL_CHECKPOINTS, create_session
        from weir.pipeline.local.redis_server import RedisServer
        from weir.pipeline.local.standalone import Standalone

        self._open = ExitStack()
        bench.open.callback(self.close)
        folder = bench.folder / "cluster"
        shutil.rmtree(folder, ignore_errors=True)
        bench.tell("Redis and Spark start", 0.0)
        server = RedisServer(folder / "redis").start()
        self._open.callback(server.stop)
        standalone = Standalone(folder / "spark", cores=most, memory=f"{most}g").start()
        self._open.callback(standalone.stop)
        self.most = most
        self._spark = create_session(
            standalone.url, "lab-qspark-9", executors=1, max_executors=most,
            local_dir=folder / "local", conf=LOCAL_CHECKPOINTS,
        )  # fmt: skip
        self._open.callback(self._spark.stop)
        client = connect(server.url)
        self._open.callback(client.close)
        self._edge = EdgeStream(client, "lab-readings", SHARDS)
        self._query = self._started(server.url, trigger_s, cost_s, max_rows, str(folder / "query"))
        self._open.callback(self._query.stop)
        self.store: Store = MemoryStore()
        self._trigger_s = trigger_s
        agent = Agent(
            self._spark, CLUSTER, self.store, period_s=PERIOD_S,
            executors=SparkExecutors(self._spark, 1, most, wanted=1), facts=self._facts,
        )  # fmt: skip
        agent.start()
        self._open.callback(agent.close)
        self._rate = 0.0
        self._over = threading.Event()
        self._failed: list[BaseException] = []
        threading.Thread(target=self._feed, name="lab-feed", daemon=True).start()
        self._open.callback(self._over.set)

    def close(self) -> None:
        """Stop everything."""
        self._open.close()

    def _started(self, url: str, trigger_s: float, cost_s: float, max_rows: int, at: str) -> Any:
        self._spark.dataSource.register(EdgeSource)
        rows = (
            self._spark.readStream.format(FORMAT)
            .options(redis=url, edge="lab-readings", shards=SHARDS, consumer=OPERATOR)
            .options(schema=_SCHEMA, maxRows=max_rows, tasks=SHARDS)
            .load()
        )
        done = with_cost(observed(rows, F.col("ts")), cost_s, "wait")
        writer = done.writeStream.format("noop").queryName(OPERATOR)
        milliseconds = f"{int(1000 * trigger_s)} milliseconds"
        return writer.option("checkpointLocation", at).trigger(processingTime=milliseconds).start()

    def _facts(self) -> Sequence[OperatorFacts]:
        counters = self._edge.counters().values()
        done = self._edge.committed().get(OPERATOR, {})
        backlog = Backlog(
            appended_rows=sum(rows for rows, _ in counters),
            appended_bytes=sum(size for _, size in counters),
            committed_rows=sum(done.values()),
        )
        return (
            OperatorFacts(
                name=OPERATOR, query_id=str(self._query.id), trigger_s=self._trigger_s,
                reads=("lab-readings",), backlog=backlog,
            ),
        )  # fmt: skip

    # -- rows

    def rate(self, rows_per_s: float) -> None:
        """This many rows per second from now on."""
        if self._failed:
            raise self._failed[0]
        if self._query.exception() is not None:
            raise Unavailable(f"the query failed: {self._query.exception()}")
        self._rate = rows_per_s

    def _feed(self) -> None:
        owed, number, first = 0.0, itertools.count(), 0
        try:
            while not self._over.wait(FEED_S):
                owed += self._rate * FEED_S
                count = int(owed)
                owed -= count
                if count:
                    self._append(first, count, next(number))
                    first += count
        except BaseException as error:
            if not self._over.is_set():
                self._failed.append(error)

    def _append(self, first: int, count: int, batch: int) -> None:
        texts, now = readings(first, count), time.time()
        rows = pa.record_batch({"ts": pa.array([now] * count, pa.float64()), "text": texts})
        chunks = []
        for shard in range(SHARDS):
            begin, end = shard * count // SHARDS, (shard + 1) * count // SHARDS
            if end > begin:
                chunks += chunks_of((shard + batch) % SHARDS, rows.slice(begin, end - begin))
        self._edge.append("lab", batch, chunks)

    def drained(self, since: float) -> bool:
        """Whether a sample that began after that moment says that no row waits.

        The source itself hears of a batch only with the next one.
        """
        snapshot = self.snapshot()
        operator = snapshot.operator(OPERATOR)
        newest = max((s.at for s in self.store.latest()), default=0.0)
        return operator is not None and newest > since + PERIOD_S and operator.queue_rows == 0

    # -- size

    def scale(self, executors: int) -> None:
        """Tell the agent, without waiting."""
        self.store.submit(scale_command(CLUSTER, executors, BY))

    def snapshot(self) -> Snapshot:
        """The present."""
        return Snapshot.of(self.store.latest(), time.time())

    def executors(self) -> int | None:
        """How many are there."""
        found = self.snapshot().cluster(CLUSTER)
        return None if found is None else found.executors

    def samples(self, begin: float, end: float) -> Sequence[ClusterSample]:
        """What was measured."""
        return list(self.store.samples(CLUSTER, begin, end))

    def settle(self, executors: int, tell: Callable[[str], None]) -> None:
        """No rows wait, and there are this many executors, each of which has done some."""
        self.rate(0.0)
        tell("what waits is worked off")
        self.scale(max(executors, self.executors() or 1))
        self._drain("the rows of the run before are done")
        tell(f"{executors} executors")
        self.scale(executors)
        _until(lambda: self.executors() == executors, f"{executors} executors are there")
        self.rate(WARM_ROWS_PER_S)  # the first batch of an executor takes seconds
        time.sleep(2 * self._trigger_s)
        self.rate(0.0)
        self._drain("the first rows are done")

    def _drain(self, what: str) -> None:
        since = time.time() + FEED_S
        _until(lambda: self.drained(since), what)


def held(batches: Sequence[Batch], began: float, ended: float) -> tuple[list[float], list[float]]:
    """For how many seconds which latency held: up to a commit, that of the batch it ends.

    After the last commit rows have waited at least as long as that is ago.

    >>> batch = Batch(operator="a", id=1, committed_at=7.0, processing_s=1.0, rows=5, latency_p50_s=3.0)
    >>> held([batch], 5.0, 11.0)
    ([2.0, 4.0], [3.0, 4.0])
    """
    seconds, latencies, last = [], [], began
    for batch in sorted(batches, key=lambda b: b.committed_at):
        seconds.append(batch.committed_at - last)
        latencies.append(batch.latency_p50_s or batch.processing_s)
        last = batch.committed_at
    return [*seconds, ended - last], [*latencies, ended - last]


def _until(holds: Callable[[], bool], what: str, timeout_s: float = 120.0) -> None:
    until = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > until:
            raise Unavailable(f"it takes too long until {what}")
        time.sleep(0.25)
