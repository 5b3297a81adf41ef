"""Small worlds for the simulator's tests, and recordings made from them."""

import math
from typing import Any

from weir.controllers.model.sample import ClusterSample
from weir.controllers.simulator.model import ClusterModel, OperatorModel, WorldModel
from weir.controllers.simulator.run import _ask_as_recorded
from weir.controllers.simulator.world import SimulatedWorld

PERIOD_S = 2.0
BEGIN = 1_700_000_000.37  # triggers are whole multiples since the epoch, samples are not


def steady(
    rows_per_s: float = 100.0,
    cost_s: float = 0.004,
    periods: int = 60,
    executors: int = 1,
    most: int = 16,
    period_s: float = 5.0,
    **given: Any,
) -> WorldModel:
    """One operator under a constant load."""
    figures: dict[str, Any] = {"trigger_s": 5.0, "overhead_s": 0.5}
    figures.update({k: given.pop(k) for k in list(given) if k in OperatorModel.__struct_fields__})
    return WorldModel(
        begin=0.0,
        ends=tuple(period_s * (i + 1) for i in range(periods)),
        focus="a",
        clusters=(ClusterModel(name="a", executors=executors, max_executors=most, **given),),
        operators=(
            OperatorModel(
                name="count",
                rows_per_s=(rows_per_s,) * periods,
                cost_s_per_row=(cost_s,) * periods,
                reads=("in",),
                **figures,
            ),
        ),
    )


def pipeline(periods: int = 400, jitter: float = 0.08) -> WorldModel:
    """Two operators in a chain on two clusters; the first cluster was scaled twice."""
    n = periods
    rates = tuple(
        150 + 60 * math.sin(i / 40) + (60 if n // 2 < i < n * 5 // 8 else 0) for i in range(n)
    )
    asked = tuple(2 if i < n // 3 else 3 if i < 2 * n // 3 else 2 for i in range(n))
    return WorldModel(
        begin=BEGIN,
        ends=tuple(BEGIN + PERIOD_S * (i + 1) for i in range(n)),
        focus="wide",
        clusters=(
            ClusterModel(
                name="wide", executors=2, max_executors=4, executor_start_s=6.0, asked=asked
            ),
            ClusterModel(name="narrow", executors=1, max_executors=2),
        ),
        operators=(
            OperatorModel(
                name="extractor",
                rows_per_s=rates,
                cost_s_per_row=(0.006,) * n,
                place=(0,) * n,
                reads=("tweets",),
                writes=("topics",),
                trigger_s=2.0,
                overhead_s=0.5,
                batch_work_s=0.1,
                parallelism=4,
                latency_offset_s=0.2,
                jitter=jitter,
            ),
            OperatorModel(
                name="topic_count",
                rows_per_s=(0.0,) * n,
                cost_s_per_row=(0.003,) * n,
                place=(1,) * n,
                upstream="extractor",
                rows_per_row=(1.0,) * n,
                reads=("topics",),
                trigger_s=2.0,
                overhead_s=0.8,
                stateful=True,
                jitter=jitter,
            ),
        ),
    )


def recorded(model: WorldModel, seed: int = 3) -> list[ClusterSample]:
    """What agents would have reported from a world that was run as its clusters asked."""
    world = SimulatedWorld(model, seed)
    samples = []
    before = model.begin
    for i, end in enumerate(model.ends):
        for number in range(len(model.clusters)):
            _ask_as_recorded(world, number, i)
        snapshot = world.step()
        samples += [
            ClusterSample(
                at=end, period_s=end - before, cluster=c, operators=snapshot.operators_of(c.name)
            )
            for c in snapshot.clusters
        ]
        before = end
    return samples
