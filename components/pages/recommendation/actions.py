"""What the buttons on recommendations, modes and pause-all do. By HTTP, like all buttons."""

import asyncio
from typing import Any

import msgspec
import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.control_room.inbox import successor
from weir.components.pages.control_room.modes import LABELS
from weir.components.pages.recommendation import ask as asks
from weir.components.pages.recommendation.render_dialog import decision_body, mode_radios, refusal
from weir.components.pages.recommendation.text import title_of
from weir.components.ui import ids
from weir.components.ui.actions import AWAY, only_clicks
from weir.components.ui.asking import request
from weir.components.ui.dialog import toast
from weir.components.web.api.errors import sentence
from weir.components.web.security import Role, check, require
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.controllers.service import Drifted

_FAILURES = (redis.exceptions.RedisError, OSError)
_DONE = {
    "approve": "Approved",
    "reject": "Rejected",
    "cancel": "Taken back",
    "rollback": "To be undone",
}


def register(app: Dash, hub: Hub) -> None:
    """The dialog, its three ways in, and its one way out."""
    _register_ways_in(app, hub)
    _register_confirm(app, hub)


def _outputs() -> dict[str, Any]:
    return {
        "opened": Output(ids.DECISION, "opened", allow_duplicate=True),
        "title": Output(ids.DECISION, "title", allow_duplicate=True),
        "body": Output(ids.DECISION_BODY, "children", allow_duplicate=True),
        "error": Output(ids.DECISION_ERROR, "children", allow_duplicate=True),
        "comment": Output(ids.DECISION_COMMENT, "value", allow_duplicate=True),
        "required": Output(ids.DECISION_COMMENT, "required", allow_duplicate=True),
        "modes": Output(ids.DECISION_MODE, "children", allow_duplicate=True),
        "mode": Output(ids.DECISION_MODE, "value", allow_duplicate=True),
        "mode_box": Output(ids.DECISION_MODE_BOX, "style", allow_duplicate=True),
        "confirm": Output(ids.DECISION_CONFIRM, "children", allow_duplicate=True),
        "look": Output(ids.DECISION_CONFIRM, "className", allow_duplicate=True),
        "deciding": Output(ids.DECIDING, "data", allow_duplicate=True),
        "toast": Output(ids.TOAST, "children", allow_duplicate=True),
    }


def _register_ways_in(app: Dash, hub: Hub) -> None:
    @app.callback(
        _outputs(),
        Input(ids.PRESSED_DECIDE, "data"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def decide(pressed: Any) -> dict[str, Any]:
        return await _opened(_about, hub, _pressed(pressed, ids.decide("", "", "")))

    @app.callback(_outputs(), Input(ids.mode(ALL), "n_clicks"), prevent_initial_call=True)  # type: ignore[arg-type]
    @require(Role.ADMIN)
    async def mode(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        return await _opened(asks.mode_change, hub.world(), ctx.triggered_id["cluster"])

    @app.callback(_outputs(), Input(ids.PRESSED_PAUSE, "data"), prevent_initial_call=True)
    @require(Role.APPROVER)
    async def pause(pressed: Any) -> dict[str, Any]:
        resume = _pressed(pressed, ids.pause(""))["verb"] == "resume"
        return await _opened(asks.resume_all if resume else asks.pause_all, hub.world())

    @app.callback(
        Output(ids.DECISION_MODE_TEXT, "children"),
        Input(ids.DECISION_MODE, "value"),
        State(ids.DECIDING, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(chosen: Any, deciding: Any) -> Any:
        asked = _asked(deciding, needed=False)
        if asked.get("verb") != "mode" or not chosen:
            return ""
        return asks.mode_words(hub.world(), asked["id"], chosen)

    app.clientside_callback(
        ClientsideFunction("weir", "close"),
        Output(ids.DECISION, "opened", allow_duplicate=True),
        Input(ids.DECISION_CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )


def _register_confirm(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.DECISION, "opened", allow_duplicate=True),
        Output(ids.DECISION_ERROR, "children", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.DECISION_CONFIRM, "n_clicks"),
        State(ids.DECIDING, "data"),
        State(ids.DECISION_COMMENT, "value"),
        State(ids.DECISION_MODE, "value"),
        running=[(Output(ids.DECISION_CONFIRM, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def confirm(_clicks: int, deciding: Any, comment: Any, mode: Any) -> Any:
        only_clicks()
        try:
            asked = _asked(deciding)
            done = await asyncio.to_thread(_carried_out, hub.store, asked, comment, mode)
        except Drifted as error:
            await hub.refresh()
            return no_update, refusal(str(error), error.offer.id if error.offer else ""), no_update
        except WeirError as error:
            await hub.refresh()
            newer = _newer(hub.world(), deciding)
            return no_update, refusal(sentence(str(error)), newer), no_update
        except _FAILURES:
            return no_update, AWAY, no_update
        await hub.refresh()
        return False, "", toast(done)


async def _opened(ask: Any, *about: Any) -> dict[str, Any]:
    """The dialog, or a note on why there is nothing to decide."""
    keep = dict.fromkeys(_outputs(), no_update)
    try:
        shown: asks.Ask = await asyncio.to_thread(ask, *about)
    except WeirError as error:
        return {**keep, "toast": toast(sentence(str(error)), "bad")}
    except _FAILURES:
        return {**keep, "toast": toast(AWAY, "bad")}
    return {
        "opened": True,
        "title": shown.title,
        "body": decision_body(shown),
        "error": "",
        "comment": "",
        "required": shown.comment_required,
        "modes": mode_radios(shown),
        "mode": shown.mode or None,
        "mode_box": {} if shown.modes else {"display": "none"},
        "confirm": shown.confirm,
        "look": "button button-danger" if shown.danger else "button button-primary",
        "deciding": shown.pending,
        "toast": no_update,
    }


def _pressed(told: Any, like: dict[str, str]) -> dict[str, str]:
    """The id of the button that was pressed, as the browser tells it; nothing if it is none."""
    if not isinstance(told, dict) or not all(isinstance(told.get(key), str) for key in like):
        raise PreventUpdate
    return {key: told[key] for key in like}


def _about(hub: Hub, clicked: dict[str, str]) -> asks.Ask:
    """What the dialog says about a recommendation, also one that is older than the hub's."""
    world, wanted = hub.world(), clicked["recommendation"]
    fetched = hub.store.recommendation(wanted)
    world = replace(world, control=replace(world.control, fetched=fetched))
    placements = hub.store.placements() if clicked["verb"] == "rollback" else {}
    return asks.decision(world, clicked["verb"], wanted, clicked["hash"], placements)  # type: ignore[arg-type]


def _carried_out(store: Store, asked: dict[str, str], comment: Any, mode: Any) -> str:
    """Do what the dialog said, and say so."""
    ask = request(comment)
    match asked["verb"]:
        case "approve":
            done = service.approve(store, ask, asked["id"], asked["hash"])
        case "reject":
            done = service.reject(store, ask, asked["id"])
        case "cancel":
            done = service.cancel(store, ask, asked["id"])
        case "rollback":
            done = service.rollback(store, ask, asked["id"], asked["hash"])
        case "mode":
            check(Role.ADMIN, "set_mode")
            chosen = service.set_mode(store, ask, asked["id"], mode)
            return f"The mode of {asked['id']} is {LABELS[chosen].lower()} now."
        case "pause":
            service.pause_all(store, ask)
            return "Every automatic action is paused."
        case "resume":
            service.resume_all(store, ask)
            return "The engine acts by itself again where it may."
        case _:
            raise InvalidInput("Open the dialog again; nothing was done.")
    return f"{_DONE[asked['verb']]}: {title_of(done)}."


def _asked(deciding: Any, *, needed: bool = True) -> dict[str, str]:
    """What the open dialog asked about, as it came back from the browser."""
    try:
        found: dict[str, str] = msgspec.convert(deciding, dict[str, str])
    except msgspec.ValidationError:
        found = {}
    if needed and not {"verb", "id"} <= found.keys():
        raise InvalidInput("Open the dialog again; nothing was done.")
    return {"hash": "", "id": "", **found}


def _newer(world: World, deciding: Any) -> str:
    found = world.control.recommendation(_asked(deciding, needed=False)["id"])
    newer = successor(world, found) if found else None
    return newer.id if newer else ""
