"""What the buttons on recommendations, modes and pause-all do. By HTTP, like all buttons."""

import asyncio
from typing import Any

import msgspec
from dash import ALL, Dash, Input, Output, ctx
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.recommendation_words import title_of
from weir.components.live.world import World
from weir.components.pages.control_room.inbox import successor
from weir.components.pages.control_room.modes import LABELS
from weir.components.pages.recommendation import ask as asks
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.pages.recommendation.render_dialog import decision_body, refusal
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import only_clicks, pressed_id
from weir.components.ui.dialog import Ask, Dialog, Done, Said, Stays, chosen_control, outputs
from weir.components.ui.text import sentence
from weir.components.web.security import Role, check, require
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.controllers.service import Drifted

ASKER = "decision"
_DONE = {
    "approve": "Approved",
    "reject": "Rejected",
    "cancel": "Cancelled",
    "rollback": "To be undone",
}


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """The dialog, its three ways in, and its one way out."""
    _register_ways_in(app, hub, dialog)

    async def confirm(said: Said) -> Done | Stays:
        try:
            asked = _asked_about(said.pending)
            mode = said.fields.get("mode")
            done = await asyncio.to_thread(_carry_out, hub.store, asked, said.comment, mode)
        except Drifted as error:
            await hub.refresh()
            return Stays(error=refusal(str(error), error.offer.id if error.offer else ""))
        except WeirError as error:
            await hub.refresh()
            newer = _newer(hub.world(), said.pending)
            return Stays(error=refusal(sentence(str(error)), newer))
        await hub.refresh()
        return Done(said=done)

    dialog.on(ASKER, Role.APPROVER, confirm)


def _register_ways_in(app: Dash, hub: Hub, dialog: Dialog) -> None:
    @app.callback(outputs(), Input(ids.PRESSED_DECIDE, "data"), prevent_initial_call=True)
    @require(Role.APPROVER)
    async def decide(pressed: Any) -> dict[str, Any]:
        about = pressed_id(pressed, recommendation_ids.decide("", "", ""))
        return await dialog.ask(ASKER, lambda: _dialog(_about(hub, about)))

    @app.callback(outputs(), Input(ids.mode(ALL), "n_clicks"), prevent_initial_call=True)
    @require(Role.ADMIN)
    async def mode(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        world, cluster = hub.world(), ctx.triggered_id["cluster"]
        return await dialog.ask(ASKER, lambda: _dialog(asks.mode_change(world, cluster)))

    @app.callback(outputs(), Input(ids.PRESSED_PAUSE, "data"), prevent_initial_call=True)
    @require(Role.APPROVER)
    async def pause(pressed: Any) -> dict[str, Any]:
        resume = pressed_id(pressed, ids.pause(""))["verb"] == "resume"
        ask = asks.resume_all if resume else asks.pause_all
        return await dialog.ask(ASKER, lambda: _dialog(ask(hub.world())))

    @app.callback(
        Output(ids.field_text("mode", ALL), "children"),
        Input(ids.field("mode", ALL), "value"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(_values: list[Any]) -> list[str]:
        cluster, mode = chosen_control()
        said = asks.mode_words(hub.world(), cluster, mode) if mode else ""
        return [said] * len(ctx.outputs_list)


def _dialog(asked: asks.DecisionDialog) -> Ask:
    return Ask(
        title=asked.title,
        body=decision_body(asked),
        cancel="Back",
        confirm=asked.confirm,
        danger=asked.danger,
        comment=True,
        comment_required=asked.comment_required,
        comment_first=True,
        size=640,
        pending=asked.pending,
    )


def _about(hub: Hub, clicked: dict[str, str]) -> asks.DecisionDialog:
    """What the dialog says about a recommendation, also one that is older than the hub's."""
    world, wanted = hub.world(), clicked["recommendation"]
    fetched = hub.store.recommendation(wanted)
    world = replace(world, control=replace(world.control, fetched=fetched))
    back = clicked["verb"] == "rollback"
    return asks.decision(
        world, clicked["verb"], wanted, clicked["hash"],  # type: ignore[arg-type]
        hub.store.placements() if back else {}, hub.store.slicings() if back else {},
    )  # fmt: skip


def _carry_out(store: Store, asked: dict[str, str], comment: str, mode: Any) -> str:
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


def _asked_about(deciding: Any, *, needed: bool = True) -> dict[str, str]:
    """What the open dialog asked about, as it came back from the browser."""
    try:
        found: dict[str, str] = msgspec.convert(deciding, dict[str, str])
    except msgspec.ValidationError:
        found = {}
    if needed and not {"verb", "id"} <= found.keys():
        raise InvalidInput("Open the dialog again; nothing was done.")
    return {"hash": "", "id": "", **found}


def _newer(world: World, deciding: Any) -> str:
    found = world.control.recommendation(_asked_about(deciding, needed=False)["id"])
    newer = successor(world, found) if found else None
    return newer.id if newer else ""
