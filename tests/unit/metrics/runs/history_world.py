"""Samples and stores for the tests of recording and replay."""

import random
from pathlib import Path

from tests.support.models import demo, sample_of
from weir.controllers.model.sample import (
    Batch,
    Cluster,
    ClusterSample,
    Executor,
    OperatorSample,
    OperatorStatus,
)
from weir.metrics.runs.writer import LiveRun
from weir.metrics.store.memory_store import MemoryStore

T0 = 1_800_000_000.0  # 2027-01-15 08:00 UTC


def sample(cluster: str, at: float, *, executors: int = 2, run: str = "r1") -> ClusterSample:
    """A report in which most fields differ from their defaults."""
    k = round(at) % 97
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(
            name=cluster, app_id=f"app-{cluster}", executors=executors, executors_wanted=executors,
            max_executors=6, can_scale=True, hosted=True, busy_cores=k / 10, message="é ☃",
            declared={"a": ("a-idle", "a-op"), "c": ()}.get(cluster),
        ),
        operators=(
            OperatorSample(
                name=f"{cluster}-op", cluster=cluster, run_id=run, reads=("in", "side"),
                writes=("out",), arrival_rows_per_s=100.0 + k, processed_rows_per_s=99.0,
                cost_s_per_row=0.004 if k % 3 else None, load=k / 50, queue_rows=k if k % 2 else None,
                latency_p50_s=1.0 + k / 10 if k % 5 else None, latency_max_s=2.0 + k / 10,
                batch_id=k, batch_at=at - 0.3, stateful=True, state_bytes=k * 1000,
            ),
            OperatorSample(name=f"{cluster}-idle", cluster=cluster, status=OperatorStatus.STOPPED),
        ),
        executors=tuple(
            Executor(id=str(i), host="h", cores=1, busy_share=0.5, tasks=k) for i in range(executors)
        ),
        batches=tuple(
            Batch(
                operator=f"{cluster}-op", id=k * 3 + i, run_id=run if k % 7 else None, rows=10 * i,
                committed_at=at - 1 + i / 3, processing_s=0.2, latency_p50_s=1.0 if i else None,
            )
            for i in range(k % 3)
        ),
    )  # fmt: skip


def demo_run(folder: Path) -> Path:
    """A folder with one run: six minutes of the demo, whose first cluster is scaled once."""
    run, rng, models = LiveRun.create(folder, T0), random.Random(1), demo()
    for i in range(180):
        models[0].executors = 3 if i < 90 else 4
        for model in models:
            run.add(sample_of(model, 300 + 2 * (i % 60), T0 + 2 * i, 2.0, rng))
    run.flush(complete=True)
    return folder


def fed(seconds: int, clusters: tuple[str, ...] = ("a", "b"), start: float = T0) -> MemoryStore:
    """A store with a report of each cluster every two seconds."""
    store = MemoryStore()
    feed(store, start, seconds, clusters)
    return store


def feed(
    store: MemoryStore, start: float, seconds: int, clusters: tuple[str, ...] = ("a", "b")
) -> list[ClusterSample]:
    """Further reports; the second cluster reports half a period later."""
    made = []
    for i in range(seconds // 2):
        for k, name in enumerate(clusters):
            one = sample(name, start + 2.0 * (i + 1) + 0.5 * k)
            assert store.append(one)
            made.append(one)
    return made
