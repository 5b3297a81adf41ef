"""What is known about clusters and operators at one moment.

An agent reports one `ClusterSample` per period. A `Snapshot` joins the newest
sample of every cluster; the live listener, an event log and the simulator all
go through `Snapshot.of`, so production, replay and what-if see the same thing.

Load is arrivals x cost per row, in busy cores: the work that arrives, whether
or not it is done in time. `busy_cores` is the work that was done. The two are
equal in a steady state and part where a cluster falls behind.

Engine and web keep minutes of these by the hundred thousand. Nothing here can be part
of a cycle, so Python's collector is told to leave it alone (`gc=False`): its full rounds
would stop everything for a fifth of a second.
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.age import age_s


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


STALE_S = 6.0
DOWN_S = 12.0
GONE_S = 60.0

BATCHES_MOST = 200
"""Per operator and sample, the newest: a query without pauses must not make samples large."""

MOST_EDGES = 20_000
"""Of a snapshot."""
# Two clusters may report an operator that is on its way: it is where it runs, else where
# it is about to.
_PRESENCE = {OperatorStatus.RUNNING: 2, OperatorStatus.STOPPED: 0}


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


class Operator(Struct, frozen=True, kw_only=True, gc=False):
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
    scheduling_s: float | None = None  # wait of the median row before its batch began
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

    @property
    def latency_s(self) -> float | None:
        """Time from arrival to commit for the median row."""
        if self.latency_p50_s is not None:
            return self.latency_p50_s
        if self.processing_s is None:
            return None
        return self.processing_s + (self.scheduling_s or 0.0)


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
    def executors_asked(self) -> int:
        """Executors that it was asked for; those that are there where nothing was asked."""
        return self.executors_wanted or self.executors

    def unfit_for(self, operator: str) -> str:
        """Why that operator cannot be moved here; empty if it can, as far as is known.

        >>> Cluster(name="a", hosted=True, declared=("count",)).unfit_for("top_n")
        'a cannot run top_n: the module of its host does not declare it'
        >>> Cluster(name="a", hosted=True).unfit_for("top_n")
        ''
        """
        if not self.hosted:
            return f"{self.name} does not host operators"
        if self.declared is not None and operator not in self.declared:
            return f"{self.name} cannot run {operator}: the module of its host does not declare it"
        return ""


class Edge(Struct, frozen=True, kw_only=True, gc=False):
    """Rows that flow from one operator to another through a data set."""

    source: str  # an operator, or the name of the data set if nobody here writes it
    target: str
    dataset: str
    rows_per_s: float
    bytes_per_s: float | None = None


class ClusterSample(Struct, frozen=True, kw_only=True, gc=False):
    """What one agent reports for one period that ended at `at`."""

    at: float
    period_s: float
    cluster: Cluster
    operators: tuple[Operator, ...] = ()
    executors: tuple[Executor, ...] = ()
    batches: tuple[Batch, ...] = ()  # committed in this period

    @property
    def load(self) -> float:
        """Load per core; 1.0 means that every core has work all the time."""
        return cluster_load(self.cluster, self.operators)


class Snapshot(Struct, frozen=True, kw_only=True, dict=True):
    """All clusters and operators at one moment."""

    at: float
    period_s: float
    clusters: tuple[Cluster, ...] = ()
    operators: tuple[Operator, ...] = ()
    edges: tuple[Edge, ...] = ()  # MOST_EDGES at most
    periods: dict[str, float] = {}  # seconds between two reports of each cluster

    @classmethod
    def of(cls, samples: Iterable[ClusterSample], at: float) -> "Snapshot":
        """Join the newest sample of each cluster into one picture.

        >>> a = Operator(name="count", cluster="a", reads=("tweets",), load=0.5)
        >>> sample = ClusterSample(
        ...     at=8.0, period_s=2.0, cluster=Cluster(name="a", executors=1), operators=(a,)
        ... )
        >>> snapshot = Snapshot.of([sample], at=10.0)
        >>> snapshot.clusters[0].heartbeat_age_s, snapshot.load("a")
        (2.0, 0.5)
        """
        newest: dict[str, ClusterSample] = {}
        for sample in samples:
            known = newest.get(sample.cluster.name)
            if known is None or sample.at >= known.at:
                newest[sample.cluster.name] = sample
        clusters = []
        operators: dict[str, tuple[tuple[int, int, float], Operator]] = {}
        for name in sorted(newest):
            sample = newest[name]
            clusters.append(replace(sample.cluster, heartbeat_age_s=age_s(sample.at, at)))
            for operator in sample.operators:
                # Who holds the newest lease has it, whatever one that fell silent said last.
                presence = _PRESENCE.get(operator.status, 1)
                rank = (operator.lease_token or 0, presence, sample.at)
                if operator.name not in operators or rank > operators[operator.name][0]:
                    operators[operator.name] = (rank, operator)
        found = tuple(operators[name][1] for name in sorted(operators))
        return cls(
            at=at,
            period_s=max((s.period_s for s in newest.values()), default=0.0),
            clusters=tuple(clusters),
            operators=found,
            edges=_edges(found),
            periods={name: newest[name].period_s for name in sorted(newest)},
        )

    def cluster(self, name: str) -> Cluster | None:
        """The cluster of that name, or None."""
        return self._clusters.get(name)

    def stale(self, cluster: str) -> bool:
        """Its figures are too old to be called live or to decide on: three reports are missing."""
        return self._age_s(cluster) > self._stale_after_s(cluster)

    def silent(self, cluster: str) -> str:
        """Why nothing can be asked of it now; empty while it gives signs of life.

        >>> late = Cluster(name="a", heartbeat_age_s=30.0)
        >>> Snapshot(at=30.0, period_s=2.0, clusters=(late,)).silent("a")
        'a has given no sign of life for 30 s'
        """
        if self.cluster(cluster) is None:
            return f"there is no cluster {cluster} any more"
        if self._age_s(cluster) <= max(DOWN_S, self._stale_after_s(cluster)):
            return ""
        return f"{cluster} has given no sign of life for {self._age_s(cluster):.0f} s"

    def gone(self, cluster: str) -> bool:
        """Silent for so long that it is not counted on; until then plans wait for it."""
        return self._age_s(cluster) > max(GONE_S, self._stale_after_s(cluster))

    def _age_s(self, cluster: str) -> float:
        found = self.cluster(cluster)
        return found.heartbeat_age_s if found else inf

    def _stale_after_s(self, cluster: str) -> float:
        return stale_after_s(self.periods.get(cluster, self.period_s))

    def operator(self, name: str) -> Operator | None:
        """The operator of that name, or None."""
        return self._operators.get(name)

    def with_operators(self, operators: tuple[Operator, ...]) -> "Snapshot":
        """The same moment with other figures of the operators, and the flows that follow."""
        return replace(self, operators=operators, edges=_edges(operators))

    def operators_of(self, cluster: str) -> tuple[Operator, ...]:
        """The operators that run in that cluster."""
        return self._hosted.get(cluster, ())

    def load(self, cluster: str) -> float:
        """Load per core of that cluster; 1.0 means every core has work all the time."""
        found = self.cluster(cluster)
        return cluster_load(found, self.operators_of(cluster)) if found else 0.0

    # Looked up by name hundreds of times per page and cycle; not part of the data.

    @cached_property
    def _clusters(self) -> dict[str, Cluster]:
        return {c.name: c for c in reversed(self.clusters)}

    @cached_property
    def _operators(self) -> dict[str, Operator]:
        return {o.name: o for o in reversed(self.operators)}

    @cached_property
    def _hosted(self) -> dict[str, tuple[Operator, ...]]:
        found: dict[str, list[Operator]] = defaultdict(list)
        for operator in self.operators:
            found[operator.cluster].append(operator)
        return {name: tuple(operators) for name, operators in found.items()}


def stale_after_s(period_s: float) -> float:
    """From this age on, a cluster's figures count as missing: three periods, not less than 6 s.

    >>> stale_after_s(2.0), stale_after_s(10.0)
    (6.0, 30.0)
    """
    return max(STALE_S, 3 * period_s)


def cluster_load(cluster: Cluster, operators: Iterable[Operator]) -> float:
    """Sum of the operators' loads per core; without executors the sum itself."""
    return sum(o.load for o in operators) / max(cluster.capacity, 1)


def _edges(operators: tuple[Operator, ...]) -> tuple[Edge, ...]:
    """Match what is written with what is read, by the data sets' names.

    Many writers and readers of one data set make edges by the square; those above
    `MOST_EDGES` are left out.
    """
    writers: dict[str, list[str]] = defaultdict(list)
    for operator in operators:
        for dataset in operator.writes:
            writers[dataset].append(operator.name)
    edges: list[Edge] = []
    for operator in operators:
        for dataset in operator.reads:
            sources = writers.get(dataset) or [dataset]
            # An operator reports one arrival rate over all its inputs: share it evenly.
            rate = operator.arrival_rows_per_s / len(operator.reads) / len(sources)
            for source in sources[: MOST_EDGES - len(edges)]:
                edges.append(
                    Edge(
                        source=source,
                        target=operator.name,
                        dataset=dataset,
                        rows_per_s=rate,
                        bytes_per_s=None
                        if operator.row_bytes is None
                        else rate * operator.row_bytes,
                    )
                )
    return tuple(edges)
