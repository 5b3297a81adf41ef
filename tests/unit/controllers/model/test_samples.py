"""Merging samples: means, totals and peaks."""

from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.samples import merge_samples


def sample(at: float, load: float, queue: int | None, rows: int) -> ClusterSample:
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name="a", executors=int(at), busy_cores=load),
        operators=(OperatorSample(name="x", cluster="a", load=load, queue_rows=queue, rows=rows),),
        executors=(Executor(id="1", host="h", cores=1, busy_share=load, tasks=rows),),
        batches=(Batch(operator="x", id=1, committed_at=at, processing_s=1.0, rows=rows),),
    )


def test_means_totals_and_peaks() -> None:
    whole = merge_samples([sample(2, 0.5, 10, 3), sample(4, 1.0, 90, 4), sample(6, 0.0, None, 5)])
    (operator,) = whole.operators
    assert (whole.at, whole.period_s, whole.cluster.executors) == (6, 6.0, 6)
    assert (operator.load, operator.queue_rows, operator.rows) == (0.5, 90, 12)
    assert (whole.cluster.busy_cores, whole.executors[0].busy_share) == (0.5, 0.5)
    assert whole.executors[0].tasks == 12
    assert whole.batches == ()  # only the reports themselves have them


def test_what_left_before_the_end_is_not_part_of_it() -> None:
    gone = sample(2, 1.0, 1, 1)
    left = ClusterSample(at=4, period_s=2.0, cluster=Cluster(name="a"))
    assert merge_samples([gone, left]).operators == ()
