"""The quick world against the one that it stands for: the same figures, only sooner."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from weir.controllers.model.settings import build
from weir.controllers.simulator import Scenario, Trace, world_of
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.quick import QuickWorld, fits
from weir.controllers.simulator.run import SimulationOutcome, make_scaler, simulate


def bursty(seed: int, **given: Any) -> WorldModel:
    chance = Random(seed)
    times = tuple(60.0 * i for i in range(120))
    rates = tuple(chance.choice((0.0, 50.0, 100.0, 400.0, 900.0)) for _ in times)
    return world_of(
        Trace(times=times, rows_per_s=rates), build(Scenario, {"max_executors": 9} | given)
    )


def same(one: SimulationOutcome, two: SimulationOutcome) -> None:
    assert one.actions == two.actions
    a, b = one.operators[0], two.operators[0]
    assert len(a.commits) == len(b.commits)
    for x, y in zip(a.commits, b.commits, strict=True):
        assert x == pytest.approx(y)
    assert (a.arrived_rows, a.committed_rows, a.queued_rows) == pytest.approx(
        (b.arrived_rows, b.committed_rows, b.queued_rows)
    )
    assert a.waiting_since == pytest.approx(b.waiting_since)
    assert one.series.executors == two.series.executors
    assert one.series.load == pytest.approx(two.series.load)
    assert one.series.arrivals == pytest.approx(two.series.arrivals)
    for m, n in zip(one.series.queue_rows, two.series.queue_rows, strict=True):
        assert abs(m - n) <= 1
    for p, q in zip(one.series.latency_s, two.series.latency_s, strict=True):
        assert (p is None) == (q is None)
        assert p is None or p == pytest.approx(q)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"trigger_s": 0.0},
        {"trigger_s": 30.0, "overhead_s": 3.0},
        {"jitter": 0.0, "period_s": 7.0},
        {"max_rows": 900, "executor_start_s": 95.0},
        {"cores_per_executor": 4, "max_executors": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("scaler", ["spark_streaming", "rate_based", None])
def test_it_answers_as_the_world_does(given: dict[str, Any], scaler: str | None) -> None:
    world = bursty(3, **given)
    assert fits(world)
    outcomes = [
        simulate(
            world,
            make_scaler(scaler, {}, world.focus, 1, 30.0) if scaler else None,
            seed=1,
            quick=quick,
        )
        for quick in (True, False)
    ]
    same(*outcomes)


@pytest.mark.parametrize("field", ["recorded", "asked"])
def test_it_follows_a_recording_as_the_world_does(field: str) -> None:
    world = bursty(5, period_s=10.0, executor_start_s=25.0)
    sizes = tuple(1 + (i // 7) % 12 for i in range(world.periods))
    world = replace(world, clusters=(replace(world.clusters[0], **{field: sizes}),))
    told: list[int] = []
    one = simulate(world, seed=1, on_period=told.append)
    same(one, simulate(world, seed=1, quick=False))
    assert told == [*range(0, world.periods, 256), world.periods]


def test_nobody_deciding_is_as_stepping_through() -> None:
    stepped, passed = (QuickWorld(bursty(4, executor_start_s=33.0), seed=2) for _ in range(2))
    for world in (stepped, passed):
        world.scale(5)
    for _ in range(100):
        stepped.step()
    passed.pass_until(100)
    same(stepped.outcome(None), passed.outcome(None))


def test_there_is_nothing_after_the_last_period() -> None:
    world = QuickWorld(bursty(4))
    with pytest.raises(IndexError):
        world.pass_until(world.model.periods + 1)
