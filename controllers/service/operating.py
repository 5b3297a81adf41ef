"""What people tell operators and load generators directly: start, stop, restart, a rate.

These are no recommendations: nothing is predicted, so there is nothing to judge or to take
back. What holds for people holds here too: a comment where one is required, an entry in the
audit trail before anything is done, and with four eyes on nobody tells an operator alone.
"""

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.ports import Store, Workload
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.command import (
    Command,
    RestartOperator,
    StartOperator,
    StopOperator,
    describe,
)
from weir.controllers.model.errors import InvalidInput, Refused

Told = StartOperator | StopOperator | RestartOperator
VERBS: dict[str, type[Told]] = {
    "start": StartOperator,
    "stop": StopOperator,
    "restart": RestartOperator,
}


def tell(
    store: Store,
    cluster: str,
    action: Told,
    *,
    id: str,
    by: str,
    now: float,
    expires_after_s: float,
    comment: str = "",
    address: str = "",
) -> Command:
    """Hand a command to a cluster's agent; the same `id` twice is one command."""
    known = store.command(id)
    if known is not None:
        if (known[0].cluster, known[0].action) != (cluster, action):
            raise Refused("Something else was asked for under this id. Ask anew.")
        return known[0]
    settings = engine_settings(store)
    verb = next(word for word, kind in VERBS.items() if isinstance(action, kind))
    if settings.four_eyes:
        raise Refused(
            f"With four eyes on nobody can {verb} an operator alone. An admin can turn "
            "four_eyes off in the engine's settings for as long as it takes."
        )
    _want_comment(settings, comment)
    command = Command(
        id=id, cluster=cluster, action=action, issued_at=now,
        expires_at=now + expires_after_s, by=by,
    )  # fmt: skip
    store.append_audit(
        AuditEntry(
            at=now, by=by, action=f"operator.{verb}", subject=action.operator, address=address,
            why=comment, detail=f"{cluster}: {describe(action)}",
        )
    )  # fmt: skip
    store.submit(command)
    return command


def steer(
    store: Store,
    before: Workload,
    after: Workload,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
) -> None:
    """Ask a load generator for something else."""
    if after == before:
        return
    _want_comment(engine_settings(store), comment)
    store.append_audit(
        AuditEntry(
            at=now, by=by, action="workload.changed", subject=after.name, address=address,
            why=comment, before={"rows_per_s": before.rows_per_s, "paused": before.paused},
            detail="paused" if after.paused else f"{after.rows_per_s:g} rows/s",
        )
    )  # fmt: skip
    store.set_workload(after)


def _want_comment(settings: EngineSettings, comment: str) -> None:
    if settings.comment_required and not comment.strip():
        raise InvalidInput("Say why: a comment is required.", field="comment")
