"""Reports like those of real agents, written into a real Redis in real time.

By default the shape of the demo: cluster "wide" with the operator "extractor",
cluster "narrow" with "topic_count" and "top_n". With N clusters x M operators it
makes load for benchmarks. The figures follow a small model: what arrives beyond
the capacity waits in the queue, and latency grows with it.

    python -m tests.support.feeder --redis redis://127.0.0.1:6379/0 --minutes 5
"""

import argparse
import math
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import redis

from controllers.engine.ports import Part, Workload
from controllers.model.snapshot import Cluster, ClusterSample, Executor, Operator
from metrics.redis_store import RedisStore


@dataclass
class OperatorModel:
    """One operator: how much of the rate reaches it and what a row costs."""

    name: str
    reads: str
    writes: str = ""
    share: float = 1.0  # rows in per row generated
    cost_s_per_row: float = 0.004
    stateful: bool = False
    queue_rows: float = 0.0
    batch_id: int = 0


@dataclass
class ClusterModel:
    """One cluster with its operators."""

    name: str
    executors: int
    operators: list[OperatorModel]
    most: int = 6
    phase: float = 0.0
    added_at: float = field(default_factory=time.time)


def demo() -> list[ClusterModel]:
    """The demo's two clusters."""
    return [
        ClusterModel("wide", 3, [OperatorModel("extractor", "tweets", "topics", 1.0, 0.0045)]),
        ClusterModel(
            "narrow",
            1,
            [
                OperatorModel("topic_count", "topics", "counts", 1.0, 0.0016, stateful=True),
                OperatorModel("top_n", "counts", "", 0.35, 0.0009),
            ],
            phase=1.0,
        ),
    ]


def many(clusters: int, operators: int) -> list[ClusterModel]:
    """N clusters x M operators, each reading what the one before writes."""
    return [
        ClusterModel(
            f"cluster-{c:02}",
            2,
            [
                OperatorModel(f"op-{c:02}-{o:02}", f"d-{c:02}-{o:02}", f"d-{c:02}-{o + 1:02}",
                              cost_s_per_row=0.002 / operators)
                for o in range(operators)
            ],
            phase=c,
        )
        for c in range(clusters)
    ]  # fmt: skip


def sample_of(
    model: ClusterModel, rate_rows_per_s: float, at: float, period_s: float, rng: random.Random
) -> ClusterSample:
    """The next report of a cluster; changes the queues of its model."""
    capacity = float(model.executors)
    arrivals = [
        rate_rows_per_s * o.share * (1 + 0.08 * rng.uniform(-1, 1)) for o in model.operators
    ]
    wanted = sum(
        (a + o.queue_rows / period_s) * o.cost_s_per_row
        for a, o in zip(arrivals, model.operators, strict=True)
    )
    speed = min(1.0, capacity * 0.97 / wanted) if wanted else 1.0
    operators = [
        _operator_of(model, o, a, speed, at, period_s, rng)
        for o, a in zip(model.operators, arrivals, strict=True)
    ]
    busy = sum(o.busy_cores for o in operators)
    executors = tuple(
        Executor(
            id=str(i), host="127.0.0.1", cores=1,
            busy_share=min(1.0, busy / capacity * rng.uniform(0.94, 1.06)),
            tasks=rng.randint(8, 16), memory_bytes=int(rng.uniform(180e6, 320e6)),
            memory_max_bytes=1_073_741_824, added_at=model.added_at,
        )
        for i in range(model.executors)
    )  # fmt: skip
    return ClusterSample(
        at=at,
        period_s=period_s,
        cluster=Cluster(
            name=model.name, app_id=f"app-20260101-{model.name}", app_name=model.name,
            spark_version="4.3.0", ui_url="http://127.0.0.1:4040",
            executors=model.executors, executors_wanted=model.executors,
            max_executors=model.most, can_scale=True, hosted=True, busy_cores=busy,
        ),
        operators=tuple(operators),
        executors=executors,
    )  # fmt: skip


def _operator_of(
    model: ClusterModel, operator: OperatorModel, arrival: float, speed: float, at: float,
    period_s: float, rng: random.Random,
) -> Operator:  # fmt: skip
    done = (arrival + operator.queue_rows / period_s) * speed
    operator.queue_rows = max(0.0, operator.queue_rows + (arrival - done) * period_s)
    operator.batch_id += 1
    processing_s = 0.4 + done * operator.cost_s_per_row / model.executors * 0.9
    waiting_s = 0.3 + operator.queue_rows / max(done, 1.0)
    median_s = processing_s + waiting_s + rng.uniform(0, 0.15)
    return Operator(
        name=operator.name, cluster=model.name, lease_token=1, query_id=f"q-{operator.name}",
        reads=(operator.reads,), writes=(operator.writes,) if operator.writes else (),
        arrival_rows_per_s=arrival, processed_rows_per_s=done,
        cost_s_per_row=operator.cost_s_per_row, load=arrival * operator.cost_s_per_row,
        busy_cores=done * operator.cost_s_per_row, run_time_s=done * operator.cost_s_per_row * period_s,
        queue_rows=int(operator.queue_rows), processing_s=processing_s, scheduling_s=waiting_s,
        latency_p50_s=median_s, latency_max_s=median_s * 1.4 + rng.uniform(0, 0.5),
        batch_id=operator.batch_id, batch_at=at - rng.uniform(0.02, 0.2) * period_s,
        batch_rows=int(done * period_s), batches=1,
        state_rows=5000 if operator.stateful else None,
        state_bytes=1_400_000 if operator.stateful else None, stateful=operator.stateful,
        tasks=8, skew=rng.uniform(1.05, 1.9), row_bytes=180.0,
    )  # fmt: skip


class Feeder:
    """Writes the reports of several clusters, with the beats of engine, hosts and generator."""

    def __init__(
        self,
        redis_url: str,
        models: Sequence[ClusterModel] | None = None,
        *,
        period_s: float = 2.0,
        rate_rows_per_s: float = 400.0,
        seed: int = 7,
    ) -> None:
        self.store = RedisStore.at(redis_url)
        self.models = list(demo() if models is None else models)
        self.period_s = period_s
        self._rate = rate_rows_per_s
        self._rng = random.Random(seed)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def history(self, minutes: float) -> None:
        """Fill the past, so that charts are not empty at first."""
        now = time.time()
        at = now - minutes * 60
        while at < now - self.period_s:
            for model in self.models:
                wave = 1 + 0.3 * math.sin(at / 90 + model.phase)
                self.store.append(sample_of(model, self._rate * wave, at, self.period_s, self._rng))
            at += self.period_s

    def start(self, *, parts: bool = True) -> "Feeder":
        """Go on in a thread until stopped; survives a Redis that is away."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(parts,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Fall silent, as if the agents had died."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=15)
            self._thread = None

    def _run(self, parts: bool) -> None:
        ensured = False
        due = {m.name: time.time() + i * self.period_s / max(len(self.models), 1)
               for i, m in enumerate(self.models)}  # fmt: skip
        beat_at = 0.0
        while not self._stop.wait(0.05):
            now = time.time()
            try:
                if parts and not ensured:
                    if not self.store.workloads():
                        self.store.set_workload(Workload(name="tweets", rows_per_s=self._rate))
                    ensured = True
                if parts and now - beat_at >= 1.0:
                    beat_at = now
                    self._beat(now)
                for model in self.models:
                    if now >= due[model.name]:
                        due[model.name] += self.period_s
                        self._report(model, now, parts)
            except redis.exceptions.RedisError:
                ensured = False

    def _report(self, model: ClusterModel, now: float, steered: bool) -> None:
        rate = self._rate
        if steered:
            found = next(iter(self.store.workloads()), None)
            rate = 0.0 if found and found.paused else found.rows_per_s if found else rate
        wave = 1 + 0.3 * math.sin(now / 90 + model.phase)
        self.store.append(sample_of(model, rate * wave, now, self.period_s, self._rng))

    def _beat(self, now: float) -> None:
        self.store.beat(Part(id="engine", kind="engine", name="engine", at=now))
        self.store.beat(Part(id="generator:tweets", kind="generator", name="tweets", at=now))
        for model in self.models:
            self.store.beat(Part(id=f"host:{model.name}", kind="host", name=model.name, at=now))


def main() -> None:
    """Feed until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--clusters", type=int, default=0, help="0: the demo's two")
    parser.add_argument("--operators", type=int, default=3)
    parser.add_argument("--period", type=float, default=2.0)
    parser.add_argument("--minutes", type=float, default=0.0, help="of history to begin with")
    options = parser.parse_args()
    models = many(options.clusters, options.operators) if options.clusters else demo()
    feeder = Feeder(options.redis, models, period_s=options.period)
    feeder.history(options.minutes)
    feeder.start()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        feeder.stop()


if __name__ == "__main__":
    main()
