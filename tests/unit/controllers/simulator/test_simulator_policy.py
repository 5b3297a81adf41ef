"""The policy that was in force decides anew, with the settings of each moment."""

import pytest

from tests.unit.controllers.simulator.simulator_worlds import pipeline, recorded, steady
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Mode
from weir.controllers.simulator import AS_SET, RECORDED, Calibrated, InForce, calibrate, what_if
from weir.controllers.simulator.model import WorldModel


def in_force(since: float, executors: int, acts: bool = True) -> InForce:
    return InForce(
        since=since, scaler="fixed", settings={"executors": executors}, mode=Mode.AUTO, acts=acts
    )


def simulated(world: WorldModel, *policy: InForce) -> tuple[int, ...]:
    return what_if(Calibrated(world=world, policy=policy), AS_SET).series.executors


def test_each_moment_has_its_own_settings() -> None:
    world = steady(periods=60)  # five seconds each
    found = simulated(world, in_force(0.0, 4), in_force(150.0, 2))
    assert found[25] == 4
    assert found[-1] == 2


def test_what_people_asked_for_is_asked_for_again() -> None:
    world = pipeline(periods=90)
    found = simulated(world, in_force(0.0, 1, acts=False))
    assert (found[20], found[50], found[-1]) == (2, 3, 2)


def test_settings_that_cannot_be_used_change_nothing() -> None:
    world = steady(periods=20, executors=3)
    found = simulated(world, InForce(since=0.0, scaler="gone", acts=True))
    assert set(found) == {3}


def test_the_limits_of_then_hold() -> None:
    bound = InForce(
        since=0.0, scaler="fixed", settings={"executors": 9}, max_executors=5, acts=True
    )
    assert simulated(steady(periods=40), bound)[-1] == 5


def test_without_recorded_settings_it_says_so() -> None:
    with pytest.raises(InvalidInput, match="were not recorded"):
        what_if(Calibrated(world=steady(periods=20)), AS_SET)


class TestTrust:
    def test_the_policy_that_acted_is_held_against_the_recording(self) -> None:
        """The recording kept two to three executors: a policy of that size is close, of one not."""
        samples = recorded(pipeline(periods=120))
        errors = {}
        for executors in (1, 2):
            policy = (in_force(0.0, executors),)
            known = calibrate(samples, "wide", {"wide": policy}.__getitem__)
            assert known.policy == policy
            assert known.policy_errors is not None
            assert known.policy_errors.judged_periods == 60
            errors[executors] = known.policy_errors.executors
        assert errors[2] is not None
        assert errors[1] is not None
        assert errors[2] < 0.4 < errors[1]

    def test_where_people_decided_there_is_nothing_more_to_judge(self) -> None:
        samples = recorded(pipeline(periods=60))
        known = calibrate(samples, "wide", lambda cluster: (in_force(0.0, 2, acts=False),))
        assert known.policy_errors is None
        assert known.errors is not None

    def test_only_moments_in_which_it_decided_say_how_far_it_is_off(self) -> None:
        """A policy of one executor where two to three ran; people decided most of the time."""
        samples = recorded(pipeline(periods=120))
        late, half = samples[220].at, samples[120].at
        policy = (in_force(0.0, 1, acts=False), in_force(late, 1))
        known = calibrate(samples, "wide", lambda cluster: policy)
        assert known.policy_errors is not None
        assert known.policy_errors.judged_periods == 10
        assert (known.policy_errors.executors or 0) > 0.4
        early = (in_force(0.0, 1), in_force(half, 1, acts=False))
        assert calibrate(samples, "wide", lambda cluster: early).policy_errors is None


class TestBand:
    def test_a_scaler_is_as_far_off_as_the_recorded_policy_deciding_anew(self) -> None:
        samples = recorded(pipeline(periods=120))
        known = calibrate(samples, "wide", lambda cluster: (in_force(0.0, 1),))
        assert known.errors is not None
        assert known.policy_errors is not None
        off = known.policy_errors.executors or 0.0
        assert known.errors.executors == 0.0 < off
        for scaler in ("thresholds", AS_SET):
            found = what_if(known, scaler)
            assert found.band is not None
            assert found.band.executors == off
            hours = found.summary.executor_hours
            low, high = found.band.executor_hours or (0.0, 0.0)
            assert (low, high) == pytest.approx((hours * (1 - off), hours * (1 + off)))
        done = what_if(known, RECORDED).band
        assert done is not None
        assert done.executors == 0.0  # the requests are the recorded ones

    @pytest.mark.parametrize(
        ("periods", "policy", "why"),
        [
            (120, (), "were not recorded"),
            (120, (in_force(0.0, 2, acts=False),), "people decided"),
            (12, (in_force(0.0, 2),), "could be judged"),
        ],
    )
    def test_nobody_knows_the_executors_of_a_scaler_that_was_never_judged(
        self, periods: int, policy: tuple[InForce, ...], why: str
    ) -> None:
        known = calibrate(recorded(pipeline(periods=periods)), "wide", lambda cluster: policy)
        found = what_if(known, "thresholds").band
        assert found is not None
        assert found.latency is not None
        assert (found.executors, found.executor_hours) == (None, None)
        assert found.no_executors.startswith("no band: ")
        assert why in found.no_executors

    @pytest.mark.parametrize(("periods", "held_out"), [(15, False), (16, True)])
    def test_it_says_by_which_error_it_is_wide(self, periods: int, held_out: bool) -> None:
        known = calibrate(recorded(pipeline(periods=periods)), "wide")
        found = what_if(known, RECORDED).band
        assert found is not None
        assert found.held_out is held_out
        judged = known.errors if held_out else known.fit_errors
        assert judged is not None
        assert found.latency == judged.latency
