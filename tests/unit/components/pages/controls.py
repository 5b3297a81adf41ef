"""Worlds with recommendations, for tests of the inbox and of the pages around it."""

from typing import Any

from msgspec.structs import replace

from tests.support.world import START, demo_world
from weir.components.live.control import Control
from weir.components.live.world import World
from weir.controllers.engine.recommendation import (
    ENGINE,
    Figures,
    GuardState,
    Recommendation,
    Status,
    move_to,
)
from weir.controllers.model.decision import Move, Moves, Reason, Scale

AT = START + 4.0
SCALE = Scale(
    cluster="narrow",
    executors=3,
    before=1,
    reason=Reason(
        text="narrow is too full.", rule="load > max_load", numbers={"load": 1.2, "max_load": 0.8}
    ),
)
MOVES = Moves(
    moves=(Move(operator="topic_count", source="narrow", target="wide"),),
    reason=Reason(text="It evens out the load."),
)
SHUT = GuardState(name="stabilisation", open=False, reason="narrow is to settle", opens_at=AT + 30)
POLICY = GuardState(name="action budget", open=False, reason="the budget is spent")
OPEN = GuardState(name="data gate", open=True)


def recommendation(*statuses: Status, by: str = ENGINE, **more: Any) -> Recommendation:
    """One for narrow, brought through these statuses."""
    given: dict[str, Any] = {
        "id": "r1",
        "at": AT,
        "expires_at": AT + 300,
        "decision": SCALE,
        "source": "rate_based",
        "clusters": ("narrow",),
        "before": Figures(load={"narrow": 1.2}, executors={"narrow": 1}, latency_s=6.0),
        "predicted": Figures(load={"narrow": 0.4}, executors={"narrow": 3}),
    }
    found = Recommendation(**{**given, "by": by, **more})
    for step, status in enumerate(statuses, start=1):
        found = move_to(
            found, status, at=AT + step, by="ada", why=f"step {step}", address="10.0.0.7"
        )
    return found


def control_world(*found: Recommendation, **control: Any) -> World:
    """The demo with these recommendations."""
    return replace(demo_world(), control=Control(recommendations=found, **control))
