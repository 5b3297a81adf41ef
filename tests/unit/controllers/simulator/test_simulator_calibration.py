"""Calibration: known worlds are recovered, and what they would have done is foretold."""

import pytest
from msgspec.structs import replace

from tests.unit.controllers.simulator.simulator_worlds import PERIOD_S, pipeline, recorded, steady
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.simulator import RECORDED, Calibrated, calibrate, what_if
from weir.controllers.simulator.calibrate import calibrate_world
from weir.controllers.simulator.recording import read_recording, upstream_of


@pytest.fixture(scope="module")
def truth():
    return pipeline(periods=300)


@pytest.fixture(scope="module")
def known(truth) -> Calibrated:
    return calibrate(recorded(truth), "wide")


def test_recovers_what_the_world_was_made_of(known: Calibrated) -> None:
    extractor, count = known.world.operators
    assert extractor.name == "extractor"
    assert extractor.trigger_s == 2.0
    assert extractor.overhead_s == pytest.approx(0.5, abs=0.1)
    assert extractor.batch_work_s == pytest.approx(0.1, abs=0.05)
    assert extractor.parallelism == 4
    assert extractor.stretch == pytest.approx(1.0, abs=0.1)
    assert extractor.latency_offset_s == pytest.approx(0.2, abs=0.1)
    assert extractor.jitter == pytest.approx(0.08, abs=0.04)
    assert sum(extractor.cost_s_per_row) / 300 == pytest.approx(0.006, rel=0.05)
    assert count.upstream == "extractor"
    assert sum(count.rows_per_row) / 300 == pytest.approx(1.0, rel=0.05)
    assert sum(count.cost_s_per_row) / 300 == pytest.approx(0.003, rel=0.05)
    assert known.world.cluster.executor_start_s == pytest.approx(6.0, abs=PERIOD_S)


def test_replays_the_half_that_it_was_not_fitted_on(known: Calibrated) -> None:
    assert known.errors is not None
    assert known.errors.fitted_periods == known.errors.judged_periods == 150
    assert known.errors.latency is not None
    assert known.errors.latency < 0.1
    assert known.errors.executors == 0.0
    assert known.errors.queue is not None
    assert known.errors.queue < 0.2
    assert set(known.errors.operators) == {"extractor", "topic_count"}


@pytest.mark.parametrize(
    ("scaler", "settings"),
    [("fixed", {"executors": 1}), ("fixed", {"executors": 4}), ("thresholds", {})],
)
def test_foretells_what_another_policy_would_have_done(
    truth,
    known: Calibrated,
    scaler: str,
    settings: dict[str, int],
) -> None:
    real = what_if(Calibrated(world=truth), scaler, settings, target_latency_s=5.0).summary
    told = what_if(known, scaler, settings, target_latency_s=5.0).summary
    assert told.latency_p50_s == pytest.approx(real.latency_p50_s, rel=0.35)
    assert told.latency_p95_s == pytest.approx(real.latency_p95_s, rel=0.35)
    assert told.share_over_target == pytest.approx(real.share_over_target, abs=0.05)
    assert told.executors_mean == pytest.approx(real.executors_mean, rel=0.1)


def test_results_carry_the_error_as_a_band(known: Calibrated) -> None:
    found = what_if(known, "thresholds", target_latency_s=5.0)
    assert found.band is not None
    assert known.errors is not None
    error = known.errors.latency
    assert found.band.latency == error
    low, high = found.band.latency_p95_s or (0, 0)
    assert low == pytest.approx(found.summary.latency_p95_s * (1 - error))
    assert high == pytest.approx(found.summary.latency_p95_s * (1 + error))
    assert len(found.series.time) == len(known.recorded.time)


def test_the_held_out_half_is_not_looked_at(truth) -> None:
    """What happens after the split changes no parameter that is used to foretell it."""
    samples = recorded(truth)
    half = samples[len(samples) // 2].at
    spoiled = [
        s
        if s.at < half
        else replace(
            s,
            operators=tuple(
                replace(
                    o,
                    cost_s_per_row=9.0,
                    processing_s=99.0,
                    latency_p50_s=99.0,
                    processed_rows_per_s=1.0,
                    batch_rows=7,
                    queue_rows=10**6,
                )
                for o in s.operators
            ),
        )
        for s in samples
    ]
    honest = calibrate_world(read_recording(samples, "wide"), until=150)
    blind = calibrate_world(read_recording(spoiled, "wide"), until=150)
    for a, b in zip(honest.operators, blind.operators, strict=True):
        assert a == b


def test_the_first_minute_of_an_operator_says_nothing_of_the_rest(truth) -> None:
    """Batches that are four times as slow while it warms up leave the fit as it was."""
    slow = tuple(0.024 if i < 25 else 0.006 for i in range(300))
    one = replace(truth.operators[0], cost_s_per_row=slow)
    cold = replace(truth, operators=(one, *truth.operators[1:]))
    world = calibrate_world(read_recording(recorded(cold), "wide"), until=100)
    extractor = world.operators[0]
    assert extractor.cost_s_per_row[-1] == pytest.approx(0.006, rel=0.1)
    assert extractor.overhead_s == pytest.approx(0.5, abs=0.15)


def test_arrivals_are_put_where_they_came(truth) -> None:
    """Agents average over ten seconds: a step must not come late in the calibrated world."""
    rates = tuple(100.0 if i < 60 else 200.0 for i in range(300))
    one = replace(truth.operators[0], rows_per_s=rates)
    step = replace(truth, operators=(one, *truth.operators[1:]))
    found = calibrate_world(read_recording(recorded(step), "wide")).operators[0].rows_per_s
    middle = next(i for i, rate in enumerate(found) if rate >= 150.0)
    assert abs(middle - 60) <= 1


def test_the_recorded_policy_gives_the_recorded_executors(known: Calibrated) -> None:
    found = what_if(known, RECORDED)
    assert found.summary.actions == 0
    same = sum(
        a == b for a, b in zip(found.series.executors, known.recorded.executors, strict=True)
    )
    assert same / len(found.series.executors) > 0.97


def test_an_admission_limit_is_seen() -> None:
    model = steady(rows_per_s=400.0, periods=100, max_rows=500, overhead_s=1.0)
    world = calibrate(recorded(model)).world
    assert world.operators[0].max_rows == 500


def test_without_batches_the_cost_is_read_off_where_it_is_behind() -> None:
    """Four workers that can do 1,000 rows/s, under 500 and then 2,000."""
    cluster = Cluster(name="a", executors=4, executors_wanted=4, max_executors=8)
    samples = []
    for i in range(100):
        behind = i >= 60
        one = OperatorSample(
            name="flow",
            cluster="a",
            reads=("in",),
            arrival_rows_per_s=2000.0 if behind else 500.0,
            processed_rows_per_s=1000.0 if behind else 500.0,
            latency_p50_s=5.0 * (i - 58) if behind else 1.0,
        )
        samples.append(
            ClusterSample(at=10.0 * (i + 1), period_s=10.0, cluster=cluster, operators=(one,))
        )
    known = calibrate(samples)
    assert known.world.operators[0].cost_s_per_row[0] == pytest.approx(0.004)
    served = what_if(known, "fixed", {"executors": 1}).summary.served_share
    assert served == pytest.approx(250 * 100 / (500 * 60 + 2000 * 40), abs=0.03)


class TestBadRuns:
    def test_no_samples(self) -> None:
        with pytest.raises(InvalidInput, match="no samples"):
            calibrate([])

    def test_too_short(self) -> None:
        with pytest.raises(InvalidInput, match="5 periods of a, but 8 are needed"):
            calibrate(recorded(steady(periods=5)))

    def test_an_unknown_cluster(self) -> None:
        with pytest.raises(InvalidInput, match="has no 'b', only a"):
            calibrate(recorded(steady(periods=20)), "b")

    def test_batch_jobs_only(self) -> None:
        samples = [
            ClusterSample(
                at=float(i),
                period_s=1.0,
                cluster=Cluster(name="a", executors=1),
                operators=(OperatorSample(name="count at Jobs.scala:17", cluster="a", load=1.0),),
            )
            for i in range(1, 30)
        ]
        with pytest.raises(InvalidInput, match="nothing to simulate"):
            calibrate(samples)


def test_a_loop_of_operators_has_no_upstream() -> None:
    model = steady(periods=20)
    one = replace(model.operators[0], reads=("x",), writes=("y",))
    two = replace(model.operators[0], name="two", reads=("y",), writes=("x",))
    recording = read_recording(recorded(replace(model, operators=(one, two))))
    assert upstream_of(recording.operators) == {}


def test_a_log_that_begins_before_the_first_executor() -> None:
    samples = [
        replace(s, cluster=replace(s.cluster, executors=0, executors_wanted=0), operators=())
        if number < 3
        else s
        for number, s in enumerate(recorded(steady(periods=40, executors=2)))
    ]
    known = calibrate(samples)
    assert (known.world.cluster.executors, known.world.cluster.min_executors) == (2, 1)
    assert what_if(known, "no_op").summary.served_share > 0.9
