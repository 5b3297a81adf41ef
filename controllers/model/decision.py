"""What a planner or scaler answers: a decision, why, and what it should bring.

    Decision = Scale | Moves | Reslice | NoChange

"No change" is an answer with a reason, never None.
"""

from msgspec import Struct


class Reason(Struct, frozen=True, kw_only=True):
    """Why: one sentence, the inequality that fired, and the numbers in it."""

    text: str
    rule: str = ""  # e.g. "load > max_load"
    numbers: dict[str, float] = {}


class Prediction(Struct, frozen=True, kw_only=True):
    """What the decision should bring. None: the method does not say."""

    load: dict[str, float] = {}  # per core, by cluster
    latency_s: float | None = None
    queue_rows: float | None = None
    executors: dict[str, int] = {}
    pause_s: float | None = None
    cost: float | None = None


class Move(Struct, frozen=True, kw_only=True):
    """One operator from one cluster to another."""

    operator: str
    source: str
    target: str


class Scale(Struct, frozen=True, kw_only=True, tag="scale"):
    """Bring a cluster to a number of executors."""

    cluster: str
    executors: int
    before: int
    reason: Reason
    prediction: Prediction = Prediction()


class Moves(Struct, frozen=True, kw_only=True, tag="moves"):
    """Move operators between clusters, in this order."""

    moves: tuple[Move, ...]
    reason: Reason
    prediction: Prediction = Prediction()


class Reslice(Struct, frozen=True, kw_only=True, tag="reslice"):
    """Split a keyed operator into another number of slices."""

    operator: str
    slices: int
    before: int
    reason: Reason
    prediction: Prediction = Prediction()


class NoChange(Struct, frozen=True, kw_only=True, tag="no_change"):
    """Leave everything as it is."""

    reason: Reason


Decision = Scale | Moves | Reslice | NoChange
