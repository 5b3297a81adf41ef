"""Recommendations as people read them: what, why, what it should bring, what came of it."""

from typing import Literal

from msgspec import Struct

from weir.components.ui import text
from weir.components.ui.text import who
from weir.controllers.engine.recommendation import (
    ENGINE,
    Entry,
    Figures,
    GuardState,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Move, Moves, Reason, Scale

Verb = Literal["approve", "reject", "cancel", "rollback"]
Mood = Literal["", "ok", "warn", "bad", "off", "run"]

KINDS = {"scale_out": "Scale out", "scale_in": "Scale in", "rebalance": "Rebalance"}
OBJECTIVES = {
    "load": "Load per core",
    "executors": "Executors",
    "latency_s": "Latency of the slowest operator",
    "queue_rows": "Queue",
    "load_distance": "Load distance",
}
LOOKS: dict[Status, tuple[str, Mood]] = {
    Status.PROPOSED: ("clock", "warn"),
    Status.APPROVED: ("check", "run"),
    Status.APPLYING: ("run", "run"),
    Status.APPLIED: ("clock", "run"),
    Status.EFFECTIVE: ("check", "ok"),
    Status.INEFFECTIVE: ("warn", "bad"),
    Status.UNMEASURED: ("check", "off"),
    Status.FAILED: ("cross", "bad"),
    Status.REJECTED: ("cross", "off"),
    Status.EXPIRED: ("clock", "off"),
    Status.SUPERSEDED: ("restart", "off"),
    Status.CANCELLED: ("cross", "off"),
}
MEANINGS = {
    Status.PROPOSED: "waits for a decision",
    Status.APPROVED: "goes ahead as soon as its guards are open",
    Status.APPLYING: "is being carried out",
    Status.APPLIED: "is done; its effect is measured after the settling time",
    Status.EFFECTIVE: "did what was predicted",
    Status.INEFFECTIVE: "was done but did not bring what was predicted",
    Status.UNMEASURED: "was done; its effect could not be measured",
    Status.FAILED: "could not be carried out; half a rebalance is undone",
    Status.REJECTED: "was turned down",
    Status.EXPIRED: "was not decided, or not begun, in time",
    Status.SUPERSEDED: "was replaced because the plan no longer held",
    Status.CANCELLED: "was taken back",
}
DONE = (Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)
MOVES_NAMED = 3


class FigureRow(Struct, frozen=True, kw_only=True):
    """One figure before, as predicted with its band, and as measured."""

    name: str
    before: str
    predicted: str
    band: str = ""  # of the prediction, from past errors
    measured: str = ""  # empty until the settling time is over
    now: str = ""  # key of the figure that follows the feed
    judged: bool = False  # the recommendation is judged by it


class Why(Struct, frozen=True, kw_only=True):
    """The sentence, the inequality that fired and its numbers."""

    text: str
    rule: str = ""
    numbers: tuple[tuple[str, str], ...] = ()


def title(decision: Scale | Moves, *, undo: bool = False) -> str:
    """What will be done, in one line.

    >>> title(Scale(cluster="wide", executors=5, before=3, reason=Reason(text="")))
    'Scale wide out: 3 → 5 executors'
    >>> move = Move(operator="count", source="a", target="b")
    >>> title(Moves(moves=(move,), reason=Reason(text="")), undo=True)
    'Undo: move count from a to b'
    """
    if isinstance(decision, Scale):
        way = "out" if decision.executors > decision.before else "in"
        words = (
            f"scale {decision.cluster} {way}: {decision.before} → "
            f"{text.plural(decision.executors, 'executor')}"
        )
    else:
        words = f"move {moves_words(decision.moves)}"
    return f"Undo: {words}" if undo else words[0].upper() + words[1:]


def title_of(recommendation: Recommendation) -> str:
    """What a recommendation is about, in one line."""
    return title(recommendation.decision, undo=recommendation.rollback_of is not None)


def moves_words(moves: tuple[Move, ...]) -> str:
    """Moves in a line; of many, the first ones and how many there are."""
    shown = [f"{m.operator} from {m.source} to {m.target}" for m in moves[:MOVES_NAMED]]
    more = len(moves) - len(shown)
    return ", ".join(shown) + (f" and {text.plural(more, 'operator')} more" if more else "")


def why(reason: Reason) -> Why:
    """The reason with its numbers rounded to what matters.

    >>> why(Reason(text="Too full.", rule="load > 0.8", numbers={"load": 1.2345})).numbers
    (('load', '1.23'),)
    """
    return Why(
        text=reason.text,
        rule=reason.rule,
        numbers=tuple((name, number(value)) for name, value in reason.numbers.items()),
    )


def number(value: float) -> str:
    """A number of a reason; its unit stands in its name.

    >>> number(0.8), number(4), number(12345.678)
    ('0.8', '4', '12,346')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def source(recommendation: Recommendation) -> str:
    """Where it comes from: a scaler or planner, a person, or an action to be undone."""
    name = recommendation.source.replace("_", " ")
    if recommendation.by == ENGINE:
        return f"proposed by the engine ({name})"
    return f"asked for by {who(recommendation.by)}"


def figure_rows(recommendation: Recommendation) -> tuple[FigureRow, ...]:
    """Every figure that is known before or after, those it is judged by first."""
    before, predicted = recommendation.before, recommendation.predicted
    measured = recommendation.measured or Figures()
    error, objective = recommendation.error_share, recommendation.objective
    rows = []
    for cluster in _names(before.load, predicted.load, measured.load):
        rows.append(
            _row(
                f"Load per core, {cluster}", text.load,
                before.load.get(cluster), predicted.load.get(cluster), measured.load.get(cluster),
                error=error, now=f"cluster/{cluster}/load", judged=objective == "load",
            )
        )  # fmt: skip
    one = recommendation.clusters[0] if len(recommendation.clusters) == 1 else ""
    for field, form, key in (
        ("latency_s", text.seconds, "latency"),
        ("queue_rows", text.rows, "queue"),
        ("load_distance", _points, ""),
    ):
        values = [getattr(f, field) for f in (before, predicted, measured)]
        if values != [None] * 3:
            now = f"cluster/{one}/{key}" if one and key else ""
            rows.append(
                _row(OBJECTIVES[field], form, *values, error=error, now=now,
                     judged=objective == field)
            )  # fmt: skip
    for cluster in _names(before.executors, predicted.executors, measured.executors):
        rows.append(
            _row(
                f"Executors, {cluster}", _count, before.executors.get(cluster),
                predicted.executors.get(cluster), measured.executors.get(cluster),
                error=None, now=f"cluster/{cluster}/executors", judged=objective == "executors",
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda r: not r.judged))


def promised(recommendation: Recommendation) -> tuple[FigureRow, ...]:
    """Only the figures that something is predicted of."""
    return tuple(r for r in figure_rows(recommendation) if r.predicted != text.NOTHING)


def effectiveness(recommendation: Recommendation) -> str:
    """How much of the predicted change came true; empty before it was measured.

    >>> from weir.controllers.engine.recommendation import Recommendation
    >>> scale = Scale(cluster="a", executors=3, before=1, reason=Reason(text=""))
    >>> effectiveness(Recommendation(id="1", at=0.0, expires_at=9.0, decision=scale,
    ...     source="drs", clusters=("a",), effectiveness=0.874))
    '87 % of the predicted change'
    """
    share = recommendation.effectiveness
    return "" if share is None else f"{text.share(share)} of the predicted change"


def closed(guards: tuple[GuardState, ...]) -> tuple[GuardState, ...]:
    """The guards that hold it back, the one that opens last first."""
    last = float("inf")
    shut = [g for g in guards if not g.open]
    return tuple(sorted(shut, key=lambda g: -(last if g.opens_at is None else g.opens_at)))


def ended(recommendation: Recommendation) -> Entry | None:
    """The last line of its history."""
    return recommendation.history[-1] if recommendation.history else None


def verbs(recommendation: Recommendation, others: tuple[Recommendation, ...] = ()) -> list[Verb]:
    """What a person can do with it now."""
    match recommendation.status:
        case Status.PROPOSED:
            own = recommendation.by != ENGINE
            return ["approve", "reject", "cancel"] if own else ["approve", "reject"]
        case Status.APPROVED:
            return ["cancel"]
        case Status.APPLIED | Status.EFFECTIVE | Status.INEFFECTIVE | Status.UNMEASURED:
            undone = any(
                r.rollback_of == recommendation.id and (not r.status.final or r.status in DONE)
                for r in others
            )
            return [] if undone or recommendation.rollback_of else ["rollback"]
    return []


def _row(
    name: str, form: object, before: object, predicted: object, measured: object,
    *, error: float | None, now: str, judged: bool,
) -> FigureRow:  # fmt: skip
    def shown(value: object) -> str:
        return form(value)  # type: ignore[operator, no-any-return]

    band = ""
    if error is not None and isinstance(predicted, int | float):
        low, high = max(predicted * (1 - error), 0.0), predicted * (1 + error)
        band = f"{shown(low)} to {shown(high)}"
    return FigureRow(
        name=name,
        before=shown(before),
        predicted=shown(predicted),
        band=band,
        measured="" if measured is None else shown(measured),
        now=now,
        judged=judged,
    )


def _names(*columns: dict[str, float] | dict[str, int]) -> list[str]:
    return sorted({name for column in columns for name in column})


def _points(value: float | None) -> str:
    return text.NOTHING if value is None else f"{value:.1f} points"


def _count(value: int | None) -> str:
    return text.NOTHING if value is None else text.amount(value)
