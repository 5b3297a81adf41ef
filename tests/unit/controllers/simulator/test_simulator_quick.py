"""The quick world against the one that it stands for: the same figures, only sooner."""

from random import Random
from typing import Any

import pytest

from weir.controllers.model.settings import build
from weir.controllers.simulator import Scenario, Trace, world_of
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.quick import fits
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
