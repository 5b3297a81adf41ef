"""A trace of arrivals on a cluster that a person describes."""

from collections.abc import Iterator
from math import ceil, isfinite
from typing import Annotated

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import setting
from weir.controllers.model.trace import Trace
from weir.controllers.simulator.model import ClusterModel, OperatorModel, WorldModel

_MOST_PERIODS = 2_000_000
_LEAST_COST_S = 1e-12  # of a row: less, and the rows of a batch overflow


class Scenario(Struct, frozen=True, kw_only=True):
    """The cluster that a trace is run on: one operator, as a person describes it."""

    cost_s_per_row: Annotated[
        float,
        setting(
            "Core seconds of one row; 0: the rate of the busiest hours fills 80 % of the most "
            "executors",
            ge=0,
            le=1e6,
            unit="s",
        ),
    ] = 0.0
    min_executors: Annotated[int, setting("Fewest executors", ge=1, le=10_000)] = 1
    max_executors: Annotated[int, setting("Most executors", ge=1, le=10_000)] = 10
    executors: Annotated[
        int, setting("Executors at the start; 0: what the first rate needs", ge=0, le=10_000)
    ] = 0
    cores_per_executor: Annotated[int, setting("Cores of an executor", ge=1, le=1000)] = 1
    executor_start_s: Annotated[
        float, setting("Time until a new executor works", ge=0, le=86_400, unit="s")
    ] = 10.0
    decommission_s: Annotated[
        float, setting("Time until an executor is gone", ge=0, le=86_400, unit="s")
    ] = 3.0
    period_s: Annotated[
        float,
        setting(
            "Time between decisions; 0: the trace's, within 5 to 60 s", ge=0, le=86_400, unit="s"
        ),
    ] = 0.0
    trigger_s: Annotated[float, setting("Time between batches", ge=0, le=3600, unit="s")] = 10.0
    overhead_s: Annotated[
        float, setting("Time of a batch without rows", ge=0, le=3600, unit="s")
    ] = 0.5
    max_rows: Annotated[
        int,
        setting(
            "Most rows in a batch; 0: what the most executors do in one trigger",
            ge=0,
            le=10**15,
            unit="rows",
        ),
    ] = 0
    jitter: Annotated[
        float, setting("Spread of the time of a batch (sigma of its logarithm)", ge=0, le=1)
    ] = 0.1

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be a finite number")
        if 0.0 < self.cost_s_per_row < _LEAST_COST_S:
            raise ValueError(f"cost_s_per_row must be 0 or at least {_LEAST_COST_S:g}")
        if self.min_executors > self.max_executors:
            raise ValueError("min_executors must not be above max_executors")


def world_of(trace: Trace, scenario: Scenario) -> WorldModel:
    """The world in which a trace arrives at one operator.

    >>> trace = Trace(times=(0.0, 300.0), rows_per_s=(100.0, 700.0))
    >>> world = world_of(trace, Scenario(cost_s_per_row=0.01, max_executors=9))
    >>> world.periods, world.cluster.executors, world.operators[0].rows_per_s[-1]
    (10, 2, 700.0)
    """
    s = scenario
    period_s = s.period_s or min(60.0, max(5.0, trace.step_s))
    begin, last = trace.times[0], trace.times[-1] + trace.step_s
    periods = (last - begin) / period_s  # may be infinite
    if periods > _MOST_PERIODS:
        raise InvalidInput(
            f"period: {period_s:g} s gives {periods:.3g} periods, but {_MOST_PERIODS} are the most",
            field="period",
        )
    count = max(1, round(periods))
    cost = s.cost_s_per_row or default_cost_s(trace, s)
    # Without a limit a batch that is late makes the next one larger, without end.
    able = s.max_executors * s.cores_per_executor * (s.trigger_s or 10.0) / cost
    first = ceil(trace.rows_per_s[0] * cost / (0.7 * s.cores_per_executor))
    executors = min(max(s.executors or first, s.min_executors), s.max_executors)
    return WorldModel(
        begin=begin,
        ends=tuple(begin + period_s * (i + 1) for i in range(count)),
        focus="trace",
        clusters=(
            ClusterModel(
                name="trace",
                executors=executors,
                cores_per_executor=s.cores_per_executor,
                min_executors=s.min_executors,
                max_executors=s.max_executors,
                executor_start_s=s.executor_start_s,
                decommission_s=s.decommission_s,
            ),
        ),
        operators=(
            OperatorModel(
                name="trace",
                rows_per_s=tuple(_means(trace, begin, period_s, count)),
                cost_s_per_row=(cost,) * count,
                reads=("input",),  # not the operator's own name: that would be a loop
                trigger_s=s.trigger_s,
                overhead_s=s.overhead_s,
                max_rows=s.max_rows or max(1, ceil(able)),
                jitter=s.jitter,
            ),
        ),
    )


def default_cost_s(trace: Trace, scenario: Scenario) -> float:
    """The cost at which the rate of the busiest hundredth fills 80 % of the most executors."""
    ordered = sorted(trace.rows_per_s)
    busy = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] or ordered[-1]
    return 0.8 * scenario.max_executors * scenario.cores_per_executor / busy


def _means(trace: Trace, begin: float, period_s: float, count: int) -> Iterator[float]:
    """Mean rate of every period."""
    times, rates = trace.times, trace.rows_per_s
    i = 0
    for number in range(count):
        at, end = begin + number * period_s, begin + (number + 1) * period_s
        rows = 0.0
        while at < end:
            while i + 1 < len(times) and times[i + 1] <= at:
                i += 1
            until = min(end, times[i + 1]) if i + 1 < len(times) else end
            rows += rates[i] * (until - at)
            at = until
        yield rows / period_s
