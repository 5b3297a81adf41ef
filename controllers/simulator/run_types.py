"""What comes of a simulation: series, actions, and what every operator did."""

from typing import Any

from msgspec import Struct

from weir.controllers.simulator.kernel import Floats


class SimulatedSeries(Struct, frozen=True, kw_only=True):
    """Figures of the cluster in question, one per period. None: not measured."""

    time: tuple[float, ...]  # end of the period
    latency_s: tuple[float | None, ...]  # of the slowest operator
    queue_rows: tuple[float, ...]
    executors: tuple[int, ...]
    load: tuple[float, ...]  # per core
    arrivals: tuple[float, ...]  # rows/s


class SimulatedAction(Struct, frozen=True):
    """A change of the number of executors that was asked for."""

    at: float
    before: int
    after: int


class OperatorRun(Struct, frozen=True, kw_only=True):
    """What one operator did."""

    name: str
    arrived_rows: float
    committed_rows: float
    queued_rows: float  # at the end, batch in work included
    commits: Floats  # one row each: moment, latency, rows
    first_at: Floats  # when the first row of each committed batch came
    waiting_since: float | None  # when the oldest row came that is not committed
    processing_s: tuple[float | None, ...]  # by period, of the last batch
    latency_s: tuple[float | None, ...]
    queue_rows: tuple[int, ...]


class SimulationOutcome(Struct, frozen=True, kw_only=True):
    """What came of a simulation."""

    series: SimulatedSeries
    actions: tuple[SimulatedAction, ...]
    operators: tuple[OperatorRun, ...]
    memory: Any = None  # of the scaler, at the end
