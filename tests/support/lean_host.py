"""A host without Spark, as a process that may be killed or suspended: the real publisher, leases
and runner, with a query that appends numbered rows to an edge.

    python -m tests.support.lean_host REDIS_URL CLUSTER OPERATOR
"""

import os
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from weir.controllers.engine.ports import Part, Placement
from weir.controllers.model.errors import Fenced
from weir.controllers.model.sample import Cluster, ClusterSample
from weir.controllers.model.sample import OperatorSample as Reported
from weir.metrics.agent.publisher import Publisher
from weir.metrics.store.redis_store import RedisStore, connect
from weir.pipeline.edges.stream import EdgeStream, chunks_of
from weir.pipeline.hosts.operator import Context, Operator
from weir.pipeline.hosts.runner import Runner

EDGE = "numbers"
PERIOD_S = 0.5


class Query(threading.Thread):
    """Appends the number of each batch; what is there already is known from the edge."""

    def __init__(self, url: str, name: str, fence: int) -> None:
        super().__init__(daemon=True)
        self.id = self.run_id = f"{name}-{fence}"
        self.first_batch_at: float | None = None
        self._edge = EdgeStream(connect(url), EDGE, 1)
        self._producer = name
        self._fence = fence
        self._stop_event = threading.Event()
        self._jsq = SimpleNamespace(lastProgress=lambda: None)

    @property
    def isActive(self) -> bool:
        return self.is_alive()

    def run(self) -> None:
        batch = self._edge.last_batch(self._producer) + 1
        while not self._stop_event.is_set():
            rows = pa.record_batch({"n": [batch]})
            try:
                self._edge.append(self._producer, batch, chunks_of(0, rows), fence=self._fence)
            except Fenced:
                print("fenced", flush=True)
                return
            self.first_batch_at = self.first_batch_at or time.time()
            batch += 1
            self._stop_event.wait(0.1)

    def stop(self) -> None:
        self._stop_event.set()
        self.join()

    def exception(self) -> None:
        return None


class Writer(Operator):
    """An operator whose query needs no Spark."""

    def start(self, spark: Any, context: Context, checkpoints: Path) -> object:
        query = Query(context.redis_url, self.name, context.fence)
        query.start()
        return query


def main(url: str, cluster: str, operator: str) -> None:
    """Live until killed."""
    store = RedisStore.at(url)
    holder = f"app-{cluster}/{os.getpid()}"
    store.place_if(Placement(operator=operator, cluster=cluster), seen=None)

    def part() -> Part:
        return Part(
            id=f"host:{cluster}", kind="host", name=cluster, at=time.time(), pid=os.getpid()
        )

    publisher = Publisher(store, cluster, holder, part)
    publisher.start()
    spark: Any = None
    build: Any = None
    runner = Runner(Writer(operator, build), spark, store, holder, url, Path("/tmp"))
    threading.Thread(target=_renew, args=(runner,), daemon=True).start()
    told_at = 0.0
    while True:
        runner.step(store.placements()[operator].cluster == cluster)
        if time.time() - told_at > PERIOD_S:
            told_at = time.time()
            publisher.put(_sample(cluster, operator, runner, told_at))
        time.sleep(0.05)


def _renew(runner: Runner) -> None:
    while True:
        runner.renew()
        time.sleep(0.5)


def _sample(cluster: str, operator: str, runner: Runner, at: float) -> ClusterSample:
    facts, query = runner.facts(), runner._query
    here = Reported(
        name=operator, cluster=cluster, status=facts.status, lease_token=facts.lease_token,
        run_id=query.run_id if query else None, load=0.1, queue_rows=0,
        first_batch_at=query.first_batch_at if query else None,
    )  # fmt: skip
    return ClusterSample(
        at=at, period_s=PERIOD_S,
        cluster=Cluster(
            name=cluster, app_id=f"app-{cluster}", executors=1, executors_wanted=1, hosted=True,
            declared=(operator,),
        ),
        operators=(here,) if query or facts.lease_token else (),
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:4])
