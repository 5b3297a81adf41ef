"""What the buttons on clusters and operators do. Always by HTTP: a click is carried out now
or fails visibly."""

import asyncio
import time
import uuid
from typing import Any

import msgspec
from dash import ALL, Dash, Input, Output, ctx
from dash.exceptions import PreventUpdate

from weir.components.live.commands import EXPIRES_AFTER_S, Question, action_of, question, scale_text
from weir.components.live.hub import Hub
from weir.components.pages.cluster.render_command import command_body
from weir.components.ui import asking, ids
from weir.components.ui.clicks import only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, chosen, outputs
from weir.components.web.security import Role, require
from weir.controllers.engine.propose.scaling import by_hand
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import ScaleTo, describe
from weir.controllers.model.errors import InvalidInput

ASKER = "command"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """The questions about clusters and operators, and what is done then."""

    @app.callback(outputs(), Input(ids.ask(ALL, ALL, ALL), "n_clicks"), prevent_initial_call=True)
    @require(Role.APPROVER)
    async def ask(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        asked, world = ctx.triggered_id, hub.world()
        shown = question(world, asked["verb"], asked["cluster"], asked["operator"])
        return dialog.opened(ASKER, _ask(shown, world.control.settings.comment_required))

    @app.callback(
        Output(ids.field_text("executors", ALL), "children"),  # type: ignore[arg-type]
        Input(ids.field("executors", ALL), "value"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(_values: list[Any]) -> list[Any]:
        name, value = chosen()
        cluster = hub.world().snapshot.cluster(name)
        if cluster is None or not isinstance(value, int):
            raise PreventUpdate
        now, cores = cluster.executors, cluster.cores_per_executor
        return [scale_text(now, value, cores, name)] * len(ctx.outputs_list)

    async def confirm(said: Said) -> Done:
        done = await asyncio.to_thread(
            _carry_on, hub, _asked(said.pending), said.fields.get("executors"), said.comment
        )
        await hub.refresh()
        return Done(said=done)

    dialog.on(ASKER, Role.APPROVER, confirm)


def _ask(asked: Question, comment_required: bool) -> Ask:
    return Ask(
        title=asked.title,
        body=command_body(asked),
        error=asked.warning,
        comment=True,
        comment_required=comment_required,
        confirm=asked.confirm,
        danger=asked.danger,
        # The id is fixed before the click, so that a second click is the same command.
        pending={
            "id": uuid.uuid4().hex,
            "verb": asked.verb,
            "cluster": asked.cluster,
            "operator": asked.operator,
        },
    )


def _asked(pending: Any) -> dict[str, str]:
    """What the open dialog asked about, as it came back from the browser."""
    try:
        found: dict[str, str] = msgspec.convert(pending, dict[str, str])
    except msgspec.ValidationError:
        found = {}
    if not {"id", "verb", "cluster", "operator"} <= found.keys():
        raise InvalidInput("Open the dialog again; nothing was sent.")
    return found


def _carry_on(hub: Hub, asked: dict[str, str], executors: Any, comment: str) -> str:
    """Do what the dialog asked about, and say so: scaling goes through the engine."""
    number = executors if isinstance(executors, int) else None
    action = action_of(asked["verb"], asked["operator"], number)  # type: ignore[arg-type]
    now = time.time()
    if isinstance(action, ScaleTo):
        decision = by_hand(hub.world().snapshot, asked["cluster"], action.executors)
        made = asking.propose(hub.store, decision, id=asked["id"], now=now, comment=comment)
        if made.status is Status.PROPOSED:
            return f"{describe(action).capitalize()} waits for somebody else to approve it."
        return f"The engine is told: {asked['cluster']}, {describe(action)}."
    asking.tell(
        hub.store, asked["cluster"], action, id=asked["id"], now=now, comment=comment,
        expires_after_s=EXPIRES_AFTER_S,
    )  # fmt: skip
    return f"Sent to {asked['cluster']}: {describe(action)}."
