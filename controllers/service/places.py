"""Asking for operators to run elsewhere."""

from collections.abc import Sequence

from weir.controllers.balancing.base import planners
from weir.controllers.engine.ports import Placements, Store
from weir.controllers.engine.propose.make import BY_HAND
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.errors import InvalidInput, Refused
from weir.controllers.service.recommendations import find_repeated, propose
from weir.controllers.service.request import Request, placement_of, require_cluster


def move(store: Store, request: Request, operator: str, cluster: str) -> Recommendation:
    """Move an operator with its state to another cluster; with four eyes on, ask for it."""
    require_cluster(store, cluster)
    source = placement_of(store, operator).cluster
    if source == cluster and find_repeated(store, request) is None:
        raise InvalidInput(f"{operator} is in {cluster} already", field="cluster")
    return rebalance(store, request, (Move(operator=operator, source=source, target=cluster),))


def rebalance(
    store: Store,
    request: Request,
    moves: Sequence[Move],
    *,
    planner: str = BY_HAND,
    why: str = "Chosen by hand.",
) -> Recommendation:
    """Carry out moves that belong together, exactly as they were shown."""
    # Whose plan it is decides how the engine treats it: nobody may call theirs a rollback.
    if planner != BY_HAND and planner not in planners():
        raise InvalidInput(f"there is no planner '{planner}'", field="planner")
    if not moves:
        raise InvalidInput("This plan moves nothing.", field="moves")
    if find_repeated(store, request) is None:
        _refuse_travelling(store, moves)
    decision = Moves(moves=tuple(moves), reason=Reason(text=why))
    return propose(store, request, decision, source=planner)


def _refuse_travelling(store: Placements, moves: Sequence[Move]) -> None:
    """Refuse to move an operator that is still on its way."""
    wanted = {m.operator for m in moves}
    for found in store.rebalances():
        for state in found.moves:
            if state.step.paused and state.move.operator in wanted:
                raise Refused(
                    f"Nothing was done: {state.move.operator} is on its way to {state.move.target}."
                )
