"""A recommendation and the table of its life.

    proposed -> approved -> applying -> applied -> effective
       |           |           |           +-----> ineffective, unmeasured
       |           |           +-> failed (half a rebalance is undone)
       |           +-> cancelled, expired
       +-> rejected, expired, superseded, cancelled

Every change of size or place goes through one: what the engine proposes, and what a person
asks for by hand. The engine withdraws (cancels) its own proposal when the scaler or planner
behind it no longer asks for it. An approval names the hash of the exact plan, so nobody
approves what they did not see. The id of a recommendation is also the id of its command or
rebalance: applying it twice changes nothing.
"""

import hashlib
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.age import Time
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.errors import Refused

ENGINE = "engine"


class Status(StrEnum):
    """Where a recommendation stands."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    APPLYING = "applying"
    APPLIED = "applied"
    EFFECTIVE = "effective"
    INEFFECTIVE = "ineffective"
    UNMEASURED = "unmeasured"  # done, but there is no figure to judge it by
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Nothing will change any more."""
        return not TRANSITIONS[self]

    @property
    def counts(self) -> bool:
        """It was acted on, or a person rejected it: what guards and track records look at.

        Most proposals of a large installation are withdrawn or never answered; they must not
        crowd out what was done.

        >>> [s.value for s in Status if s.final and not s.counts]
        ['expired', 'superseded', 'cancelled']
        """
        return self not in _NOTHING_DONE


_NOTHING_DONE = frozenset(
    {Status.PROPOSED, Status.APPROVED, Status.EXPIRED, Status.SUPERSEDED, Status.CANCELLED}
)

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PROPOSED: frozenset(
        {Status.APPROVED, Status.REJECTED, Status.EXPIRED, Status.SUPERSEDED, Status.CANCELLED}
    ),
    Status.APPROVED: frozenset(
        {Status.APPLYING, Status.CANCELLED, Status.EXPIRED, Status.SUPERSEDED}
    ),
    Status.APPLYING: frozenset({Status.APPLIED, Status.FAILED}),
    Status.APPLIED: frozenset({Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED}),
    **{
        status: frozenset()
        for status in (
            Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED, Status.FAILED,
            Status.REJECTED, Status.EXPIRED, Status.SUPERSEDED, Status.CANCELLED,
        )
    },
}  # fmt: skip


class GuardState(Struct, frozen=True, kw_only=True):
    """What one guard says: open, or closed with the reason and when it opens."""

    name: str
    open: bool
    reason: str = ""
    opens_at: Time | None = None  # None: not by waiting


class Figures(Struct, frozen=True, kw_only=True):
    """The figures that a recommendation is judged by; None or missing: not known."""

    load: dict[str, float] = {}  # per core, by cluster
    executors: dict[str, int] = {}
    latency_s: float | None = None  # of the slowest operator concerned
    queue_rows: float | None = None  # of the operators concerned
    load_distance: float | None = None  # in points
    work_cores: float | None = None  # that arrives at the clusters concerned


class Entry(Struct, frozen=True, kw_only=True):
    """One line of a recommendation's history."""

    at: Time
    status: Status
    by: str
    why: str = ""
    address: str = ""


class Recommendation(Struct, frozen=True, kw_only=True):
    """What should be done, why, what it should bring, and what became of it."""

    id: str
    at: Time
    expires_at: Time
    decision: Scale | Moves
    source: str  # the scaler or planner, or "by hand", "rollback"
    clusters: tuple[str, ...]  # that it touches
    status: Status = Status.PROPOSED
    version: int = 0  # counts every change, so that of two writers one wins
    by: str = ENGINE  # who asked for it
    comment: str = ""
    objective: str = "load"  # the figure by which it is judged: a field of Figures
    before: Figures = Figures()
    predicted: Figures = Figures()
    error_share: float | None = None  # of past predictions of its kind: the band around `predicted`
    calibration: float = 1.0  # share of what was promised that came true before; in `predicted`
    measured: Figures | None = None
    effectiveness: float | None = None  # (measured - before) / (predicted - before)
    verdict: str = ""  # in words
    guards: tuple[GuardState, ...] = ()  # closed or open, when it was last looked at
    rollback_of: str | None = None
    mode: str = ""  # in which the engine approved it by itself
    applied_at: Time | None = None
    history: tuple[Entry, ...] = ()

    @property
    def kind(self) -> str:
        """scale_out, scale_in or rebalance; a rollback is what it does.

        >>> from weir.controllers.model.decision import Reason
        >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
        >>> Recommendation(
        ...     id="1", at=0.0, expires_at=9.0, decision=scale, source="drs", clusters=("a",)
        ... ).kind
        'scale_out'
        """
        return kind_of(self.decision)

    @property
    def plan_hash(self) -> str:
        """What an approval is bound to."""
        return hash_of(self.decision)


def kind_of(decision: Scale | Moves) -> str:
    """What kind of action a decision is."""
    if isinstance(decision, Moves):
        return "rebalance"
    return "scale_out" if decision.executors > decision.before else "scale_in"


def hash_of(decision: Scale | Moves) -> str:
    """The hash of a plan's steps; the words around them do not count."""
    steps: object = (
        [(m.operator, m.source, m.target) for m in decision.moves]
        if isinstance(decision, Moves)
        else (decision.cluster, decision.before, decision.executors)
    )
    return hashlib.sha256(msgspec.json.encode([kind_of(decision), steps])).hexdigest()[:16]


class IllegalTransition(Refused):
    """A change that the table does not know; carries the history."""


def moved_to(
    recommendation: Recommendation,
    status: Status,
    *,
    at: float,
    by: str,
    why: str = "",
    address: str = "",
) -> Recommendation:
    """The recommendation in its next status, with who and why in its history."""
    if status not in TRANSITIONS[recommendation.status]:
        raise IllegalTransition(
            f"recommendation {recommendation.id} is {recommendation.status} "
            f"and cannot become {status}"
        )
    entry = Entry(at=at, status=status, by=by, why=why, address=address)
    return replace(
        recommendation,
        status=status,
        version=recommendation.version + 1,
        history=(*recommendation.history, entry),
    )
