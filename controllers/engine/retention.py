"""How long what was done is kept. What is not at its end is kept whatever its age."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from controllers.engine.moves import Rebalance
from controllers.engine.recommendation import Recommendation

RECOMMENDATIONS_KEPT = 2000
RECOMMENDATIONS_KEPT_S = 30 * 86400.0
REBALANCES_KEPT = 200
REBALANCES_KEPT_S = 7 * 86400.0


class _Dated(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def at(self) -> float: ...


def old_recommendations(found: Iterable[Recommendation], now: float) -> list[str]:
    """Ids that may go."""
    closed = [r for r in found if r.status.final]
    return _beyond(closed, now, RECOMMENDATIONS_KEPT, RECOMMENDATIONS_KEPT_S)


def old_rebalances(found: Iterable[Rebalance], now: float) -> list[str]:
    """Ids that may go.

    >>> from controllers.engine.moves import MoveState
    >>> from controllers.model.decision import Move
    >>> under_way = (MoveState(move=Move(operator="x", source="a", target="b")),)
    >>> old_rebalances(
    ...     [Rebalance(id="done", at=0.0, moves=()), Rebalance(id="open", at=0.0, moves=under_way)],
    ...     now=8 * 86400.0,
    ... )
    ['done']
    """
    closed = [r for r in found if r.final]
    return _beyond(closed, now, REBALANCES_KEPT, REBALANCES_KEPT_S)


def _beyond(found: Sequence[_Dated], now: float, number: int, age_s: float) -> list[str]:
    newest = sorted(found, key=lambda r: r.at, reverse=True)
    return [r.id for i, r in enumerate(newest) if i >= number or now - r.at > age_s]
