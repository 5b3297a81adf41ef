"""What the buttons do. Always by HTTP: a click is carried out now or fails visibly."""

import asyncio
import uuid
from typing import Any

import msgspec
import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from weir.components.live.commands import Question, question, scale_text
from weir.components.live.hub import Hub
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.dialog import toast
from weir.components.ui.text import rate
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import ScaleTo, describe
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.metrics.store.redis_store import RedisStore

AWAY = "Redis cannot be reached, so nothing was sent. Try again when it is back."


def register(app: Dash, hub: Hub) -> None:
    """All buttons of the pages."""
    _register_dialog(app, hub)
    _register_confirm(app, hub)
    _register_workload(app, hub)


def _register_dialog(app: Dash, hub: Hub) -> None:
    @app.callback(
        {
            "opened": Output(ids.DIALOG, "opened"),
            "title": Output(ids.DIALOG, "title"),
            "text": Output(ids.DIALOG_TEXT, "children"),
            "error": Output(ids.DIALOG_ERROR, "children"),
            "box": Output(ids.DIALOG_NUMBER_BOX, "style"),
            "value": Output(ids.DIALOG_NUMBER, "value"),
            "least": Output(ids.DIALOG_NUMBER, "min"),
            "most": Output(ids.DIALOG_NUMBER, "max"),
            "hint": Output(ids.DIALOG_NUMBER, "description"),
            "comment": Output(ids.DIALOG_COMMENT, "value"),
            "required": Output(ids.DIALOG_COMMENT, "required"),
            "confirm": Output(ids.DIALOG_CONFIRM, "children"),
            "look": Output(ids.DIALOG_CONFIRM, "className"),
            "pending": Output(ids.PENDING, "data"),
        },
        Input(ids.ask(ALL, ALL, ALL), "n_clicks"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def ask(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        asked, world = ctx.triggered_id, hub.world()
        shown = question(world, asked["verb"], asked["cluster"], asked["operator"])
        return _opened(shown, world.control.settings.comment_required)

    @app.callback(
        Output(ids.DIALOG_TEXT, "children", allow_duplicate=True),
        Input(ids.DIALOG_NUMBER, "value"),
        State(ids.PENDING, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(value: Any, pending: Any) -> Any:
        asked = pending if isinstance(pending, dict) else {}
        cluster = hub.world().snapshot.cluster(str(asked.get("cluster", "")))
        if cluster is None or not isinstance(value, int) or asked.get("verb") != "scale":
            return no_update
        return scale_text(cluster.executors, value, cluster.cores_per_executor, cluster.name)

    app.clientside_callback(
        ClientsideFunction("weir", "close"),
        Output(ids.DIALOG, "opened", allow_duplicate=True),
        Input(ids.DIALOG_CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )


def _register_confirm(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.DIALOG, "opened", allow_duplicate=True),
        Output(ids.DIALOG_ERROR, "children", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.DIALOG_CONFIRM, "n_clicks"),
        State(ids.PENDING, "data"),
        State(ids.DIALOG_NUMBER, "value"),
        State(ids.DIALOG_COMMENT, "value"),
        running=[(Output(ids.DIALOG_CONFIRM, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def confirm(_clicks: int, pending: Any, executors: Any, comment: Any) -> Any:
        try:
            said = await asyncio.to_thread(_carry_on, hub, _asked(pending), executors, comment)
        except WeirError as error:
            return no_update, str(error), no_update
        except (redis.exceptions.RedisError, OSError):
            return no_update, AWAY, no_update
        await hub.refresh()
        return False, "", toast(said)


def _register_workload(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.workload("set", ALL), "n_clicks"),  # type: ignore[arg-type]
        Input(ids.workload("pause", ALL), "n_clicks"),  # type: ignore[arg-type]
        State(ids.workload("rate", ALL), "value"),  # type: ignore[arg-type]
        State(ids.workload("rate", ALL), "id"),  # type: ignore[arg-type]
        State(ids.workload("why", ALL), "value"),  # type: ignore[arg-type]
        State(ids.workload("why", ALL), "id"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def steer(
        _set: Any, _pause: Any, rates: list[Any], names: list[dict[str, str]],
        whys: list[Any], whose: list[dict[str, str]],
    ) -> Any:  # fmt: skip
        only_clicks()
        asked = ctx.triggered_id
        wanted = {n["name"]: r for n, r in zip(names, rates, strict=True)}.get(asked["name"])
        comment = {n["name"]: w for n, w in zip(whose, whys, strict=True)}.get(asked["name"])
        pause = asked["type"] == "workload-pause"
        try:
            done = await asyncio.to_thread(_steer, hub.store, asked["name"], pause, wanted, comment)
        except WeirError as error:
            return toast(str(error), "bad")
        except (redis.exceptions.RedisError, OSError):
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(done)

    app.clientside_callback(
        ClientsideFunction("weir", "slide"),
        Output(ids.workload("rate", ALL), "value"),  # type: ignore[arg-type]
        Input(ids.workload("slider", ALL), "value"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )


def _steer(store: RedisStore, name: str, pause: bool, wanted: Any, comment: Any) -> str:
    """Change one generator and say what it does now."""
    if pause:
        stopped = any(w.paused for w in store.workloads() if w.name == name)
        done = service.set_rate(store, request(comment), name, paused=not stopped)
    elif isinstance(wanted, int | float):
        done = service.set_rate(store, request(comment), name, float(wanted))
    else:
        raise InvalidInput("The rate is a number of rows per second, 0 or more.", field="rate")
    return f"{name} pauses." if done.paused else f"{name} now sends {rate(done.rows_per_s)}."


def _opened(asked: Question, comment_required: bool) -> dict[str, Any]:
    scale = asked.verb == "scale"
    return {
        "opened": True,
        "title": asked.title,
        "text": asked.text,
        "error": asked.warning,
        "box": {"display": "block" if scale else "none"},
        "value": asked.executors if scale else no_update,
        "least": asked.least,
        "most": asked.most,
        "hint": f"between {asked.least} and {asked.most}",
        "comment": "",
        "required": comment_required,
        "confirm": asked.confirm,
        "look": "button button-danger" if asked.danger else "button button-primary",
        # The id is fixed before the click, so that a second click is the same command.
        "pending": {
            "id": uuid.uuid4().hex,
            "verb": asked.verb,
            "cluster": asked.cluster,
            "operator": asked.operator,
        },
    }


def _asked(pending: Any) -> dict[str, str]:
    """What the open dialog asked about, as it came back from the browser."""
    try:
        found: dict[str, str] = msgspec.convert(pending, dict[str, str])
    except msgspec.ValidationError:
        found = {}
    if not {"id", "verb", "cluster", "operator"} <= found.keys():
        raise InvalidInput("Open the dialog again; nothing was sent.")
    return found


def _carry_on(hub: Hub, asked: dict[str, str], executors: Any, comment: Any) -> str:
    """Do what the dialog asked about, and say so: scaling goes through the engine."""
    ask = request(comment, asked["id"])
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


def only_clicks() -> None:
    """Buttons that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
