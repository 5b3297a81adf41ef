"""What an agent reports of its cluster for one period.

Load is arrivals x cost per row, in busy cores: the work that arrives, whether
or not it is done in time. `busy_cores` is the work that was done. The two are
equal in a steady state and part where a cluster falls behind.

Engine and web keep minutes of these by the hundred thousand. Nothing here can be part
of a cycle, so Python's collector is told to leave it alone (`gc=False`): its full rounds
would stop everything for a fifth of a second.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from weir.controllers.model.slicing import sliced_operator


class Mode(StrEnum):
    """How much a cluster lets the engine do by itself."""

    OBSERVE = "observe"
    RECOMMEND = "recommend"
    APPROVE = "approve"
    AUTO_WITHIN_CRITERIA = "auto_within_criteria"
    AUTO = "auto"

    @property
    def advice_only(self) -> bool:
        """What the engine says cannot be approved."""
        return self in (Mode.OBSERVE, Mode.RECOMMEND)


class OperatorStatus(StrEnum):
    """What an operator's query is doing."""

    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"  # it failed and waits for its next try
    WAITING = "waiting"  # its lease is held elsewhere
    STOPPED = "stopped"
    FAILED = "failed"  # it cannot start; a person has to mend something


BATCHES_MOST = 200
"""Per operator and sample, the newest: a query without pauses must not make samples large."""


class Executor(Struct, frozen=True, kw_only=True, gc=False):
    """One executor of a cluster over one period."""

    id: str
    host: str
    cores: int
    busy_share: float = 0.0  # of its cores, 0..1
    tasks: int = 0  # ended in this period
    failed_tasks: int = 0
    memory_bytes: int = 0  # JVM heap in use, the last figure reported
    memory_max_bytes: int = 0
    added_at: float = 0.0


class OperatorSample(Struct, frozen=True, kw_only=True, gc=False):
    """One streaming query over one period. None means: not measured."""

    name: str
    cluster: str
    status: OperatorStatus = OperatorStatus.RUNNING
    message: str = ""  # why it is not running, for a person
    restarts: int = 0
    lease_token: int | None = None
    query_id: str | None = None
    run_id: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    arrival_rows_per_s: float = 0.0
    processed_rows_per_s: float = 0.0
    cost_s_per_row: float | None = None  # task run time per row
    load: float = 0.0  # arrivals x cost, in cores
    busy_cores: float = 0.0  # task time spent per second
    run_time_s: float = 0.0  # executorRunTime of the tasks that ended in this period
    cpu_time_s: float = 0.0  # executorCpuTime of the same; misses Python workers
    queue_rows: int | None = None
    processing_s: float | None = None  # of the last batch
    scheduling_s: float | None = None  # wait of the median row here before its batch began
    latency_p50_s: float | None = None  # event time to commit
    latency_max_s: float | None = None
    batch_id: int | None = None
    batch_at: float | None = None  # commit of the last batch
    batch_rows: int | None = None
    first_batch_at: float | None = None  # commit of the first batch of this run
    idle: bool = False  # the newest trigger of this run found nothing to do
    pause_s: float | None = None  # last commit of the run before to the first of this one
    batches: int = 0  # committed in this period
    rows: int = 0  # committed in this period
    trigger_s: float = 0.0
    state_rows: int | None = None
    state_bytes: int | None = None
    stateful: bool = False
    tasks: int = 0  # ended in this period
    failed_tasks: int = 0
    skew: float | None = None  # longest / median task run time
    row_bytes: float | None = None  # mean size of an input row
    slice_of: str = ""  # the operator that it is a slice of; empty if it is none
    key_groups: tuple[int, ...] = ()  # that the slice owns
    group_rows_per_s: tuple[float, ...] = ()  # arrivals of each of them; empty: not measured
    weight: int | None = None  # of its pool, as it is set in Spark
    first_cores: int | None = None  # that come to it before others where cores are contended
    unsliced: str = ""  # why an operator with a key is one query, for a person

    @property
    def latency_s(self) -> float | None:
        """End to end: from event to commit for the median row, upstream delay included.

        Where no event times are observed, the operator's own latency is all that is known.
        """
        return self.own_latency_s if self.latency_p50_s is None else self.latency_p50_s

    @property
    def own_latency_s(self) -> float | None:
        """Waiting and processing here alone: all that executors of this cluster can change."""
        return None if self.processing_s is None else self.processing_s + (self.scheduling_s or 0.0)


class Batch(Struct, frozen=True, kw_only=True, gc=False):
    """One batch that an operator committed. None means: not measured."""

    operator: str
    id: int
    run_id: str | None = None
    committed_at: float
    processing_s: float
    rows: int
    latency_p50_s: float | None = None  # event time to commit


class Cluster(Struct, frozen=True, kw_only=True, gc=False):
    """One Spark application over one period."""

    name: str
    app_id: str = ""
    app_name: str = ""
    spark_version: str = ""
    ui_url: str = ""
    executors: int = 0  # present
    executors_wanted: int = 0  # asked for
    executors_granted: int | None = None  # by the cluster manager; None: it does not tell
    cores_per_executor: int = 1
    min_executors: int = 1
    max_executors: int = 1
    can_scale: bool = False  # an agent is there that can carry it out
    hosted: bool = False  # Weir may start and stop its operators
    declared: tuple[str, ...] | None = None  # operators that it can run; None: it does not tell
    mode: Mode = Mode.APPROVE
    heartbeat_age_s: float = 0.0
    busy_cores: float = 0.0  # of all tasks, also those of no operator
    failed_tasks: int = 0
    dropped_events: int = 0  # by Spark's listener bus, since the start
    dropped_samples: int = 0  # by the agent while Redis was away, since the start
    executors_lost: int = 0  # gone without being asked to, since the start
    cut: str = ""  # what its report held above the limits, and nobody reads
    message: str = ""

    @property
    def capacity(self) -> int:
        """Cores that are there."""
        return self.executors * self.cores_per_executor

    @property
    def busy_share(self) -> float:
        """The share of its cores that was busy."""
        return self.busy_cores / max(self.capacity, 1)

    @property
    def executors_asked(self) -> int:
        """Executors that it was asked for; those that are there where nothing was asked."""
        return self.executors_wanted or self.executors

    def unfit_for(self, operator: str) -> str:
        """Why that operator cannot be moved here; empty if it can, as far as is known.

        >>> Cluster(name="a", hosted=True, declared=("count",)).unfit_for("top_n")
        'a cannot run top_n: the module of its host does not declare it'
        >>> Cluster(name="a", hosted=True, declared=("count",)).unfit_for("count.2")
        ''
        >>> Cluster(name="a", hosted=True).unfit_for("top_n")
        ''
        """
        if not self.hosted:
            return f"{self.name} does not host operators"
        declared = self.declared
        if declared is not None and not {operator, sliced_operator(operator)} & {*declared}:
            return f"{self.name} cannot run {operator}: the module of its host does not declare it"
        return ""


class ClusterSample(Struct, frozen=True, kw_only=True, gc=False):
    """What one agent reports for one period that ended at `at`."""

    at: float
    period_s: float
    cluster: Cluster
    operators: tuple[OperatorSample, ...] = ()
    executors: tuple[Executor, ...] = ()
    batches: tuple[Batch, ...] = ()  # committed in this period

    @property
    def load(self) -> float:
        """Load per core; 1.0 means that every core has work all the time."""
        return cluster_load(self.cluster, self.operators)


def cluster_load(cluster: Cluster, operators: Iterable[OperatorSample]) -> float:
    """Sum of the operators' loads per core; without executors the sum itself."""
    return sum(o.load for o in operators) / max(cluster.capacity, 1)
