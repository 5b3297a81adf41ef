"""What the buttons of the Balance page do. By HTTP, like all buttons."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import redis
from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate
from msgspec import to_builtins
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.preview import (
    HAND,
    Preview,
    hand_text,
    of_hand,
    of_planner,
    read_preview,
)
from weir.components.pages.balance.rebalances import planner_label
from weir.components.pages.balance.render_preview import preview_body
from weir.components.pages.balance.view import alone, change_settings, follow_text
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks, pressed_id
from weir.components.ui.dialog import Ask, Dialog, Done, Said, outputs, toast
from weir.components.ui.text import plural
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.propose.balance import BALANCE
from weir.controllers.engine.propose.make import BY_HAND
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.decision import Moves
from weir.controllers.model.errors import WeirError
from weir.controllers.model.sample import Mode
from weir.metrics.store.redis_store import RedisStore

_FAILURES = (redis.exceptions.RedisError, OSError)


ASKER = "plan"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """All buttons of the page and of its dialog."""
    _register_preview(app, hub, dialog)
    _register_hand(app, hub)
    _register_follow(app, hub)


def _register_preview(app: Dash, hub: Hub, dialog: Dialog) -> None:
    @app.callback(outputs(), Input(balance_ids.PRESSED_PREVIEW, "data"), prevent_initial_call=True)
    @require(Role.VIEWER)
    async def of_plan(pressed: Any) -> dict[str, Any]:
        if not isinstance(pressed, dict):
            raise PreventUpdate
        world, planner = hub.world(), str(pressed.get("planner"))
        return await dialog.ask(ASKER, _ask, world, lambda new: of_planner(world, planner, new))

    @app.callback(
        outputs(),
        Input(balance_ids.HAND_PREVIEW, "n_clicks"),
        State(balance_ids.HAND_OPERATOR, "value"),
        State(balance_ids.HAND_TARGET, "value"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def of_choice(_clicks: int | None, operator: Any, target: Any) -> dict[str, Any]:
        only_clicks()
        world = hub.world()
        return await dialog.ask(
            ASKER, _ask, world, lambda new: of_hand(world, operator, target, new)
        )

    @app.callback(outputs(), Input(ids.PRESSED_MOVE, "data"), prevent_initial_call=True)
    @require(Role.VIEWER)
    async def of_map(told: Any) -> dict[str, Any]:
        world, chosen = hub.world(), pressed_id(told, ("operator", "target"))
        return await dialog.ask(
            ASKER,
            _ask,
            world,
            lambda new: of_hand(world, chosen["operator"], chosen["target"], new),
        )

    async def confirm(said: Said) -> Done:
        done = await asyncio.to_thread(_apply, hub.store, said.pending, said.comment)
        await hub.refresh()
        return Done(said=_requester(done))

    dialog.on(ASKER, Role.APPROVER, confirm)


def _register_hand(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(balance_ids.HAND_TEXT, "children"),
        Input(balance_ids.HAND_OPERATOR, "value"),
        Input(balance_ids.HAND_TARGET, "value"),
    )
    @require(Role.VIEWER)
    async def predict(operator: Any, target: Any) -> Any:
        try:
            return hand_text(hub.world(), operator, target)
        except WeirError as error:
            return str(error)


def _register_follow(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(balance_ids.FOLLOW_TEXT, "children"),
        Input(balance_ids.FOLLOW_PLANNER, "value"),
        Input(balance_ids.FOLLOW_AUTO, "checked"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def explain(planner: Any, auto: Any) -> str:
        world = hub.world()
        chosen = replace(world.balance, planner=str(planner))
        return follow_text(chosen, planner_label(world.outlook, chosen.planner), bool(auto))

    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(balance_ids.FOLLOW_SET, "n_clicks"),
        State(balance_ids.FOLLOW_PLANNER, "value"),
        State(balance_ids.FOLLOW_AUTO, "checked"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def follow(_clicks: int | None, planner: Any, auto: Any) -> Any:
        only_clicks()
        try:
            await asyncio.to_thread(_follow, hub.store, hub.world(), planner, auto)
        except WeirError as error:
            return toast(str(error), "bad")
        except _FAILURES:
            return toast(AWAY, "bad")
        await hub.refresh()
        world = hub.world()
        label = planner_label(world.outlook, planner)
        return toast(follow_text(world.balance, label, alone(world)))


def _ask(world: World, look: Callable[[str], Preview]) -> Ask:
    """A prediction, and the button that has it carried out where it changes anything."""
    # The id is given before the click, so that a second click is the same rebalance.
    shown = look(uuid.uuid4().hex)
    return Ask(
        title=f"Preview: {shown.title}",
        body=preview_body(shown),
        error=shown.warning,
        comment=bool(shown.moves),
        comment_required=world.control.settings.comment_required,
        confirm="Apply" if shown.moves else "",
        size=680,
        pending=to_builtins(shown.previewed),
    )


def _apply(store: RedisStore, data: Any, comment: str = "") -> Recommendation:
    """Ask the engine for exactly the plan that was shown, once."""
    shown = read_preview(data)
    return service.rebalance(
        store,
        request(comment, shown.id),
        shown.moves,
        planner=BY_HAND if shown.planner == HAND else shown.planner,
        why=shown.why,
    )


def _requester(done: Recommendation) -> str:
    if done.status is Status.PROPOSED:
        return "It waits in the inbox for somebody else to approve it."
    moves = done.decision.moves if isinstance(done.decision, Moves) else ()
    return f"The engine was asked for {plural(len(moves), 'move')}."


def _follow(store: RedisStore, world: World, planner: Any, auto: Any) -> None:
    """Set the planner, and the mode of every cluster that hosts operators."""
    values = change_settings(world, store.settings(BALANCE), planner)
    service.set_settings(store, request(), BALANCE, values)
    if bool(auto) is alone(world):
        return
    mode = Mode.AUTO if auto else Mode.APPROVE
    for cluster in world.snapshot.clusters:
        if cluster.hosted:
            service.set_mode(store, request(), cluster.name, mode)
