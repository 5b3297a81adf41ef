"""What scalers are tried on: stretches of real traces, and made-up inputs of every kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from weir.controllers.simulator import Scenario, Trace, WorldModel, read_trace, world_of

HOURS = 48.0
MOST = 24
SHARE = 0.7  # of the executors, needed at the 99th percentile of the rate


def sized(trace: Trace, scenario: Scenario | None = None) -> WorldModel:
    """A trace on a cluster that its 99th percentile fills to 70 %."""
    s = scenario or Scenario(max_executors=MOST)
    busy = float(np.percentile(trace.rows_per_s, 99)) or max(trace.rows_per_s)
    cost = SHARE * s.max_executors * s.cores_per_executor / busy
    return world_of(trace, replace(s, cost_s_per_row=cost))


def stretch(trace: Trace, first_s: float, hours: float = HOURS) -> Trace:
    """The first hours of a trace."""
    times, rates = np.array(trace.times), np.array(trace.rows_per_s)
    begin = times[0] + first_s
    inside = (times >= begin) & (times < begin + 3600.0 * hours)
    return Trace(times=tuple(times[inside].tolist()), rows_per_s=tuple(rates[inside].tolist()))


def stretches(folder: Path) -> dict[str, WorldModel]:
    """Of every trace the first 48 hours; of long ones also those around the highest rate and
    those a third in."""
    found = {}
    for path in sorted(folder.glob("*.csv*")):
        trace = read_trace(path.read_bytes())
        name = path.name.split(".")[0]
        long_s = trace.times[-1] - trace.times[0]
        found[name] = sized(stretch(trace, 0.0))
        if long_s > 2.5 * 3600.0 * HOURS:
            peak_s = trace.times[int(np.argmax(trace.rows_per_s))] - trace.times[0]
            first_s = min(max(0.0, peak_s - 1800.0 * HOURS), long_s - 3600.0 * HOURS)
            found[f"{name}, peak"] = sized(stretch(trace, first_s))
            found[f"{name}, a third in"] = sized(stretch(trace, 0.35 * long_s))
    return found


def made_up(seed: int = 1, hours: float = HOURS) -> dict[str, WorldModel]:
    """Step, ramp, spike, daily and drifting cost, with a little noise."""
    chance = np.random.default_rng(seed)
    minutes = np.arange(int(hours * 60))
    day = np.sin(2.0 * np.pi * (minutes / 1440.0 - 0.3))
    shapes = {
        "step": np.where((minutes // 360) % 2 == 0, 40.0, 160.0),
        "ramp": 40.0 + 160.0 * np.abs((minutes / 360.0) % 2.0 - 1.0),
        "spike": np.where(minutes % 360 < 5, 300.0, 60.0),
        "daily": 100.0 * (1.0 + 0.6 * day),
        "drifting cost": 100.0 * (1.0 + 0.2 * day),
    }
    worlds = {}
    for name, rates in shapes.items():
        noisy = rates * np.exp(chance.normal(0.0, 0.05, len(rates)))
        trace = Trace(times=tuple((60.0 * minutes).tolist()), rows_per_s=tuple(noisy.tolist()))
        world = sized(trace)
        if name == "drifting cost":
            operator = world.operators[0]
            drift = np.linspace(0.6, 1.2, world.periods) * np.array(operator.cost_s_per_row)
            drifting = replace(operator, cost_s_per_row=tuple(drift.tolist()))
            world = replace(world, operators=(drifting,))
        worlds[name] = world
    return worlds
