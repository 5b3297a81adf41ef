"""What the buttons do. Always by HTTP: a click is carried out now or fails visibly."""

import asyncio
import time
import uuid
from typing import Any

import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate
from msgspec.structs import replace

from components import ids
from components.cards.dialog import toast
from components.hub import Hub
from components.view.commands import (
    EXPIRES_AFTER_S,
    Question,
    action_of,
    question,
    scale_text,
)
from components.view.text import rate
from controllers.engine.ports import Workload
from controllers.model.command import Command, describe
from controllers.model.errors import InvalidInput, NotFound, WeirError
from metrics.redis_store import RedisStore

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
            "confirm": Output(ids.DIALOG_CONFIRM, "children"),
            "look": Output(ids.DIALOG_CONFIRM, "className"),
            "pending": Output(ids.PENDING, "data"),
        },
        Input(ids.ask(ALL, ALL, ALL), "n_clicks"),
        prevent_initial_call=True,
    )
    async def ask(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        asked = ctx.triggered_id
        return _opened(question(hub.world(), asked["verb"], asked["cluster"], asked["operator"]))

    @app.callback(
        Output(ids.DIALOG_TEXT, "children", allow_duplicate=True),
        Input(ids.DIALOG_NUMBER, "value"),
        State(ids.PENDING, "data"),
        prevent_initial_call=True,
    )
    async def explain(value: Any, pending: dict[str, str] | None) -> Any:
        cluster = hub.world().snapshot.cluster((pending or {}).get("cluster", ""))
        if cluster is None or not isinstance(value, int) or pending["verb"] != "scale":  # type: ignore[index]
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
        running=[(Output(ids.DIALOG_CONFIRM, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    async def confirm(_clicks: int, pending: dict[str, str], executors: Any) -> Any:
        try:
            command = _command(pending, executors, time.time())
            await asyncio.to_thread(hub.store.submit, command)
        except WeirError as error:
            return no_update, str(error), no_update
        except (redis.exceptions.RedisError, OSError):
            return no_update, AWAY, no_update
        await hub.refresh()
        return False, "", toast(f"Sent to {command.cluster}: {describe(command.action)}.")


def _register_workload(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.workload("set", ALL), "n_clicks"),  # type: ignore[arg-type]
        Input(ids.workload("pause", ALL), "n_clicks"),  # type: ignore[arg-type]
        State(ids.workload("rate", ALL), "value"),  # type: ignore[arg-type]
        State(ids.workload("rate", ALL), "id"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )
    async def steer(_set: Any, _pause: Any, rates: list[Any], names: list[dict[str, str]]) -> Any:
        only_clicks()
        asked = ctx.triggered_id
        wanted = {n["name"]: r for n, r in zip(names, rates, strict=True)}.get(asked["name"])
        pause = asked["type"] == "workload-pause"
        try:
            done = await asyncio.to_thread(_steer, hub.store, asked["name"], pause, wanted)
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


def _steer(store: RedisStore, name: str, pause: bool, wanted: Any) -> str:
    """Change one generator and say what it does now."""
    found = next((w for w in store.workloads() if w.name == name), None)
    if found is None:
        raise NotFound(f"There is no workload {name} any more.")
    changed = _toggled(found) if pause else _set_rate(found, wanted)
    store.set_workload(changed)
    if changed.paused:
        return f"{name} pauses."
    return f"{name} now sends {rate(changed.rows_per_s)}."


def _toggled(workload: Workload) -> Workload:
    return replace(workload, paused=not workload.paused)


def _set_rate(workload: Workload, wanted: Any) -> Workload:
    """A rate set by hand holds: a ramp that was under way ends."""
    if not isinstance(wanted, int | float) or wanted < 0:
        raise InvalidInput("The rate is a number of rows per second, 0 or more.", field="rate")
    return replace(workload, rows_per_s=float(wanted), ramp_rows_per_s2=0.0)


def _opened(asked: Question) -> dict[str, Any]:
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


def _command(pending: dict[str, str], executors: Any, now: float) -> Command:
    number = executors if isinstance(executors, int) else None
    return Command(
        id=pending["id"],
        cluster=pending["cluster"],
        action=action_of(pending["verb"], pending["operator"], number),  # type: ignore[arg-type]
        issued_at=now,
        expires_at=now + EXPIRES_AFTER_S,
        by="page",
    )


def only_clicks() -> None:
    """Buttons that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
