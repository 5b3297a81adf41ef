"""Recommendations as guards, modes and verdicts meet them."""

from weir.controllers.engine.guard.hours import DAY_S, HOUR_S
from weir.controllers.engine.recommendation import (
    Recommendation,
)
from weir.controllers.model.decision import Move, Moves, Prediction, Reason, Scale

NOW = 1_000 * DAY_S + 12 * HOUR_S
MOVE = Move(operator="x", source="a", target="b")


def scale(executors: int, before: int = 2, **more: object) -> Recommendation:
    decision = Scale(cluster="a", executors=executors, before=before, reason=Reason(text=""))
    return Recommendation(
        id="new", at=NOW, expires_at=NOW + 60, decision=decision, source="drs", clusters=("a",),
        **more,
    )  # fmt: skip


def moves(cost: float = 10.0) -> Recommendation:
    decision = Moves(moves=(MOVE,), reason=Reason(text=""), prediction=Prediction(cost=cost))
    return Recommendation(
        id="new", at=NOW, expires_at=NOW + 60, decision=decision, source="dodo",
        clusters=("a", "b"),
    )  # fmt: skip


OUT, IN = scale(3), scale(1)
