"""What people tell operators directly: start, stop, restart.

These are not recommendations: nothing is predicted, so there is nothing to judge or roll
back. The rules for people still hold: a comment where one is required, an audit entry
written with the command, and with four eyes on nobody commands an operator alone.
"""

from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.command import (
    Command,
    RestartOperator,
    StartOperator,
    StopOperator,
    describe,
)
from weir.controllers.model.errors import InvalidInput, Refused
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.service.request import Request, placement_of, require_comment

COMMAND_LIVES_S = 60.0
"""A command that no agent has claimed by then expires."""

Told = StartOperator | StopOperator | RestartOperator
VERBS: dict[str, type[Told]] = {
    "start": StartOperator,
    "stop": StopOperator,
    "restart": RestartOperator,
}


def tell_operator(store: Store, request: Request, verb: str, operator: str) -> Command:
    """Start, stop or restart an operator where it is placed; the same id twice is one command."""
    if verb not in VERBS:
        raise InvalidInput(f"'{verb}' is not one of {', '.join(VERBS)}", field="verb")
    action = VERBS[verb](operator=operator)
    id = request.key("told", action)
    known = store.command(id)
    if known is not None:
        if known[0].action != action:
            raise Refused("Something else was asked for under this id. Ask anew.")
        return known[0]
    cluster = _where(store, operator, request.at)
    settings = engine_settings(store)
    if settings.four_eyes:
        raise Refused(
            f"With four eyes on nobody can {verb} an operator alone. An admin can turn "
            "four_eyes off in the engine's settings for as long as it takes."
        )
    require_comment(request, settings)
    command = Command(
        id=id, cluster=cluster, action=action, issued_at=request.at,
        expires_at=request.at + COMMAND_LIVES_S, by=request.by,
    )  # fmt: skip
    detail = f"{cluster}: {describe(action)}"
    store.submit(command, request.entry(f"operator.{verb}", operator, detail=detail))
    return command


def _where(store: Store, operator: str, now: float) -> str:
    """The cluster whose agent is told: where it is placed, or where it reports."""
    reported = Snapshot.of(store.latest(), now).operator(operator)
    if reported is not None and operator not in store.placements():
        return reported.cluster
    return placement_of(store, operator).cluster
