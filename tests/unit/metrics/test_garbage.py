"""The collector has little to do where much is kept."""

import gc

import msgspec

from controllers.model.snapshot import Batch, Cluster, ClusterSample, Edge, Executor, Operator
from metrics.garbage import THRESHOLDS, collect_rarely


def test_what_is_kept_by_the_hundred_thousand_is_not_looked_at() -> None:
    sample = ClusterSample(
        at=1.0,
        period_s=2.0,
        cluster=Cluster(name="a"),
        operators=(Operator(name="count", cluster="a", reads=("tweets",)),),
        executors=(Executor(id="1", host="h", cores=1),),
        batches=(Batch(operator="count", id=1, committed_at=1.0, processing_s=0.1, rows=1),),
    )
    edge = Edge(source="a", target="b", dataset="c", rows_per_s=1.0)
    decoded = msgspec.json.decode(msgspec.json.encode(sample), type=ClusterSample)
    for found in (decoded, edge, decoded.cluster, *decoded.operators, *decoded.batches):
        assert not gc.is_tracked(found)


def test_it_looks_less_often_and_leaves_what_was_loaded_alone() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        collect_rarely()
        assert gc.get_threshold() == THRESHOLDS
        assert THRESHOLDS[0] > before[0]
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
