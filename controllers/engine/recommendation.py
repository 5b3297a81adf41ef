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

from weir.controllers.balancing.joint import Option
from weir.controllers.model.age import Time
from weir.controllers.model.decision import Change, Moves, Rescue, Reslice, Scale
from weir.controllers.model.errors import Refused

ENGINE = "engine"


class Kind(StrEnum):
    """What a recommendation changes; a rollback is of the kind that it does."""

    SCALE_OUT = "scale_out"
    SCALE_IN = "scale_in"
    REBALANCE = "rebalance"
    RESLICE = "reslice"
    RESCUE = "rescue"


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


DONE = (Status.APPLIED, Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)
"""The action was carried out, whether judged or not."""


class Disturbance(StrEnum):
    """Why an action that was carried out could not be judged."""

    FAULT = "fault"
    RESTART = "restart"
    OTHER_ACTION = "other action"
    NEXT_ACTION = "next action"  # it began before the effect could show
    INPUT_CHANGED = "input changed"
    NO_FIGURES = "no figures"


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
    latency_s: float | None = None  # own, of the slowest operator concerned
    queue_rows: float | None = None  # of the operators concerned
    load_distance: float | None = None  # in points
    outage_s: float | None = None  # from a cluster's death to the last first commit elsewhere
    work_cores: float | None = None  # that arrives at the clusters concerned


class Judgement(Struct, frozen=True, kw_only=True):
    """One action judged by one figure, and two questions answered; None: nobody can say."""

    objective: str  # the figure: a field of Figures
    before: float | None = None  # as it was
    before_now: float | None = None  # what it would be at today's input
    predicted: float | None = None  # at today's input
    measured: float | None = None
    came_true: bool | None = None  # the prediction
    helped: bool | None = None  # the target is kept, or cost is saved
    why: str = ""  # it helped or not
    disturbance: Disturbance | None = None  # why it could not be judged


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
    decision: Change
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
    judgement: Judgement | None = None
    options: tuple[Option, ...] = ()  # the plan for size and place that it is a step of, first
    guards: tuple[GuardState, ...] = ()  # closed or open, when it was last looked at
    rollback_of: str | None = None
    mode: str = ""  # in which the engine approved it by itself
    applied_at: Time | None = None
    history: tuple[Entry, ...] = ()

    @property
    def kind(self) -> Kind:
        """What it changes.

        >>> from weir.controllers.model.decision import Reason
        >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
        >>> Recommendation(
        ...     id="1", at=0.0, expires_at=9.0, decision=scale, source="drs", clusters=("a",)
        ... ).kind
        <Kind.SCALE_OUT: 'scale_out'>
        """
        return kind_of(self.decision)

    @property
    def plan_hash(self) -> str:
        """What an approval is bound to."""
        return hash_of(self.decision)


def kind_of(decision: Change) -> Kind:
    """What kind of action a decision is."""
    if isinstance(decision, Rescue):
        return Kind.RESCUE
    if isinstance(decision, Moves):
        return Kind.REBALANCE
    if isinstance(decision, Reslice):
        return Kind.RESLICE
    return Kind.SCALE_OUT if decision.executors > decision.before else Kind.SCALE_IN


def hash_of(decision: Change) -> str:
    """The hash of a plan's steps; the words around them do not count."""
    steps: object
    match decision:
        case Scale(cluster=cluster, before=before, executors=executors):
            steps = (cluster, before, executors)
        case Moves(moves=moves):
            steps = [(m.operator, m.source, m.target) for m in moves]
        case Reslice(operator=name, was=was, owners=owners, clusters=where):
            steps = (name, sorted(was.items()), sorted(owners.items()), sorted(where.items()))
    return hashlib.sha256(msgspec.json.encode([kind_of(decision), steps])).hexdigest()[:16]


class IllegalTransition(Refused):
    """A change that the table does not know; tells the recommendation's whole story."""


def story(recommendation: Recommendation) -> str:
    """Every step of its life so far: by whom, when and why.

    >>> from weir.controllers.model.decision import Reason
    >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
    >>> asked = Recommendation(
    ...     id="1", at=0.0, expires_at=9.0, decision=scale, source="drs", clusters=("a",)
    ... )
    >>> story(move_to(asked, Status.REJECTED, at=4.0, by="ada", why="too many"))
    'rejected by ada at 4.0 (too many)'
    """
    return "; ".join(
        f"{e.status} by {e.by} at {e.at:.1f}" + (f" ({e.why})" if e.why else "")
        for e in recommendation.history
    )


def move_to(
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
            f"and cannot become {status}. Its story: {story(recommendation)}"
        )
    entry = Entry(at=at, status=status, by=by, why=why, address=address)
    return replace(
        recommendation,
        status=status,
        version=recommendation.version + 1,
        history=(*recommendation.history, entry),
    )
