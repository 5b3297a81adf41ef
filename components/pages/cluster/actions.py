"""What the buttons on clusters and operators do. Always by HTTP: a click is carried out now
or fails visibly."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec
from dash import ALL, Dash, Input, Output, ctx
from dash.exceptions import PreventUpdate

from weir.components.live.commands import CommandQuestion, question, scale_text
from weir.components.live.hub import Hub
from weir.components.pages.cluster.render_command import command_body
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, chosen_control, outputs
from weir.components.web.security import Role, check, require
from weir.controllers import service
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import ScaleTo, describe
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.shares import ShareSource, read_weights

ASKER = "command"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """The questions about clusters and operators, and what is done then."""

    @app.callback(outputs(), Input(ids.ask(ALL, ALL, ALL), "n_clicks"), prevent_initial_call=True)
    @require(Role.APPROVER)
    async def ask(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        asked, world = ctx.triggered_id, hub.world()
        shown = question(world, asked["verb"], asked["cluster"], asked["operator"])
        return dialog.open_outputs(ASKER, _ask(shown, world.control.settings.comment_required))

    @app.callback(
        Output(ids.field_text("executors", ALL), "children"),
        Input(ids.field("executors", ALL), "value"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(_values: list[Any]) -> list[Any]:
        name, value = chosen_control()
        cluster = hub.world().snapshot.cluster(name)
        if cluster is None or not isinstance(value, int):
            raise PreventUpdate
        now, cores = cluster.executors, cluster.cores_per_executor
        return [scale_text(now, value, cores, name)] * len(ctx.outputs_list)

    async def confirm(said: Said) -> Done:
        done = await asyncio.to_thread(
            _carry_on, hub, _asked_about(said.pending), said.fields, said.comment
        )
        await hub.refresh()
        return Done(said=done)

    dialog.on(ASKER, Role.APPROVER, confirm)


def _ask(asked: CommandQuestion, comment_required: bool) -> Ask:
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


def _asked_about(pending: Any) -> dict[str, str]:
    """What the open dialog asked about, as it came back from the browser."""
    try:
        found: dict[str, str] = msgspec.convert(pending, dict[str, str])
    except msgspec.ValidationError:
        found = {}
    if not {"id", "verb", "cluster", "operator"} <= found.keys():
        raise InvalidInput("Open the dialog again; nothing was sent.")
    return found


def _carry_on(hub: Hub, asked: dict[str, str], fields: Mapping[str, Any], comment: str) -> str:
    """Do what the dialog asked about, and say so: scaling goes through the engine."""
    ask = request(comment, asked["id"])
    if asked["verb"] == "forget":
        check(Role.ADMIN, "forget_cluster")
        service.forget_cluster(hub.store, ask, asked["cluster"])
        return f"{asked['cluster']} is forgotten."
    if asked["verb"] == "share":
        model = fields.get("source") == ShareSource.MODEL
        source = ShareSource.MODEL if model else ShareSource.HAND
        weights = read_weights(str(fields.get("weights") or ""))
        service.set_shares(hub.store, ask, asked["cluster"], weights, source=source)
        return f"{asked['cluster']} shares its cores as you said."
    if asked["verb"] in ("add", "end"):
        return _order_host(hub, ask, asked, str(fields.get("name") or "").strip())
    executors = fields.get("executors")
    if asked["verb"] != "scale":
        told = service.tell_operator(hub.store, ask, asked["verb"], asked["operator"])
        return f"Sent to {told.cluster}: {describe(told.action)}."
    if not isinstance(executors, int):
        raise InvalidInput("Say how many executors there should be.", field="executors")
    made = service.scale(hub.store, ask, asked["cluster"], executors)
    words = describe(ScaleTo(executors=executors))
    if made.status is Status.PROPOSED:
        return f"{words.capitalize()} waits for somebody else to approve it."
    return f"The engine is told: {asked['cluster']}, {words}."


def _order_host(hub: Hub, ask: service.Request, asked: dict[str, str], name: str) -> str:
    """A cluster more, or one that is to end."""
    check(Role.ADMIN, f"{asked['verb']}_cluster")
    if asked["verb"] == "add":
        service.add_cluster(hub.store, ask, name)
        return f"{name} is ordered; it shows here once it reports."
    service.end_cluster(hub.store, ask, asked["cluster"])
    return f"{asked['cluster']} ends once nothing is placed there."
