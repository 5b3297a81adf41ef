"""What the audit trail says of a recommendation's newest step."""

from typing import Any

import msgspec

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.recommendation import Figures, Recommendation, Status
from weir.controllers.model.decision import Change, Moves, Scale
from weir.controllers.model.words import number_of
from weir.controllers.placement.words import reslice_words


def entry_of(recommendation: Recommendation) -> AuditEntry:
    """The newest line of its history, with plan and figures."""
    last = recommendation.history[-1] if recommendation.history else None
    status = last.status if last else Status.PROPOSED
    return AuditEntry(
        at=last.at if last else recommendation.at,
        by=last.by if last else recommendation.by,
        action=f"recommendation.{status}",
        subject=recommendation.id,
        address=last.address if last else "",
        why=(last.why if last else "") or recommendation.comment,
        plan_hash=recommendation.plan_hash,
        before=_plain(recommendation.before),
        predicted=_plain(recommendation.predicted),
        measured=_plain(recommendation.measured) if recommendation.measured else {},
        detail=in_words(recommendation),
    )


def in_words(recommendation: Recommendation) -> str:
    """What it does, in a few words."""
    return steps(recommendation.decision)


def steps(decision: Change) -> str:
    """What a decision does, in a few words."""
    if isinstance(decision, Scale):
        return (
            f"{decision.cluster}: {decision.before} to {number_of(decision.executors, 'executor')}"
        )
    if isinstance(decision, Moves):
        return ", ".join(f"{m.operator} from {m.source} to {m.target}" for m in decision.moves)
    return reslice_words(decision)


def _plain(figures: Figures) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    return {name: v for name, v in plain.items() if v not in (None, {})}
