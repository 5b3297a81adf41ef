"""The simulated world: rows are conserved, closed forms hold, executors take their time."""

from itertools import pairwise
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.examples import examples
from tests.unit.controllers.simulator.simulator_worlds import pipeline, steady
from weir.controllers.model.sample import OperatorStatus
from weir.controllers.scaling.registry import scalers
from weir.controllers.simulator import Calibrated, what_if
from weir.controllers.simulator.model import NOWHERE, ClusterModel
from weir.controllers.simulator.run import make_scaler, simulate
from weir.controllers.simulator.summary import summarise
from weir.controllers.simulator.world import SimulatedWorld


@settings(max_examples=examples(25), deadline=None)
@given(
    rates=st.lists(st.floats(0.0, 500.0), min_size=5, max_size=30),
    cost_s=st.floats(1e-4, 0.05),
    trigger_s=st.sampled_from([0.0, 1.0, 7.0]),
    max_rows=st.sampled_from([None, 50, 1000]),
    scaler=st.sampled_from(["no_op", "thresholds", "qlearning", "fixed"]),
    jitter=st.sampled_from([0.0, 0.3]),
)
def test_rows_that_arrived_are_committed_or_queued(
    rates: list[float],
    cost_s: float,
    trigger_s: float,
    max_rows: int | None,
    scaler: str,
    jitter: float,
) -> None:
    model = steady(cost_s=cost_s, periods=len(rates), trigger_s=trigger_s, max_rows=max_rows)
    one = replace(model.operators[0], rows_per_s=tuple(rates), jitter=jitter)
    outcome = simulate(replace(model, operators=(one,)), make_scaler(scaler, {}, "a"))
    run = outcome.operators[0]
    assert run.arrived_rows == pytest.approx(5.0 * sum(rates), abs=1e-6)
    assert run.arrived_rows == pytest.approx(run.committed_rows + run.queued_rows, abs=1e-5)
    assert sum(rows for _, _, rows in run.commits) == pytest.approx(run.committed_rows, abs=1e-5)


def test_rows_are_conserved_along_a_chain() -> None:
    model = pipeline(periods=100)
    half = replace(model.operators[1], rows_per_row=(0.5,) * 100)
    first, second = simulate(replace(model, operators=(model.operators[0], half))).operators
    assert second.arrived_rows == pytest.approx(first.committed_rows * 0.5)
    assert second.arrived_rows == pytest.approx(second.committed_rows + second.queued_rows)


@pytest.mark.parametrize("scaler", sorted(scalers()))
def test_every_scaler_runs_and_the_same_seed_gives_the_same(scaler: str) -> None:
    model = steady(rows_per_s=300.0, periods=40, executors=2, most=5, jitter=0.2)

    def once(seed: int) -> tuple[Any, Any]:
        outcome = simulate(model, make_scaler(scaler, {}, "a", seed), seed=seed)
        return outcome.series, outcome.actions

    assert once(1) == once(1)
    assert once(1) != once(2)  # the seed is used
    series, _ = once(1)
    assert all(1 <= n <= 5 for n in series.executors)


@pytest.mark.parametrize("rows_per_s", [50.0, 200.0, 900.0])
def test_more_executors_are_never_worse_under_a_constant_load(rows_per_s: float) -> None:
    before = None
    for executors in range(1, 9):
        model = steady(rows_per_s=rows_per_s, executors=executors, periods=80)
        found = summarise("fixed", simulate(model), model, 10.0)
        if before is not None:
            assert found.latency_p95_s <= before.latency_p95_s + 1e-9
            assert found.share_over_target <= before.share_over_target
            assert found.served_share >= before.served_share - 1e-9
        before = found


class TestClosedForms:
    """A batch takes what arrived in one trigger, and waits half of it at the median."""

    @pytest.mark.parametrize(("cores", "executors"), [(1, 1), (1, 2), (4, 1)])
    def test_latency_of_a_steady_state(self, cores: int, executors: int) -> None:
        model = steady(executors=executors, cores_per_executor=cores)
        one = _last(model).operators[0]
        processing = 0.5 + 100.0 * 5.0 * 0.004 / (cores * executors)
        assert one.processing_s == pytest.approx(processing)
        assert one.scheduling_s == pytest.approx(2.5)
        assert one.latency_s == pytest.approx(2.5 + processing)
        assert one.latency_max_s == pytest.approx(5.0 + processing)
        assert one.batch_rows == 500
        assert one.load == pytest.approx(0.4)
        assert one.busy_cores == pytest.approx(0.4)
        assert one.processed_rows_per_s == pytest.approx(100.0)

    def test_back_to_back_batches_take_overhead_over_idle_share(self) -> None:
        """Without a trigger a batch of length T takes T x rate rows: T = o / (1 - load)."""
        one = _last(steady(trigger_s=0.0, periods=200)).operators[0]
        assert one.processing_s == pytest.approx(0.5 / (1.0 - 0.4), rel=1e-3)
        assert one.latency_s == pytest.approx(1.5 * 0.5 / (1.0 - 0.4), rel=1e-3)

    def test_an_overloaded_cluster_serves_what_it_can(self) -> None:
        """Load 2 with batches of at most a second's work: half of the rows are served."""
        model = steady(rows_per_s=500.0, periods=400, trigger_s=0.0, overhead_s=0.0, max_rows=250)
        run = simulate(model).operators[0]
        assert run.committed_rows / run.arrived_rows == pytest.approx(0.5, abs=0.002)
        assert run.commits[-1][1] == pytest.approx(400 * 5.0 / 2, rel=0.01)

    def test_tasks_run_in_rounds(self) -> None:
        """Four tasks on three cores take as long as on two."""
        three = _last(steady(executors=3, parallelism=4)).operators[0].processing_s
        assert three == pytest.approx(0.5 + 2.0 / 2)

    def test_two_operators_share_the_cores(self) -> None:
        model = steady(overhead_s=0.0)
        twin = replace(model.operators[0], name="twin")
        both = _last(replace(model, operators=(*model.operators, twin)))
        assert [o.processing_s for o in both.operators] == pytest.approx([4.0, 4.0])

    def test_no_executors_means_no_progress_and_rows_wait(self) -> None:
        outcome = simulate(steady(executors=0, min_executors=0))
        assert outcome.operators[0].committed_rows == 0
        model = steady(executors=0, min_executors=0)
        found = summarise("none", outcome, model, 10.0)
        assert found.served_share == 0.0
        assert found.latency_p50_s == pytest.approx(300.0)  # their age at the end


class TestExecutors:
    def test_they_start_after_their_time(self) -> None:
        model = steady(periods=20, executor_start_s=12.0)
        found = simulate(model, make_scaler("fixed", {"executors": 3}, "a"))
        # Asked for at the end of the first period, 5 s; there at 17 s, seen at 20 s.
        assert found.series.executors[:5] == (1, 1, 1, 3, 3)
        assert [(a.at, a.before, a.after) for a in found.actions] == [(5.0, 1, 3)]

    def test_they_leave_after_their_time(self) -> None:
        model = steady(periods=20, executors=4, decommission_s=7.0)
        found = simulate(model, make_scaler("fixed", {"executors": 1}, "a"))
        assert found.series.executors[:4] == (4, 4, 1, 1)

    def test_those_still_starting_are_called_off_first(self) -> None:
        world = SimulatedWorld(steady(executor_start_s=60.0))
        world.scale(0, 5)
        world.step()
        world.scale(0, 2)
        for _ in range(20):
            snapshot = world.step()
        assert snapshot.clusters[0].executors == 2

    def test_limits_hold(self) -> None:
        world = SimulatedWorld(steady(most=3))
        world.scale(0, 99)
        for _ in range(5):
            snapshot = world.step()
        assert (snapshot.clusters[0].executors, snapshot.clusters[0].executors_wanted) == (3, 3)

    def test_a_batch_in_work_goes_faster_once_they_are_there(self) -> None:
        model = steady(
            rows_per_s=1000.0, cost_s=0.01, periods=3, overhead_s=0.0, executor_start_s=0.0
        )
        world = SimulatedWorld(model)
        world.step()  # at 5 s a batch of 50 core seconds begins
        world.step()
        world.scale(0, 10)  # 5 done by 10 s, 45 left: 4.5 s
        one = world.step().operators[0]
        assert one.batch_at == pytest.approx(14.5)


def test_a_move_pauses_the_operator_and_loses_nothing() -> None:
    model = steady(periods=30)
    moving = replace(model.operators[0], place=(0,) * 10 + (1,) * 20)
    model = replace(
        model,
        operators=(moving,),
        clusters=(*model.clusters, ClusterModel(name="b", executors=2)),
        move_pause_s=12.0,
    )
    world = SimulatedWorld(model)
    seen = [world.step().operators[0] for _ in range(30)]
    assert [o.cluster for o in seen].index("b") == 10
    assert seen[11].status is OperatorStatus.STARTING
    commits = [o.batch_at for o in seen if o.batch_at]
    gaps = [b - a for a, b in pairwise(commits)]
    assert max(gaps) >= 12.0
    run = simulate(model).operators[0]
    assert run.arrived_rows == pytest.approx(run.committed_rows + run.queued_rows)


def test_an_operator_that_does_not_run_is_not_reported_but_its_rows_wait() -> None:
    model = steady(periods=10)
    model = replace(model, operators=(replace(model.operators[0], place=(NOWHERE,) * 10),))
    world = SimulatedWorld(model)
    for _ in range(10):
        snapshot = world.step()
    assert snapshot.operators == ()
    assert world.stations[0].queue_rows == pytest.approx(5000.0)


class TestSummary:
    def test_one_endless_batch_does_not_look_fast(self) -> None:
        """Sixteen times too much: hardly a commit, so the last one says nothing."""
        model = steady(rows_per_s=4000.0, periods=100)
        found = what_if(Calibrated(world=model), "no_op", target_latency_s=60.0).summary
        assert found.share_over_target > 0.8
        assert found.latency_p95_s > 300.0

    def test_figures_of_a_fixed_size(self) -> None:
        model = steady(executors=2, periods=360)
        found = what_if(Calibrated(world=model), "fixed", {"executors": 2}).summary
        assert found.executor_hours == pytest.approx(1.0)
        assert (found.executors_mean, found.executors_peak, found.actions) == (2.0, 2, 0)
        assert found.settle_steps == 0
        assert found.latency_p50_s == pytest.approx(4.0)

    def test_steps_to_settle_after_a_step_of_the_load(self) -> None:
        model = steady(periods=240)
        step = (100.0,) * 120 + (1500.0,) * 120
        model = replace(model, operators=(replace(model.operators[0], rows_per_s=step),))
        by_load = what_if(Calibrated(world=model), "dodo").summary
        one_by_one = what_if(Calibrated(world=model), "thresholds").summary
        assert by_load.executors_peak >= ceil(1500 * 0.004)
        assert 1 <= by_load.settle_steps <= 3 < one_by_one.settle_steps


def _last(model):
    world = SimulatedWorld(model)
    for _ in range(model.periods):
        snapshot = world.step()
    return snapshot
