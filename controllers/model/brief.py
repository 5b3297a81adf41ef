"""The figures of a sample that charts over long times draw, and nothing else.

Three months of an hour's samples of twenty clusters are 160 MB; of these, 3 MB.
"""

from msgspec import Struct

from weir.controllers.model.sample import ClusterSample


class Brief(Struct, frozen=True, array_like=True, gc=False):
    """A cluster over one period, all its operators together. None: not measured."""

    at: float
    period_s: float
    load: float  # per core
    busy: float  # per core
    latency_s: float | None  # of the slowest operator
    latency_max_s: float | None
    queue_rows: float | None
    arrival_rows_per_s: float | None
    processed_rows_per_s: float | None
    executors: int


def brief_of(sample: ClusterSample) -> Brief:
    """What charts draw of a sample.

    >>> from msgspec.structs import astuple
    >>> from weir.controllers.model.sample import Cluster, OperatorSample
    >>> operators = (OperatorSample(name="x", cluster="a", load=0.5, queue_rows=7),)
    >>> cluster = Cluster(name="a", executors=2)
    >>> sample = ClusterSample(at=9.0, period_s=2.0, cluster=cluster, operators=operators)
    >>> astuple(brief_of(sample))
    (9.0, 2.0, 0.25, 0.0, None, None, 7, 0.0, 0.0, 2)
    """
    operators = sample.operators
    latencies = [v for o in operators if (v := o.latency_s) is not None]
    longest = [v for o in operators if (v := o.latency_max_s) is not None]
    queues = [v for o in operators if (v := o.queue_rows) is not None]
    return Brief(
        at=sample.at,
        period_s=sample.period_s,
        load=sample.load,
        busy=sample.cluster.busy_share,
        latency_s=max(latencies, default=None),
        latency_max_s=max(longest, default=None),
        queue_rows=sum(queues) if queues else None,
        arrival_rows_per_s=sum(o.arrival_rows_per_s for o in operators) if operators else None,
        processed_rows_per_s=sum(o.processed_rows_per_s for o in operators) if operators else None,
        executors=sample.cluster.executors,
    )
