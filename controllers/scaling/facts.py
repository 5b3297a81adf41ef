"""What a scaler looks at: one cluster of a snapshot, cleaned, with its limits.

Measurements can be missing, NaN or infinite. That is settled here once, so that
no scaler has to: an optional figure that is not finite becomes None, and an
operator whose load or rates are not finite is left out and makes the cluster's
load unknown rather than low. The same holds for figures beyond any machine's reach;
what is next to nothing is nothing, so that no quotient of two figures overflows.
"""

from collections.abc import Iterable
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot

_IDLE = (OperatorStatus.STOPPED, OperatorStatus.FAILED, OperatorStatus.WAITING)
_REQUIRED = ("arrival_rows_per_s", "processed_rows_per_s", "load", "busy_cores")


class Scope(Struct, frozen=True, kw_only=True):
    """Which cluster a scaler decides for, and how far it may go.

    The limits here narrow those that the cluster itself reports. `total_left` is
    how many executors may still be added over all clusters together; None: no limit.
    """

    cluster: str
    min_executors: int = 0
    max_executors: int | None = None
    total_left: int | None = None


class ClusterFacts(Struct, frozen=True, kw_only=True):
    """The figures of one cluster at one moment."""

    snapshot: Snapshot
    cluster: Cluster
    operators: tuple[OperatorSample, ...]  # at work here, every figure finite or None
    complete: bool  # False: an operator was left out for want of figures
    executors: int  # asked for; present ones where nothing was asked
    low: int
    high: int

    @property
    def cores(self) -> int:
        """Cores per executor."""
        return max(1, self.cluster.cores_per_executor)

    @property
    def capacity(self) -> int:
        """Cores that are there, at least 1."""
        return max(1, self.cluster.executors * self.cores)

    @property
    def load_cores(self) -> float | None:
        """Work that arrives, in cores; None where it is not known."""
        return sum(o.load for o in self.operators) if self.complete else None

    @property
    def load(self) -> float | None:
        """Work that arrives per core that is there."""
        cores = self.load_cores
        return None if cores is None else cores / self.capacity

    @property
    def own_latency_s(self) -> float | None:
        """Waiting and processing of the slowest operator; delay upstream is not of this cluster."""
        return max((v for o in self.operators if (v := o.own_latency_s) is not None), default=None)

    @property
    def arrival_rows_per_s(self) -> float:
        """Rows that arrive at all operators."""
        return sum(o.arrival_rows_per_s for o in self.operators)

    @property
    def queue_rows(self) -> int:
        """Rows that wait, over all operators."""
        return sum(o.queue_rows or 0 for o in self.operators)

    @property
    def waiting_batches(self) -> int:
        """Batches' worth of rows in the longest queue; the one in work not counted."""
        most = 0.0
        for operator in self.operators:
            rows = operator.batch_rows or operator.arrival_rows_per_s * operator.trigger_s
            if operator.queue_rows and rows >= 1.0:
                most = max(most, operator.queue_rows / rows - 1.0)
        return int(most)


def observe(snapshot: Snapshot, scope: Scope) -> ClusterFacts | None:
    """The figures of the scope's cluster; None if it is not in the snapshot.

    >>> cluster = Cluster(name="a", executors=2, max_executors=9)
    >>> facts = observe(
    ...     Snapshot(at=0.0, period_s=1.0, clusters=(cluster,)),
    ...     Scope(cluster="a", max_executors=6, total_left=1),
    ... )
    >>> facts.low, facts.high
    (1, 3)
    """
    cluster = snapshot.cluster(scope.cluster)
    if cluster is None:
        return None
    executors = cluster.executors_asked
    high = cluster.max_executors
    if scope.max_executors is not None:
        high = min(high, scope.max_executors)
    if scope.total_left is not None:
        high = min(high, executors + max(0, scope.total_left))
    high = max(0, high)
    low = min(max(0, cluster.min_executors, scope.min_executors), high)
    found = [o for o in snapshot.operators_of(cluster.name) if o.status not in _IDLE]
    usable = usable_of(found)
    return ClusterFacts(
        snapshot=snapshot,
        cluster=cluster,
        operators=usable,
        complete=len(usable) == len(found),
        executors=executors,
        low=low,
        high=high,
    )


def usable_of(operators: Iterable[OperatorSample]) -> tuple[OperatorSample, ...]:
    """Those whose load and rates are plausible numbers, every other figure plausible or None."""
    found = []
    for operator in operators:
        if _clean(operator):
            found.append(operator)
        elif all(map(_plausible, _required(operator))):
            found.append(clean(operator))
    return tuple(found)


def clean(operator: OperatorSample) -> OperatorSample:
    """The operator with None in place of every optional figure that is no plausible number.

    >>> clean(OperatorSample(name="a", cluster="c", processing_s=float("nan"))).processing_s is None
    True
    """
    changes: dict[str, float | None] = {
        field: None
        for field in _OPTIONAL
        if (value := getattr(operator, field)) is not None and not _plausible(value)
    }
    if operator.cost_s_per_row is not None and operator.cost_s_per_row < _NOTHING:
        changes["cost_s_per_row"] = None
    if not _plausible(operator.trigger_s):
        changes["trigger_s"] = 0.0
    for field in _REQUIRED:
        if 0.0 < getattr(operator, field) < _NOTHING:
            changes[field] = 0.0
    return replace(operator, **changes) if changes else operator


def _clean(operator: OperatorSample) -> bool:
    """Nothing has to be replaced: nearly always, and asked for by every scaler."""
    cost = operator.cost_s_per_row
    if cost is not None and cost < _NOTHING:
        return False
    for value in _figures(operator):
        if value is not None and value != 0.0 and not _NOTHING <= value <= _BEYOND:
            return False
    return True


def _plausible(value: float) -> bool:
    return 0.0 <= value <= _BEYOND  # neither NaN nor infinity is


_NOTHING, _BEYOND = 1e-12, 1e15
_OPTIONAL = tuple(
    f.name for f in msgspec.structs.fields(OperatorSample) if f.type in (float | None, int | None)
)
_required = attrgetter(*_REQUIRED)
_figures = attrgetter(*_OPTIONAL, *_REQUIRED, "trigger_s")
