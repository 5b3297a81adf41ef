"""State held in memory and traffic are limits beside load, where they are measured."""

import pytest

from weir.controllers.balancing.base import planner
from weir.controllers.balancing.from_snapshot import problem_of
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now
from weir.controllers.model.sample import Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.snapshot import Snapshot

CLUSTERS = tuple(Cluster(name=n, executors=2, hosted=True) for n in ("a", "b"))


def world(*operators: OperatorSample) -> Snapshot:
    return Snapshot(at=0.0, period_s=2.0, clusters=CLUSTERS).with_operators(operators)


def test_a_plan_brings_no_more_state_to_a_cluster_than_its_memory_holds() -> None:
    big = OperatorSample(name="big", cluster="a", load=0.8, state_bytes=900)
    small = OperatorSample(name="small", cluster="a", load=0.7, state_bytes=100)
    found = world(big, small)
    free = planner("milp").plan(problem_of(found, {}))
    assert len(free.moves) == 1
    tight = planner("milp").plan(problem_of(found, {}, memory={"a": 2000.0, "b": 500.0}))
    assert [m.operator for m in tight.moves] == ["small"]
    none = planner("milp").plan(problem_of(found, {}, memory={"a": 2000.0, "b": 50.0}))
    assert none.moves == ()


def test_where_nobody_tells_how_much_there_is_memory_is_no_limit() -> None:
    big = OperatorSample(name="big", cluster="a", load=0.8, state_bytes=10**12)
    other = OperatorSample(name="other", cluster="a", load=0.8, state_bytes=10**12)
    assert len(planner("milp").plan(problem_of(world(big, other), {})).moves) == 1
    known = problem_of(world(big, other), {}, memory={"a": 100.0})  # b does not tell
    assert len(planner("milp").plan(known).moves) == 1


def test_traffic_is_a_limit_where_there_is_one() -> None:
    source = OperatorSample(
        name="source", cluster="b", load=0.0, writes=("rows",), processed_rows_per_s=100.0
    )
    reader = OperatorSample(
        name="reader", cluster="a", load=0.8, reads=("rows",), arrival_rows_per_s=100.0,
        row_bytes=10.0,
    )  # fmt: skip
    other = OperatorSample(name="other", cluster="a", load=0.7)
    found = world(source, reader, other)
    assert {i.name: i.resources for i in problem_of(found, {}, network=1500.0).items} == {
        "source": {"network": pytest.approx(1000.0)},
        "reader": {"network": pytest.approx(1000.0)},
        "other": {},
    }
    moved = planner("milp").plan(problem_of(found, {}, network=1500.0)).moves
    assert [m.operator for m in moved] == ["other"]


@pytest.mark.parametrize(("share", "limit"), [(0.5, 1000.0), (1.0, 2000.0), (0.0, None)])
def test_the_memory_of_a_cluster_is_that_of_its_executors(
    share: float, limit: float | None
) -> None:
    executors = tuple(
        Executor(id=str(i), host="h", cores=1, memory_max_bytes=1000) for i in range(2)
    )
    sample = ClusterSample(at=0.0, period_s=2.0, cluster=CLUSTERS[0], executors=executors)
    counter = OperatorSample(name="count", cluster="a", load=0.1, state_bytes=10)
    problem = problem_now(
        world(counter), {"a": [sample], "b": []}, BalanceSettings(memory_share=share)
    )
    resources = problem.bins[0].resources or {}
    assert isinstance(resources, dict)
    assert resources.get("memory") == limit
