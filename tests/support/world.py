"""A small world for tests of the pages: two clusters, three operators."""

from weir.components.live.world import World, world_of
from weir.controllers.engine.ports import Part, Workload
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.sample import Cluster, ClusterSample, Executor, OperatorSample

START = 1_800_000_000.0


def demo_world(*, periods: int = 5, extra_operator: bool = False, late_s: float = 1.0) -> World:
    """Reports each two seconds; `late_s` after the last one."""
    at = [START + 2.0 * i for i in range(periods)]
    series = {
        "narrow": [narrow(t, i, extra_operator) for i, t in enumerate(at)],
        "wide": [wide(t) for t in at],
    }
    now = at[-1] + late_s
    return world_of(
        series,
        at=now,
        redis_address="127.0.0.1:6379",
        parts=[
            Part(id="engine", kind="engine", name="engine", at=now - 1),
            Part(id="host:wide", kind="host", name="wide", at=now - 1),
            Part(id="host:narrow", kind="host", name="narrow", at=now - 14),
            Part(id="web:1", kind="web", name="1", at=now),
            Part(id="web:2", kind="web", name="2", at=now),
        ],
        workloads=[Workload(name="tweets", rows_per_s=200.0)],
        commands=[
            (
                Command(
                    id="c1", cluster="wide", action=ScaleTo(executors=4), issued_at=START,
                    expires_at=START + 60,
                ),
                CommandResult(id="c1", status=CommandStatus.RUNNING, at=START, progress=0.5),
            )
        ],
    )  # fmt: skip


def wide(at: float) -> ClusterSample:
    """Three executors, one operator that reads from outside."""
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name="wide", executors=3, executors_wanted=3, max_executors=6,
                        can_scale=True, hosted=True, busy_cores=1.5),
        operators=(
            OperatorSample(name="extractor", cluster="wide", reads=("tweets",), writes=("topics",),
                     arrival_rows_per_s=200.0, processed_rows_per_s=200.0, load=1.5,
                     queue_rows=0, latency_p50_s=1.0, latency_max_s=1.5, batch_at=at - 0.1),
        ),
        executors=tuple(Executor(id=str(i), host="h", cores=1, busy_share=0.5) for i in range(3)),
    )  # fmt: skip


def narrow(at: float, index: int, extra_operator: bool = False) -> ClusterSample:
    """One executor, overloaded."""
    operators = [
        OperatorSample(name="topic_count", cluster="narrow", reads=("topics",), writes=("counts",),
                 arrival_rows_per_s=200.0, processed_rows_per_s=150.0, load=1.1,
                 queue_rows=100 * index, latency_p50_s=6.0, latency_max_s=9.0, stateful=True,
                 state_rows=5000, state_bytes=1_000_000, batch_at=at - 0.3),
        OperatorSample(name="top_n", cluster="narrow", reads=("counts",), arrival_rows_per_s=50.0,
                 processed_rows_per_s=50.0, load=0.1, batch_at=None),
    ]  # fmt: skip
    if extra_operator:
        operators.append(OperatorSample(name="audit", cluster="narrow", reads=("counts",)))
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name="narrow", executors=1, executors_wanted=2, max_executors=4,
                        can_scale=True, hosted=True, busy_cores=0.97, dropped_events=3),
        operators=tuple(operators),
        executors=(Executor(id="0", host="h", cores=1, busy_share=0.97),),
    )  # fmt: skip
