"""Q-learning with the settings that the thesis holds for good."""

from typing import Any

from weir.controllers.model.settings import build
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.settings import (
    QSettings,
)
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")

THESIS: dict[str, Any] = {
    "max_latency_s": 60.0,
    "latency_granularity_s": 10.0,
    "incoming_message_granularity": 10.0,
    "window_s": 120.0,
    "learning_factor": 0.7,
    "initialisation_mode": "optimised",
    "reward": "prefer_scale_in",
    "decision_interval_s": 60.0,
    "executor_strategy": "queue_aware",
}
"""What the thesis holds for good, where the defaults of today differ."""


def thesis(**given: Any) -> QSettings:
    return build(QSettings, {**THESIS, **given})


def learner(given: dict[str, Any]) -> Any:
    return create("qlearning", {**THESIS, **given}, SCOPE)
