"""How long a moved operator will pause, judged by recent moves."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

from weir.controllers.balancing.problem import PauseModel
from weir.controllers.engine.apply.moves import MoveStep, Rebalance

RECENT = 30
LEAST_PAIRS = 6
"""Pairs of moves with very different state sizes needed to tell what a byte costs."""
APART = 2.0


def pause_of(rebalances: Iterable[Rebalance]) -> PauseModel:
    """The median of what was measured, with a part that grows with the state where moves of
    small and of large states tell what that is; the usual pause before the first move.

    >>> from weir.controllers.engine.apply.moves import MoveState
    >>> from weir.controllers.model.decision import Move
    >>> def moved(pause_s, size):
    ...     move = Move(operator="x", source="a", target="b")
    ...     return MoveState(move=move, step=MoveStep.DONE, paused_s=pause_s, state_bytes=size)
    >>> moves = tuple(moved(3.0 + size / 1e6, size) for size in (0, 10**6, 4 * 10**6, 9 * 10**6))
    >>> fitted = pause_of([Rebalance(id="r", at=0.0, moves=moves)])
    >>> round(fitted.base_s, 3), round(fitted.s_per_cost * 1e6, 3)
    (3.0, 1.0)
    >>> pause_of([]) == PauseModel()
    True

    The slope is the median over pairs of moves: P. K. Sen, JASA 1968.
    """
    newest_first = sorted(rebalances, key=lambda r: r.at, reverse=True)
    done = [
        (m.paused_s, m.state_bytes or 0)
        for rebalance in newest_first
        for m in rebalance.moves
        if m.step is MoveStep.DONE and m.paused_s is not None
    ][:RECENT]
    if not done:
        return PauseModel()
    slope = _s_per_byte(done)
    base_s = median(pause_s - slope * size for pause_s, size in done)
    return PauseModel(base_s=max(0.0, base_s), s_per_cost=slope)


def _s_per_byte(done: Sequence[tuple[float, int]]) -> float:
    slopes = [
        (slow - fast) / (large - small)
        for (fast, small), (slow, large) in combinations(sorted(done, key=lambda d: d[1]), 2)
        if large > APART * small
    ]
    return max(0.0, median(slopes)) if len(slopes) >= LEAST_PAIRS else 0.0
