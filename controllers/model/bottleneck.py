"""What holds the rows up: the slowest operator, and where its rows spend their time.

A row waits in the batches of the operators before it, waits for its own batch to begin,
and is then processed with all rows of that batch. The largest of the three is the cause,
unless the cluster has more work than cores: then every wait follows from that.
"""

from enum import StrEnum

from msgspec import Struct

from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot

FULL = 0.95
"""From this load per core on, waits are the cluster's: there is hardly time to catch up."""
UNEVEN = 3.0
"""From this ratio of the longest to the median task on, keys or partitions are uneven."""


class Cause(StrEnum):
    """Why the slowest operator's rows take the time they take."""

    CORES = "cores"  # its cluster has more work than cores
    TRIGGER = "trigger"  # its rows wait for the next batch to begin
    UPSTREAM = "upstream"  # its rows come late from the operators before it
    UNEVEN = "uneven"  # one task takes much longer than the others
    PROCESSING = "processing"  # its batches take that long


class Bottleneck(Struct, frozen=True, kw_only=True):
    """The slowest operator, the cause, and the operator that keeps most cores busy."""

    operator: str
    cluster: str
    cause: Cause
    latency_s: float
    part_s: float  # of that latency, the part that the cause explains
    load: float  # of its cluster, per core
    busiest: str = ""  # of its cluster where the cores are the cause, else of all


def bottleneck(snapshot: Snapshot) -> Bottleneck | None:
    """What to look at first; None while no operator has a latency.

    >>> from weir.controllers.model.sample import Cluster
    >>> slow = OperatorSample(
    ...     name="top_n", cluster="a", latency_p50_s=8.0, scheduling_s=5.0, processing_s=0.5,
    ...     trigger_s=10.0, load=0.1,
    ... )
    >>> quick = OperatorSample(name="count", cluster="a", latency_p50_s=2.0, load=0.6)
    >>> found = bottleneck(Snapshot(
    ...     at=0.0, period_s=2.0, clusters=(Cluster(name="a", executors=1),),
    ...     operators=(quick, slow),
    ... ))
    >>> found.operator, found.cause.value, found.part_s, found.busiest
    ('top_n', 'trigger', 5.0, 'count')
    """
    timed = [
        (latency_s, o)
        for o in snapshot.operators
        if o.status is OperatorStatus.RUNNING
        and not snapshot.stale(o.cluster)
        and (latency_s := o.latency_s) is not None
    ]
    if not timed:
        return None
    latency_s, slowest = max(timed, key=lambda pair: (pair[0], pair[1].name))
    load = snapshot.load(slowest.cluster)
    crowded = load >= FULL
    cause, part_s = (Cause.CORES, latency_s) if crowded else _largest_part(slowest, latency_s)
    among = snapshot.operators_of(slowest.cluster) if crowded else snapshot.operators
    busiest = max(among, key=lambda o: (o.load, o.name), default=None)
    return Bottleneck(
        operator=slowest.name,
        cluster=slowest.cluster,
        cause=cause,
        latency_s=latency_s,
        part_s=part_s,
        load=load,
        busiest=busiest.name if busiest is not None and busiest.load > 0 else "",
    )


def _largest_part(operator: OperatorSample, latency_s: float) -> tuple[Cause, float]:
    """Which of the three stretches of its way a row spends most time in."""
    processing_s, waiting_s = operator.processing_s or 0.0, operator.scheduling_s or 0.0
    uneven = operator.skew is not None and operator.skew >= UNEVEN
    parts = (
        (processing_s, Cause.UNEVEN if uneven else Cause.PROCESSING),
        (waiting_s, Cause.TRIGGER if operator.trigger_s > processing_s else Cause.PROCESSING),
        (max(0.0, latency_s - processing_s - waiting_s), Cause.UPSTREAM),
    )
    part_s, cause = max(parts, key=lambda part: part[0])
    return cause, part_s
