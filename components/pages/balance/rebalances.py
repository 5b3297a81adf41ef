"""Rebalances as people read them: each move with its step and what was measured."""

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from weir.components.live.commands import STEP_WORDS
from weir.components.live.world import World
from weir.components.ui import text
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.propose.outlook import Outlook

BY_HAND = "by_hand"
_SHARE = {
    MoveStep.PLANNED: 0.0,
    MoveStep.RELEASING: 0.2,
    MoveStep.ADOPTING: 0.6,
    MoveStep.RETURNING: 0.6,
}


class MoveFigure(Struct, frozen=True, kw_only=True):
    """One figure of a move; an en dash until it is known."""

    name: str
    value: str


class MoveRow(Struct, frozen=True, kw_only=True):
    """One move of a rebalance."""

    operator: str
    source: str
    target: str
    step: MoveStep
    words: str
    message: str = ""
    measured: tuple[MoveFigure, ...] = ()


class RebalanceRow(Struct, frozen=True, kw_only=True):
    """One rebalance with its moves."""

    id: str
    at: float
    title: str
    why: str
    status: Literal["waiting", "under way", "draining", "done", "went back", "not done"]
    progress: float | None  # None once it has ended
    moves: tuple[MoveRow, ...]


def rebalance_rows(world: World, limit: int = 5) -> list[RebalanceRow]:
    """Those under way first, then the last ones."""
    ordered = sorted(world.rebalances, key=lambda r: (r.final, -r.at))
    open_ = sum(not r.final for r in ordered)
    return [rebalance_row(r, world.outlook) for r in ordered[: max(limit, open_)]]


def rebalance_row(rebalance: Rebalance, outlook: Outlook | None = None) -> RebalanceRow:
    """A rebalance in words."""
    return RebalanceRow(
        id=rebalance.id,
        at=rebalance.at,
        title=f"{planner_label(outlook, rebalance.planner)}, {requester(rebalance)}",
        why=rebalance.why,
        status=status(rebalance),
        progress=None if rebalance.final else round(progress(rebalance), 2),
        moves=tuple(move_row(m) for m in rebalance.moves),
    )


def move_row(state: MoveState) -> MoveRow:
    """A move with what is known of it so far."""
    return MoveRow(
        operator=state.move.operator,
        source=state.move.source,
        target=state.move.target,
        step=state.step,
        words=STEP_WORDS[state.step],
        message=state.message,
        measured=move_figures(state),
    )


def move_figures(state: MoveState) -> tuple[MoveFigure, ...]:
    """Pause, state, queue and the time to drain it; nothing before a move has begun."""
    if state.step in (MoveStep.PLANNED, MoveStep.FAILED):
        return ()
    built = None
    if state.queue_peak is not None:
        built = max(state.queue_peak - (state.queue_before or 0), 0)
    drained = text.NOTHING
    if state.step is MoveStep.DONE:
        drained = (
            "draining" if state.drained_at is None else text.seconds(state.drained_at - state.since)
        )
    return (
        *(
            [MoveFigure(name="after the death", value=text.seconds(state.rescued_s))]
            if state.rescued_s is not None
            else []
        ),
        MoveFigure(name="paused", value=text.seconds(state.paused_s)),
        MoveFigure(name="state", value=text.size(state.state_bytes)),
        MoveFigure(name="queue built up", value=text.rows(built)),
        MoveFigure(name="drained after", value=drained),
    )


def progress(rebalance: Rebalance) -> float:
    """Share of the way that all moves together have come.

    >>> from weir.controllers.model.decision import Move
    >>> move = Move(operator="x", source="a", target="b")
    >>> moves = (MoveState(move=move, step=MoveStep.DONE), MoveState(move=move))
    >>> progress(Rebalance(id="1", at=0.0, moves=moves))
    0.5
    """
    shares = [_SHARE.get(m.step, 1.0) for m in rebalance.moves]
    return sum(shares) / len(shares) if shares else 1.0


def status(rebalance: Rebalance) -> Any:
    """The whole of it in a word or two."""
    steps = {m.step for m in rebalance.moves}
    if rebalance.final:
        if steps <= {MoveStep.DONE}:
            return "done"
        return "not done" if steps == {MoveStep.FAILED} else "went back"
    if steps == {MoveStep.PLANNED}:
        return "waiting"
    return "draining" if all(s.final for s in steps) else "under way"


def requester(rebalance: Rebalance) -> str:
    """Who asked for it.

    >>> requester(Rebalance(id="1", at=0.0, moves=(), by="engine"))
    'by the engine itself'
    """
    return {"engine": "by the engine itself", "page": "from this page", "": "by somebody"}.get(
        rebalance.by, f"by {rebalance.by}"
    )


def planner_label(outlook: Outlook | None, name: str) -> str:
    """A planner's name as people know it.

    >>> planner_label(None, "by_hand"), planner_label(None, "milp")
    ('By hand', 'milp')
    """
    if name.replace(" ", "_") == BY_HAND:
        return "By hand"
    proposals = outlook.proposals if outlook else ()
    return next((p.label for p in proposals if p.plan.planner == name), name)


def events(world: World) -> list[dict[str, Any]]:
    """Marks on the load distance: when a rebalance was made and what it moved."""
    return [
        {
            "at": round(r.at * 1000),
            "text": f"{planner_label(world.outlook, r.planner)}: {_moves(r.moves)}",
        }
        for r in reversed(world.rebalances)
    ]


def _moves(moves: Iterable[MoveState]) -> str:
    return ", ".join(f"{m.move.operator} from {m.move.source} to {m.move.target}" for m in moves)
