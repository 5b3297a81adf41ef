"""Reports that are larger than anything real are read up to a stated size, and that is said."""

from weir.controllers.model.limits import (
    MOST_BATCHES,
    MOST_DATA_SETS,
    MOST_EXECUTORS,
    MOST_OPERATORS,
    within_limits,
)
from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.snapshot import MOST_EDGES, Snapshot


def report(operators: int = 1, executors: int = 0, batches: int = 0, sets: int = 0):
    names = tuple(f"d{k}" for k in range(sets))
    return ClusterSample(
        at=10.0,
        period_s=2.0,
        cluster=Cluster(name="a", executors=1),
        operators=tuple(
            OperatorSample(name=f"o{k}", cluster="a", reads=names, writes=names)
            for k in range(operators)
        ),
        executors=tuple(Executor(id=str(k), host="h", cores=1) for k in range(executors)),
        batches=tuple(
            Batch(operator="o0", id=k, committed_at=9.0, processing_s=1.0, rows=1)
            for k in range(batches)
        ),
    )


def test_a_report_of_any_real_size_is_the_same_one():
    largest = report(MOST_OPERATORS, MOST_EXECUTORS, MOST_BATCHES, 2)
    assert within_limits(largest) is largest


def test_what_is_above_is_counted():
    cut = within_limits(report(MOST_OPERATORS + 3, MOST_EXECUTORS + 1, MOST_BATCHES + 2))
    assert len(cut.operators) == MOST_OPERATORS
    assert len(cut.executors) == MOST_EXECUTORS
    assert len(cut.batches) == MOST_BATCHES
    assert cut.cluster.cut == "3 operators, 1 executors, 2 batches"


def test_data_sets_of_one_operator_are_limited_as_edges_follow_from_them():
    cut = within_limits(report(sets=MOST_DATA_SETS + 5))
    assert len(cut.operators[0].reads) == len(cut.operators[0].writes) == MOST_DATA_SETS
    assert cut.cluster.cut == "10 data sets"


def test_edges_do_not_grow_as_the_square_of_the_operators():
    # 1,000 that write and read the same data set: a million pairs.
    snapshot = Snapshot.of([report(1000, sets=1)], 10.0)
    assert len(snapshot.edges) == MOST_EDGES
