"""Checks that every scaler passes, found by the registry."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.checks import check_answer, check_scaler
from weir.controllers.model.decision import Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create, scalers

NAMES = tuple(scalers())
SCOPE = Scope(cluster="a")
every_scaler = pytest.mark.parametrize("name", NAMES)


def test_all_scalers_are_found() -> None:
    assert {
        "no_op",
        "fixed",
        "thresholds",
        "spark_streaming",
        "dodo",
        "qlearning",
        "drs",
        "rate_based",
        "parameter_optimisation",
        "predictive",
    } <= set(NAMES)


def test_an_unknown_scaler_is_a_sentence_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"no scaler 'magic'; known: .*drs"):
        create("magic", {}, SCOPE)


@every_scaler
def test_every_scaler_passes_the_checks_that_anybody_can_run(name: str) -> None:
    check_scaler(scalers()[name])


LEARNING = {"value_iteration_time_s": 1000, "decision_interval_s": 10, "policy": "epsilon"}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *((n, {}) for n in NAMES),
        ("qlearning", LEARNING),
        ("drs", {"smoothing": "alpha", "t_ra_s": 5}),
        (
            "predictive",
            {
                "step_s": 5,
                "method": "seasonal_naive",
                "inner": "qlearning",
                "inner_settings": LEARNING,
            },
        ),
    ],
)
def test_is_deterministic_and_memory_survives_json(name: str, given: dict[str, Any]) -> None:
    """Two runs agree, though one of them restarts before every single decision."""
    through = create(name, given, SCOPE)
    straight, restarted = World(wave), World(wave)
    memory, plain = through.fresh(), None
    for _ in range(40):
        one, memory = through.decide(straight.step(), memory, straight.now)
        again = create(name, given, SCOPE)
        two, kept = again.decide(restarted.step(), again.remember(plain), restarted.now)
        plain = msgspec.json.encode(kept)
        assert one == two
        if isinstance(one, Scale):
            straight.executors = restarted.executors = one.executors
    assert again.remember(plain) == memory
    assert again.remember(msgspec.json.decode(plain)) == memory


@every_scaler
def test_scalers_say_what_they_are(name: str) -> None:
    assert scalers()[name].__doc__


# Q-learning takes a steady load for a falling one: see the finding in test_qlearning.
@pytest.mark.parametrize("name", [n for n in NAMES if n != "qlearning"])
def test_a_constant_load_within_bounds_settles(name: str) -> None:
    """At a steady load there are only so many changes, and none at the end."""
    world = World(lambda at: 2000.0, executors=4)
    world.run(create(name, {}, SCOPE), periods=160)
    late = [a for a in world.actions if a[0] > 400.0]
    assert len(late) <= 2, world.actions


limits = st.integers(0, 30)
LOOKS, LOOK_S = 7, 70.0  # more than the twelve steps of 20 s before a first forecast


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    executors=limits,
    wanted=limits,
    least=limits,
    most=limits,
    left=st.none() | st.integers(-5, 30),
    bottom=limits,
    top=st.none() | limits,
    cores=st.integers(1, 4),
    load=st.floats(0, 200) | st.floats(0),
    latency=st.floats(0, 500) | st.floats(0),
    queue=st.integers(0, 10**7),
)
@every_scaler
def test_never_leaves_the_limits(
    name: str,
    executors: int,
    wanted: int,
    least: int,
    most: int,
    left: int | None,
    bottom: int,
    top: int | None,
    cores: int,
    load: float,
    latency: float,
    queue: int,
) -> None:
    scope = Scope(cluster="a", min_executors=bottom, max_executors=top, total_left=left)
    scaler = create(name, {}, scope)
    memory = scaler.fresh()
    for look in range(LOOKS):
        grown = load * (1.0 + 0.3 * look)
        shot = snapshot(
            operator(
                load=grown,
                busy_cores=grown,
                arrival_rows_per_s=grown * 2000,
                queue_rows=queue,
                processing_s=latency,
            ),
            executors=executors,
            executors_wanted=wanted,
            least=least,
            most=most,
            cores=cores,
        )
        decision, memory = scaler.decide(shot, memory, LOOK_S * look)
        check_answer(decision, shot, scope)
        assert scaler.remember(msgspec.json.encode(memory)) == memory


def test_a_forecast_keeps_to_the_limits() -> None:
    """The same sequence: it is long enough for a forecast, and what that asks for is cut."""
    scope = Scope(cluster="a", max_executors=3, total_left=20)
    scaler = create("predictive", {"step_s": 20, "horizon_s": 60}, scope)
    memory = scaler.fresh()
    for look in range(LOOKS):
        load = 1.0 + 0.3 * look
        shot = snapshot(
            operator(
                load=load,
                busy_cores=load,
                arrival_rows_per_s=load * 2000,
                processed_rows_per_s=load * 2000,
            ),
            most=8,
        )
        decision, memory = scaler.decide(shot, memory, LOOK_S * look)
        check_answer(decision, shot, scope)
    assert memory.factor > 1.0
    assert isinstance(decision, Scale)
    assert decision.executors == 3
    assert "3 is the most allowed" in decision.reason.text


def wave(at: float) -> float:
    """Up and down between 500 and 8,500 rows per second, once in 100 s."""
    phase = at % 100.0 / 100.0
    return 500.0 + 16000.0 * min(phase, 1.0 - phase)
