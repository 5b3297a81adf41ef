"""A world calibrated from a run: the same input under another policy or other settings.

    samples --calibrate--> Calibrated --what_if(scaler, settings)--> WhatIf(summary, series, band)
    CSV     --read_trace, world_of-->        --tune(scaler, trials)--> Tuning(front, importance)

The world is stepped period by period and gives the `Snapshot` that production gives,
so every scaler runs on it unchanged.
"""

from weir.controllers.model.trace import Trace, read_trace
from weir.controllers.simulator.accuracy import Errors
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.policy import InForce
from weir.controllers.simulator.run import SimulatedAction, SimulatedSeries
from weir.controllers.simulator.scenario import Scenario, world_of
from weir.controllers.simulator.summary import SimulationSummary
from weir.controllers.simulator.what_if import (
    AS_SET,
    RECORDED,
    Band,
    Calibrated,
    WhatIf,
    calibrate,
    scaler_names,
    what_if,
)

__all__ = [
    "AS_SET",
    "RECORDED",
    "Band",
    "Calibrated",
    "Errors",
    "InForce",
    "Scenario",
    "SimulatedAction",
    "SimulatedSeries",
    "SimulationSummary",
    "Trace",
    "WhatIf",
    "WorldModel",
    "calibrate",
    "read_trace",
    "scaler_names",
    "what_if",
    "world_of",
]
