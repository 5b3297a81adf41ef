"""How long finished recommendations, rebalances and re-slices are kept; open ones always are."""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing

RECOMMENDATIONS_KEPT = 2000
"""How many that were acted on or rejected are kept, and how many that were not."""
RECOMMENDATIONS_KEPT_S = 30 * 86400.0
REBALANCES_KEPT = 200
REBALANCES_KEPT_S = 7 * 86400.0


Id = TypeVar("Id", str, bytes)


def old_recommendations(
    ended: Mapping[Id, float], counting: Collection[Id], now: float
) -> list[Id]:
    """Ids that may go, of those that have ended, with the times when they were made.

    Those never acted on do not push out those that were.

    >>> ended = {"done": 1.0} | {f"{i}": 2.0 + i for i in range(RECOMMENDATIONS_KEPT + 1)}
    >>> old_recommendations(ended, ["done"], now=10.0)
    ['0']
    """
    done = {i: at for i, at in ended.items() if i in counting}
    nothing = {i: at for i, at in ended.items() if i not in done}
    return [
        i
        for kind in (done, nothing)
        for i in _beyond(kind, now, RECOMMENDATIONS_KEPT, RECOMMENDATIONS_KEPT_S)
    ]


def old_rebalances(found: Iterable[Rebalance | Reslicing], now: float) -> list[str]:
    """Ids that may go.

    >>> from weir.controllers.engine.apply.moves import MoveState
    >>> from weir.controllers.model.decision import Move
    >>> under_way = (MoveState(move=Move(operator="x", source="a", target="b")),)
    >>> old_rebalances(
    ...     [Rebalance(id="done", at=0.0, moves=()), Rebalance(id="open", at=0.0, moves=under_way)],
    ...     now=8 * 86400.0,
    ... )
    ['done']
    """
    ended = {r.id: r.at for r in found if r.final}
    return _beyond(ended, now, REBALANCES_KEPT, REBALANCES_KEPT_S)


def _beyond(found: Mapping[Id, float], now: float, number: int, age_s: float) -> list[Id]:
    newest = sorted(found, key=lambda i: found[i], reverse=True)
    return [id for i, id in enumerate(newest) if i >= number or now - found[id] > age_s]
