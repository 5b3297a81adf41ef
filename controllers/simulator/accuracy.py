"""How far the simulator is off: it replays what was done and is held against the recording."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.simulator.calibrate import calibrate_world, known_before
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.recording import Floats, Recording, recorded_series
from weir.controllers.simulator.run import SimulatedSeries, SimulationOutcome, simulate


class Errors(Struct, frozen=True, kw_only=True):
    """Median absolute errors as a share of the recorded value. None: nothing to compare."""

    latency: float | None
    queue: float | None  # as a share of the queue, or of a period's arrivals if that is more
    executors: float | None
    operators: dict[str, float] = {}  # of the latency, by operator
    each: float | None = None  # of the latency, over all moments of all operators
    fitted_periods: int = 0
    judged_periods: int = 0


def held_out_errors(
    recording: Recording,
    deciding: Callable[[WorldModel], Any] = lambda world: None,
    counts: Callable[[float], bool] = lambda at: True,
) -> Errors:
    """Fit on the first half, replay the second as it was run, and compare.

    The second half begins with the queues and executors that were recorded at that
    moment; of what follows only arrivals, places and requests for executors are known.
    `deciding` makes, for the world of the second half, who asks for executors instead;
    `counts` says which of its moments are compared.
    """
    half = recording.periods // 2
    world = without_jitter(calibrate_world(recording, until=half))
    queues = {o.name: known_before(o["queue_rows"], half - 1) for o in recording.operators}
    rest = world.part(half, recording.periods)
    rest = rest.starting_with([queues[o.name] for o in rest.operators])
    outcome = simulate(rest, deciding(rest))
    return errors_of(outcome, recording, half, counts)


def errors_of(
    outcome: SimulationOutcome,
    recording: Recording,
    first: int = 0,
    counts: Callable[[float], bool] = lambda at: True,
) -> Errors:
    """The outcome of a replay that begins at period `first`, against the recording."""
    real, simulated = recorded_series(recording), outcome.series
    among = [i for i, at in enumerate(simulated.time) if counts(at)]
    then = [first + i for i in among]
    by_operator: dict[str, float] = {}
    shares: list[Floats] = []
    series = {o.name: o for o in recording.operators}
    for run in outcome.operators:
        off = _shares(series[run.name]["latency_s"][then], _floats(run.latency_s)[among])
        if off.size:
            by_operator[run.name] = float(np.median(off))
            shares.append(off)
    arrivals = _floats(real.arrivals)[then] * _period_s(real)
    return Errors(
        latency=_median_share(_floats(real.latency_s)[then], _floats(simulated.latency_s)[among]),
        queue=_median_share(
            _floats(real.queue_rows)[then], _floats(simulated.queue_rows)[among], arrivals
        ),
        executors=_median_share(_floats(real.executors)[then], _floats(simulated.executors)[among]),
        operators=by_operator,
        each=float(np.median(np.concatenate(shares))) if shares else None,
        fitted_periods=first,
        judged_periods=len(among),
    )


def without_jitter(world: WorldModel) -> WorldModel:
    """The world at its middle: chance would only be compared with other chance."""
    return replace(world, operators=tuple(replace(o, jitter=0.0) for o in world.operators))


def _median_share(real: Floats, simulated: Floats, least: Floats | None = None) -> float | None:
    found = _shares(real, simulated, least)
    return float(np.median(found)) if found.size else None


def _shares(real: Floats, simulated: Floats, least: Floats | None = None) -> Floats:
    """Absolute errors as shares, of the moments that can be compared."""
    floor = np.full(len(real), 1e-9) if least is None else np.maximum(least, 1e-9)
    good = np.isfinite(real) & np.isfinite(simulated) & ((real > 0) | (floor > 1e-9))
    share = np.abs(simulated[good] - real[good]) / np.maximum(real[good], floor[good])
    return np.asarray(share, dtype=np.float64)


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _period_s(series: SimulatedSeries) -> float:
    return float(np.median(np.diff(series.time))) if len(series.time) > 1 else 1.0
