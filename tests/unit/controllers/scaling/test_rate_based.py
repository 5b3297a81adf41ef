"""Rate-based scaling: settles quickly, looks through queues, and notices when it does not help."""

from typing import Any

import pytest

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.controllers.model.decision import NoChange, Scale
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.rates import demands
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")


def rate_based(**given: Any) -> Any:
    return create("rate_based", given, SCOPE)


@pytest.mark.parametrize(("before", "after"), [(500, 6000), (6000, 800), (1000, 10_000)])
def test_settles_within_three_decisions_after_a_step(before: int, after: int) -> None:
    world = World(lambda at: before if at < 200 else after, executors=2)
    world.run(rate_based(), periods=160)
    later = [a for a in world.actions if a[0] > 200]
    assert 1 <= len(later) <= 3, later
    utilisation = after * world.cost_s / world.executors
    assert 0.4 <= utilisation <= 0.9
    assert world.queue < after * 5.0


def test_goes_at_once_to_what_is_needed() -> None:
    shot = snapshot(
        operator(
            arrival_rows_per_s=7000.0, processed_rows_per_s=2000.0, busy_cores=1.0, queue_rows=0
        ),
        executors=1,
        most=30,
    )
    decision, _ = rate_based(periods=1).decide(shot, rate_based().fresh(), 0.0)
    assert isinstance(decision, Scale)
    assert decision.executors == 5  # 7000 rows/s at 0.5 ms are 3.5 cores, at 70 % 5


@pytest.mark.parametrize(("busy_cores", "early"), [(0.5, True), (3.5, False)])
def test_a_few_rows_after_a_start_say_nothing_about_many(busy_cores: float, early: bool) -> None:
    shot = snapshot(
        operator(
            arrival_rows_per_s=200.0, processed_rows_per_s=4.0, busy_cores=busy_cores, queue_rows=0
        ),
        executors=4,
        most=30,
    )
    decision, _ = rate_based(periods=1).decide(shot, rate_based().fresh(), 0.0)
    assert isinstance(decision, NoChange) is early
    assert ("Too few rows" in decision.reason.text) is early


def test_a_queue_asks_for_more_than_the_rate_alone() -> None:
    def cores(queue: int) -> int:
        one = operator(
            arrival_rows_per_s=7000.0, processed_rows_per_s=2000.0, busy_cores=1.0, queue_rows=queue
        )
        shot = snapshot(one, executors=1, most=100)
        decision, _ = rate_based(periods=1).decide(shot, rate_based().fresh(), 0.0)
        assert isinstance(decision, Scale)
        return decision.executors

    assert cores(0) == cores(10_000) == 5  # one batch of 2 s is no queue
    assert cores(14_000 + 600_000) == 11  # 5 + 600,000 rows in 60 s + 5 s of arrivals in 60 s


def test_rates_are_propagated_through_a_slow_operator_in_another_cluster() -> None:
    slow = OperatorSample(
        name="parse",
        cluster="b",
        reads=("in",),
        writes=("words",),
        arrival_rows_per_s=1000.0,
        processed_rows_per_s=500.0,
    )
    next_one = operator(name="count", reads=("words",), arrival_rows_per_s=1500.0)
    samples = [
        ClusterSample(at=0.0, period_s=5.0, cluster=Cluster(name="b"), operators=(slow,)),
        ClusterSample(at=0.0, period_s=5.0, cluster=Cluster(name="a"), operators=(next_one,)),
    ]
    asked = demands(Snapshot.of(samples, at=0.0), catch_up_s=60.0)
    assert asked["parse"].rows_per_s == 1000.0
    assert asked["count"].rows_per_s == pytest.approx(3000.0)  # 3 words per row


@pytest.mark.parametrize("reads", [("x",), ("x", "in")])
def test_a_loop_that_grows_falls_back_to_what_arrives(reads: tuple[str, ...]) -> None:
    one = operator(name="a", reads=reads, writes=("x",), processed_rows_per_s=400.0)
    sample = ClusterSample(at=0.0, period_s=5.0, cluster=Cluster(name="a"), operators=(one,))
    assert demands(Snapshot.of([sample], at=0.0), 60.0)["a"].rows_per_s == 1000.0


def test_idle_cores_with_rows_waiting_correct_the_cost() -> None:
    """One of four cores works though rows wait: so a row costs four times as much."""

    def decide(queue: int) -> Any:
        one = operator(
            arrival_rows_per_s=2500.0, processed_rows_per_s=2000.0, busy_cores=1.0, queue_rows=queue
        )
        shot = snapshot(one, executors=4, most=100)
        return rate_based(periods=1, restart_s=0, catch_up_s=1e6).decide(
            shot, rate_based().fresh(), 0.0
        )[0]

    assert isinstance(decide(0), Scale)
    assert decide(0).executors == 2
    assert decide(100_000).executors == 8  # 2500 x 0.002 / 0.7


def test_an_ineffective_scaling_out_is_not_repeated() -> None:
    """An operator with one partition: more executors, the same rate."""

    def stuck(executors: int) -> Snapshot:
        one = operator(
            arrival_rows_per_s=4000.0,
            processed_rows_per_s=2000.0,
            busy_cores=1.0,
            queue_rows=200_000,
        )
        return snapshot(one, executors=executors, most=100)

    scaler = rate_based(periods=1, ineffective_hold_s=300)
    decision, memory = scaler.decide(stuck(1), scaler.fresh(), 0.0)
    assert isinstance(decision, Scale)
    there = decision.executors
    decision, memory = scaler.decide(stuck(there), memory, 10.0)
    assert isinstance(decision, NoChange)
    assert "last scaling out brought less" in decision.reason.text
    assert isinstance(scaler.decide(stuck(there), memory, 309.0)[0], NoChange)
    assert isinstance(scaler.decide(stuck(there), memory, 311.0)[0], Scale)


def test_executors_that_are_not_there_yet_are_no_failure() -> None:
    scaler = rate_based(periods=1)
    one = operator(
        arrival_rows_per_s=8000.0, processed_rows_per_s=2000.0, busy_cores=1.0, queue_rows=0
    )
    decision, memory = scaler.decide(snapshot(one, executors=1, most=50), scaler.fresh(), 0.0)
    wanted = decision.executors
    late = snapshot(one, executors=1, most=50, executors_wanted=wanted)
    decision, memory = scaler.decide(late, memory, 5.0)
    assert isinstance(decision, NoChange)
    assert memory.hold_until is None
