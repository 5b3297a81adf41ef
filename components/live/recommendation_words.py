"""Recommendations as people read them: what, why, where they stand, and what can be done."""

from typing import Literal

from msgspec import Struct

from weir.components.ui import text
from weir.components.ui.text import who
from weir.controllers.balancing.base import planners
from weir.controllers.engine.recommendation import (
    ENGINE,
    Entry,
    GuardState,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Change, Move, Reason, Rescue, Reslice, Scale
from weir.controllers.placement.base import ring_planners
from weir.controllers.placement.words import reslice_words
from weir.controllers.scaling.registry import scalers

Verb = Literal["approve", "reject", "cancel", "rollback"]
Mood = Literal["", "ok", "warn", "bad", "off", "run"]

KINDS = {
    "scale_out": "Scale out",
    "scale_in": "Scale in",
    "rebalance": "Rebalance",
    "reslice": "Re-slice",
    "rescue": "Rescue",
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
    Status.EFFECTIVE: "helped",
    Status.INEFFECTIVE: "was done but did not help",
    Status.UNMEASURED: "was done; its effect could not be measured",
    Status.FAILED: "could not be carried out; a rebalance that was half done is undone",
    Status.REJECTED: "was turned down",
    Status.EXPIRED: "was not decided, or not begun, in time",
    Status.SUPERSEDED: "was replaced because the plan no longer held",
    Status.CANCELLED: "was cancelled",
}
DONE = (Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)
MOVES_NAMED = 3


class Why(Struct, frozen=True, kw_only=True):
    """The sentence, the inequality that fired and its numbers."""

    text: str
    rule: str = ""
    numbers: tuple[tuple[str, str], ...] = ()


def title(decision: Change, *, undo: bool = False) -> str:
    """What will be done, in one line.

    >>> title(Scale(cluster="wide", executors=5, before=3, reason=Reason(text="")))
    'Scale wide out: 3 → 5 executors'
    >>> from weir.controllers.model.decision import Moves
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
    elif isinstance(decision, Reslice):
        words = f"re-slice {reslice_words(decision)}"
    else:
        verb = "rescue" if isinstance(decision, Rescue) else "move"
        words = f"{verb} {moves_words(decision.moves)}"
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

    >>> why(Reason(text="Too full.", rule="load > max_load", numbers={"load": 1.2345})).numbers
    (('load', '123 %'),)
    """
    return Why(
        text=reason.text,
        rule=reason.rule.replace("_", " "),
        numbers=tuple(text.name_value(name, value) for name, value in reason.numbers.items()),
    )


def source(recommendation: Recommendation) -> str:
    """Where it comes from: a scaler or planner, a person, or an action to be undone."""
    if recommendation.by == ENGINE:
        return f"proposed by the engine, following {source_title(recommendation.source)}"
    return f"asked for by {who(recommendation.by)}"


def source_title(name: str) -> str:
    """A scaler or planner as people know it.

    >>> source_title("horizon"), source_title("milp"), source_title("smr"), source_title("rollback")
    ('Fewest executors for the target', 'Optimiser', 'SMR ring rule', 'rollback')
    """
    if name in scalers():
        return scalers()[name].title
    if name in ring_planners():
        return ring_planners()[name].label
    return planners()[name].label if name in planners() else name.replace("_", " ")


def closed_guards(guards: tuple[GuardState, ...]) -> tuple[GuardState, ...]:
    """The guards that hold it back, the one that opens last first."""
    last = float("inf")
    shut = [g for g in guards if not g.open]
    return tuple(sorted(shut, key=lambda g: -(last if g.opens_at is None else g.opens_at)))


def last_entry(recommendation: Recommendation) -> Entry | None:
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
