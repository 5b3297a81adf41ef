"""What a planner or scaler answers: a decision, why, and what it should bring.

    Change = Scale | Moves | Rescue | Reslice
    Decision = Change | NoChange

"No change" is an answer with a reason, never None.
"""

from enum import StrEnum

from msgspec import Struct


class Grounds(StrEnum):
    """What an answer rests on. Code looks at this, never at the words of a reason."""

    FIGURES = "figures"  # it weighed what was measured
    MISSING = "missing"  # figures are missing: it cannot tell yet
    NOT_NOW = "not now"  # it waits until its next decision is due
    UNUSABLE = "unusable"  # its settings or an error of its own keep it from answering


class Reason(Struct, frozen=True, kw_only=True):
    """Why: one sentence, the inequality that fired, and the numbers in it."""

    text: str
    rule: str = ""  # e.g. "load > max_load"
    numbers: dict[str, float] = {}
    grounds: Grounds = Grounds.FIGURES

    @property
    def is_opinion(self) -> bool:
        """It speaks for a number or a plan; otherwise nothing was weighed."""
        return self.grounds is Grounds.FIGURES


class Prediction(Struct, frozen=True, kw_only=True):
    """What the decision should bring. None: the method does not say."""

    load: dict[str, float] = {}  # per core, by cluster
    latency_s: float | None = None  # own: waiting and processing in the cluster
    queue_rows: float | None = None
    executors: dict[str, int] = {}
    pause_s: float | None = None
    cost: float | None = None
    slice_load: dict[str, float] = {}  # cores, by slice
    moved_share: float | None = None  # of the keys, that change their owner


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


class Rescue(Moves, frozen=True, kw_only=True, tag="rescue"):
    """Start operators of dead clusters elsewhere: nobody is there to let them go."""

    died_at: dict[str, float] = {}  # by cluster: its last sign of life


class Reslice(Struct, frozen=True, kw_only=True, tag="reslice"):
    """Give the key groups of an operator other owners: more slices, fewer, or other arcs."""

    operator: str
    slices: int
    before: int
    was: dict[str, tuple[int, ...]]  # what it was made for: slice -> key groups
    owners: dict[str, tuple[int, ...]]  # wanted
    clusters: dict[str, str] = {}  # where slices that are new are to run
    left: dict[str, str] = {}  # where slices that are dropped ran
    touches: tuple[str, ...] = ()  # clusters whose slices change
    reason: Reason
    prediction: Prediction = Prediction()


class NoChange(Struct, frozen=True, kw_only=True, tag="no_change"):
    """Leave everything as it is."""

    reason: Reason


Change = Scale | Moves | Rescue | Reslice
"""What a recommendation can be about."""
Decision = Change | NoChange
