"""What the simulator knows about a run: plain facts, calibrated or given by a person.

    WorldModel
    ├── ends          when each period ends; the world is stepped along these moments
    ├── clusters      limits, executor start and shutdown, what was recorded
    └── operators     trigger, cost, overhead; arrivals, cost and place of every period

A batch takes the rows that wait, and lasts

    overhead_s + (batch_work_s + rows x cost) x stretch / cores that it can use
"""

from collections.abc import Sequence
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

NOWHERE = -1
"""Place of an operator that does not run."""


class OperatorModel(Struct, frozen=True, kw_only=True):
    """One streaming query, and what it is given in every period."""

    name: str
    rows_per_s: tuple[float, ...]  # arrivals from outside; 0 where `upstream` feeds it
    cost_s_per_row: tuple[float, ...]  # core seconds
    place: tuple[int, ...] = ()  # number of its cluster; empty: always the first
    upstream: str = ""  # operator whose output it reads; "": it reads from outside
    rows_per_row: tuple[float, ...] = ()  # rows that reach it for each row of `upstream`
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    trigger_s: float = 1.0  # 0: as soon as something waits
    overhead_s: float = 0.0  # of a batch, whatever its size: planning, commit
    batch_work_s: float = 0.0  # core seconds of a batch, whatever its size: starting tasks
    stretch: float = 1.0  # time on the clock over core seconds / cores; 1: cores are used fully
    parallelism: int | None = None  # tasks of a batch; None: as many as there are cores
    max_rows: int | None = None  # admission limit of a batch
    latency_offset_s: float = 0.0  # measured latency beyond waiting and processing
    jitter: float = 0.0  # spread of the time of a batch (standard deviation of its logarithm)
    queue_rows: float = 0.0  # waiting at the start
    stateful: bool = False
    state_bytes: int | None = None


class ClusterModel(Struct, frozen=True, kw_only=True):
    """One Spark application: its size, its limits, and how fast it changes size."""

    name: str
    executors: int  # at the start
    cores_per_executor: int = 1
    min_executors: int = 1
    max_executors: int = 1
    executor_start_s: float = 10.0  # from request to first task
    decommission_s: float = 3.0  # from request to gone; no new task meanwhile
    recorded: tuple[int, ...] = ()  # executors in every period
    asked: tuple[int, ...] = ()  # executors asked for in every period, where it was recorded


class WorldModel(Struct, frozen=True, kw_only=True):
    """A run to simulate. All series have one value per period."""

    begin: float
    ends: tuple[float, ...]
    clusters: tuple[ClusterModel, ...]
    operators: tuple[OperatorModel, ...]
    focus: str  # cluster whose policy is in question; the others do as recorded
    move_pause_s: float = 6.5

    @property
    def periods(self) -> int:
        """How many there are."""
        return len(self.ends)

    @property
    def hours(self) -> float:
        """Length of the run."""
        return (self.ends[-1] - self.begin) / 3600.0 if self.ends else 0.0

    @property
    def cluster(self) -> ClusterModel:
        """The cluster in question."""
        return next(c for c in self.clusters if c.name == self.focus)

    def part(self, first: int, last: int) -> "WorldModel":
        """Periods [first, last) only, beginning as the recording stood at that moment.

        >>> one = OperatorModel(name="o", rows_per_s=(1.0, 2.0, 3.0), cost_s_per_row=(0.1,) * 3)
        >>> world = WorldModel(begin=0.0, ends=(5.0, 10.0, 15.0), operators=(one,), focus="a",
        ...                    clusters=(ClusterModel(name="a", executors=1),))
        >>> world.part(1, 3).begin, world.part(1, 3).operators[0].rows_per_s
        (5.0, (2.0, 3.0))
        """
        span = slice(first, last)
        return replace(
            self,
            begin=self.ends[first - 1] if first else self.begin,
            ends=self.ends[span],
            operators=tuple(
                replace(
                    o,
                    rows_per_s=o.rows_per_s[span],
                    cost_s_per_row=o.cost_s_per_row[span],
                    place=o.place[span],
                    rows_per_row=o.rows_per_row[span],
                    queue_rows=0.0 if first else o.queue_rows,
                )
                for o in self.operators
            ),
            clusters=tuple(_from(c, first, span) for c in self.clusters),
        )

    def starting_with(self, queues: Sequence[float]) -> "WorldModel":
        """With so many rows waiting at each operator at the start."""
        pairs = zip(self.operators, queues, strict=True)
        return replace(self, operators=tuple(replace(o, queue_rows=q) for o, q in pairs))


def _from(cluster: ClusterModel, first: int, span: slice) -> ClusterModel:
    executors = cluster.recorded[first - 1] if first and cluster.recorded else cluster.executors
    return replace(
        cluster,
        executors=executors,
        recorded=cluster.recorded[span],
        asked=cluster.asked[span],
    )


def usable_cores(cores: float, parallelism: int | None) -> float:
    """Cores that a batch of so many equal tasks keeps busy on average.

    Four tasks on three cores take two rounds, as long as on two.

    >>> usable_cores(3.0, 4), usable_cores(4.0, 4), usable_cores(9.0, 4), usable_cores(3.0, None)
    (2.0, 4.0, 4.0, 3.0)
    """
    if parallelism is None or cores < 1.0:
        return cores
    return parallelism / ceil(parallelism / cores - 1e-9)
