"""Slices are items like any other: placed where their operator is declared, with their own flows."""

import random
import time

import pytest

from tests.support.models import sample_of, sliced
from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.from_snapshot import problem_of
from weir.controllers.model.sample import Cluster, OperatorSample
from weir.controllers.model.snapshot import Snapshot


def world(*operators: OperatorSample, declared: tuple[str, ...] | None = None) -> Snapshot:
    clusters = tuple(
        Cluster(name=n, executors=2, hosted=True, declared=declared) for n in ("a", "b", "c")
    )
    plain = Snapshot(at=0.0, period_s=2.0, clusters=clusters)
    return plain.with_operators(operators)


def a_slice(name: str, cluster: str, load: float, **more: object) -> OperatorSample:
    return OperatorSample(
        name=name, cluster=cluster, load=load, slice_of=name.split(".")[0], **more
    )


def test_one_heavy_operator_is_balanced_once_it_is_sliced() -> None:
    whole = world(OperatorSample(name="count", cluster="a", load=2.4))
    apart = world(*[a_slice(f"count.{i}", "a", 0.4) for i in range(6)])
    before = planner("milp").plan(problem_of(whole, {})).after.load_distance
    after = planner("milp").plan(problem_of(apart, {})).after.load_distance
    assert before == pytest.approx(80.0)
    assert after == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", [n for n in planners() if n != "no_op"])
def test_a_slice_may_run_where_its_operator_is_declared(name: str) -> None:
    operators = [a_slice(f"count.{i}", "a", 0.4) for i in range(4)]
    problem = problem_of(world(*operators, declared=("count",)), {})
    assert [i.allowed for i in problem.items] == [None] * 4
    planner(name).plan(problem)  # holds its plan against what is allowed


def test_what_slices_send_is_shared_by_what_each_processed() -> None:
    found = world(
        a_slice("extract.0", "a", 0.1, writes=("topics",), processed_rows_per_s=300.0),
        a_slice("extract.1", "b", 0.1, writes=("topics",), processed_rows_per_s=100.0),
        a_slice("count.0", "a", 0.1, reads=("topics",), arrival_rows_per_s=80.0),
        a_slice("count.1", "b", 0.1, reads=("topics",), arrival_rows_per_s=40.0),
    )
    rates = {(f.source, f.target): f.rate for f in problem_of(found, {}).flows}
    assert rates == pytest.approx(
        {
            ("extract.0", "count.0"): 60.0,
            ("extract.1", "count.0"): 20.0,
            ("extract.0", "count.1"): 30.0,
            ("extract.1", "count.1"): 10.0,
        }
    )


def test_writers_that_are_no_slices_of_one_operator_share_evenly() -> None:
    found = world(
        OperatorSample(name="x", cluster="a", writes=("d",), processed_rows_per_s=300.0),
        OperatorSample(name="y", cluster="a", writes=("d",), processed_rows_per_s=100.0),
        OperatorSample(name="z", cluster="b", reads=("d",), arrival_rows_per_s=80.0),
    )
    assert {e.rows_per_s for e in found.edges} == {40.0}


def test_albic_brings_slices_that_talk_together() -> None:
    pairs = [
        operator
        for i in range(2)
        for operator in (
            a_slice(f"send.{i}", "ab"[i], 0.1, writes=(f"d{i}",), processed_rows_per_s=100.0),
            a_slice(f"take.{i}", "ba"[i], 0.1, reads=(f"d{i}",), arrival_rows_per_s=100.0),
        )
    ]
    problem = problem_of(world(*pairs), {})
    plan = planner("albic").plan(problem)
    assert plan.before.collocation == 0.0
    assert plan.after.collocation > 0.0


def test_a_report_with_slices_is_a_problem_with_slices() -> None:
    now = time.time()
    samples = [sample_of(m, 400.0, now, 2.0, random.Random(1)) for m in sliced()]
    problem = problem_of(Snapshot.of(samples, now), {})
    assert {i.name for i in problem.items} >= {"topic_count.0", "topic_count.1", "topic_count.2"}
