"""What can be done with a Q-table: export it, import one, start over."""

import asyncio
import base64
import binascii
import time
from typing import Any

import redis
from dash import Dash, Input, Output, State, html, no_update

from weir.components.live.hub import Hub
from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.qtable import (
    Learner,
    export_learner,
    learner,
    loss_text,
)
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, outputs, toast
from weir.components.ui.path import scale_path
from weir.components.ui.text import plural
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.model.errors import InvalidInput, WeirError

_FAILURES = (redis.exceptions.RedisError, OSError)
ASKER = "table reset"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """Export, import and reset."""
    _register_export(app, hub)
    _register_import(app, hub)
    _register_reset(app, hub, dialog)


def _register_export(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(scale_ids.TABLE_DOWNLOAD, "data"),
        Input(scale_ids.TABLE_EXPORT, "n_clicks"),
        State(scale_ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def export(_clicks: int | None, cluster: Any) -> dict[str, str]:
        only_clicks()
        found = await _learner(hub, cluster)
        at = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        return {
            "content": export_learner(found).decode(),
            "filename": f"q-table-{cluster}-{at}.json",
            "type": "application/json",
        }


def _register_import(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Output(scale_ids.TABLE_IMPORT, "contents"),  # emptied, so that the same file can come again
        Input(scale_ids.TABLE_IMPORT, "contents"),
        State(scale_ids.TABLE_IMPORT, "filename"),
        State(scale_ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def bring(contents: Any, filename: Any, cluster: Any) -> Any:
        if not contents:
            return no_update, no_update
        try:
            table = await asyncio.to_thread(
                service.import_qtable, hub.store, request(), str(cluster), _file(contents),
                str(filename)[:120],
            )  # fmt: skip
        except WeirError as error:
            return toast(f"{filename}: {_lower(str(error))} Nothing was changed.", "bad"), None
        except _FAILURES:
            return toast(AWAY, "bad"), None
        await hub.refresh()
        visits = sum(sum(v) for v in table.visits)
        return toast(
            f"{cluster} goes on with the table of {filename}: "
            f"{len(table.values)} states, {plural(visits, 'visit')}."
        ), None


def _register_reset(app: Dash, hub: Hub, dialog: Dialog) -> None:
    @app.callback(
        outputs(),
        Input(scale_ids.TABLE_RESET, "n_clicks"),
        State(scale_ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def ask(_clicks: int | None, cluster: Any) -> Any:
        only_clicks()
        found = await _learner(hub, cluster)
        ask = Ask(
            title=f"Reset the table of {cluster}?",
            body=html.P(loss_text(found, str(cluster))),
            confirm="Reset table",
            danger=True,
            pending=cluster,
        )
        return dialog.open_outputs(ASKER, ask)

    async def reset(said: Said) -> Done:
        await asyncio.to_thread(service.reset_qtable, hub.store, request(), str(said.pending))
        await hub.refresh()
        return Done(said=f"{said.pending} starts learning afresh.")

    dialog.on(ASKER, Role.ADMIN, reset)


async def _learner(hub: Hub, cluster: Any) -> Learner:
    """What the scaler of a cluster knows, whichever worker is asked."""
    return learner(await hub.world_for(scale_path(str(cluster))), str(cluster))


def _file(contents: Any) -> bytes:
    """What the browser sends of a file: `data:application/json;base64,...`."""
    try:
        return base64.b64decode(str(contents).partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("This file did not arrive whole.", field="table") from None


def _lower(sentence: str) -> str:
    """A sentence that goes on after a colon; its end is a full stop."""
    return sentence[:1].lower() + sentence[1:].rstrip(".") + "."
