"""Clusters and operators that exist only as figures, and the reports that they would give."""

import random
import time
from dataclasses import dataclass, field

from weir.controllers.model.sample import Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.slicing import Slicing, sliced_operator


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
    arrival_rows_per_s: float = 0.0  # as last reported
    run_id: str = "run-0"
    first_batch_at: float | None = None
    pause_s: float | None = None
    key_groups: tuple[int, ...] = ()  # of a slice


@dataclass
class ClusterModel:
    """One cluster with its operators."""

    name: str
    executors: int
    operators: list[OperatorModel]
    most: int = 6
    phase: float = 0.0
    wanted: int | None = None  # None: as many as there are
    granted: int | None = None  # None: not told
    message: str = ""
    agent: bool = True  # one that can scale
    added_at: float = field(default_factory=time.time)

    @property
    def app_id(self) -> str:
        """Its Spark application."""
        return f"app-20260101-{self.name}"


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


def sliced() -> list[ClusterModel]:
    """The demo with topic_count in three slices, of which the first has most key groups."""
    wide, narrow = demo()
    owners = SLICES.owners
    slices = [
        OperatorModel(name, "topics", "counts", len(owned) / 64, 0.0016, stateful=True,
                      key_groups=owned)
        for name, owned in owners.items()
    ]  # fmt: skip
    wide.operators.append(slices[2])
    narrow.operators = [*slices[:2], narrow.operators[1]]
    return [wide, narrow]


SLICES = Slicing(
    operator="topic_count",
    owners={
        "topic_count.0": tuple(range(40)),
        "topic_count.1": tuple(range(40, 56)),
        "topic_count.2": tuple(range(56, 64)),
    },
)


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
            name=model.name, app_id=model.app_id, app_name=model.name,
            spark_version="4.3.0", ui_url="http://127.0.0.1:4040",
            executors=model.executors, executors_wanted=model.wanted or model.executors,
            executors_granted=model.granted, message=model.message,
            max_executors=model.most, can_scale=model.agent, hosted=True, busy_cores=busy,
        ),
        operators=tuple(operators),
        executors=executors,
    )  # fmt: skip


def _operator_of(
    model: ClusterModel, operator: OperatorModel, arrival: float, speed: float, at: float,
    period_s: float, rng: random.Random,
) -> OperatorSample:  # fmt: skip
    operator.arrival_rows_per_s = arrival
    done = (arrival + operator.queue_rows / period_s) * speed
    operator.queue_rows = max(0.0, operator.queue_rows + (arrival - done) * period_s)
    operator.batch_id += 1
    processing_s = 0.4 + done * operator.cost_s_per_row / model.executors * 0.9
    waiting_s = 0.3 + operator.queue_rows / max(done, 1.0)
    median_s = processing_s + waiting_s + rng.uniform(0, 0.15)
    return OperatorSample(
        name=operator.name, cluster=model.name, lease_token=1, query_id=f"q-{operator.name}",
        run_id=operator.run_id, first_batch_at=operator.first_batch_at, pause_s=operator.pause_s,
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
        slice_of=sliced_operator(operator.name) if operator.key_groups else "",
        key_groups=operator.key_groups,
        group_rows_per_s=tuple(arrival / len(operator.key_groups) for _ in operator.key_groups),
    )  # fmt: skip
