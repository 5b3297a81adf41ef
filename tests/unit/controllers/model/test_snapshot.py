"""Snapshots: the newest of every cluster, each operator once, flows by data set."""

import msgspec
import pytest

from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot


def sample(
    cluster: str, at: float, *operators: OperatorSample, executors: int = 1
) -> ClusterSample:
    return ClusterSample(
        at=at,
        period_s=2.0,
        cluster=Cluster(name=cluster, executors=executors, cores_per_executor=2),
        operators=operators,
    )


def test_takes_the_newest_sample_of_each_cluster_and_tells_its_age() -> None:
    snapshot = Snapshot.of([sample("b", 5), sample("a", 9), sample("a", 7)], at=10.0)
    assert [(c.name, c.heartbeat_age_s) for c in snapshot.clusters] == [("a", 1.0), ("b", 5.0)]


def test_an_operator_that_has_moved_is_shown_where_it_runs() -> None:
    left = OperatorSample(name="x", cluster="a", status=OperatorStatus.STOPPED)
    here = OperatorSample(name="x", cluster="b")
    snapshot = Snapshot.of([sample("a", 9, left), sample("b", 8, here)], at=10.0)
    assert [o.cluster for o in snapshot.operators] == ["b"]


def test_who_holds_the_newest_lease_has_the_operator() -> None:
    silent = OperatorSample(
        name="x", cluster="a", lease_token=4
    )  # it fell silent while it still ran
    here = OperatorSample(name="x", cluster="b", status=OperatorStatus.FAILED, lease_token=5)
    snapshot = Snapshot.of([sample("a", 9, silent), sample("b", 8, here)], at=10.0)
    assert [o.cluster for o in snapshot.operators] == ["b"]


def test_load_is_per_core_and_safe_without_executors() -> None:
    busy = OperatorSample(name="x", cluster="a", load=1.5)
    assert Snapshot.of([sample("a", 1, busy, executors=3)], at=1).load("a") == pytest.approx(0.25)
    assert Snapshot.of([sample("a", 1, busy, executors=0)], at=1).load("a") == pytest.approx(1.5)
    assert Snapshot.of([], at=1).load("a") == 0.0


def test_edges_join_writers_and_readers_by_data_set() -> None:
    first = OperatorSample(
        name="first", cluster="a", reads=("in",), writes=("mid",), arrival_rows_per_s=9
    )
    second = OperatorSample(
        name="second", cluster="a", reads=("mid",), arrival_rows_per_s=6, row_bytes=10.0
    )
    edges = Snapshot.of([sample("a", 1, first, second)], at=1).edges
    assert [(e.source, e.target, e.rows_per_s, e.bytes_per_s) for e in edges] == [
        ("in", "first", 9, None),
        ("first", "second", 6, 60.0),
    ]


def test_survives_json() -> None:
    snapshot = Snapshot.of(
        [sample("a", 1, OperatorSample(name="x", cluster="a", reads=("r",)))], at=2
    )
    assert msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot) == snapshot


def test_a_report_that_does_not_tell_its_operators_may_run_any() -> None:
    old = msgspec.json.decode(b'{"name": "a", "hosted": true}', type=Cluster)
    assert old.declared is None
    assert old.unfit_for("x") == ""
    assert Cluster(name="a").unfit_for("x") == "a does not host operators"
    none = Cluster(name="a", hosted=True, declared=())
    assert "a cannot run x" in none.unfit_for("x")
    assert msgspec.json.decode(msgspec.json.encode(none), type=Cluster) == none


def test_looking_up_by_name_is_not_part_of_the_data() -> None:
    x, y, z = (OperatorSample(name=n, cluster=c) for n, c in (("x", "a"), ("y", "b"), ("z", "a")))
    snapshot = Snapshot.of([sample("a", 1, x, z), sample("b", 1, y)], at=1.0)
    fresh = msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot)
    assert snapshot.operators_of("a") == (x, z)
    assert snapshot.operators_of("c") == ()
    assert snapshot.operator("y") == y
    assert snapshot.operator("w") is None
    assert snapshot.cluster("c") is None
    assert snapshot == fresh
    assert b"_clusters" not in msgspec.json.encode(snapshot)
    moved = msgspec.structs.replace(snapshot, operators=(y,))
    assert moved.operators_of("a") == ()
    assert moved.operator("x") is None
