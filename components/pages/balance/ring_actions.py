"""Re-slicing by hand on the Balance page: the prediction first, then the one dialog."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

from dash import ALL, Dash, Input, State, ctx
from msgspec import to_builtins

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.render_rings import reslice_body
from weir.components.pages.balance.rings import (
    ReslicePreview,
    preview_half,
    preview_hand,
    read_preview,
)
from weir.components.ui.asking import request
from weir.components.ui.clicks import only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, outputs
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.engine.recommendation import Recommendation, Status

ASKER = "reslice"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """The buttons beside the rings, and their dialog."""

    @app.callback(outputs(), Input(balance_ids.hand_on(ALL), "n_clicks"), prevent_initial_call=True)
    @require(Role.VIEWER)
    async def half(_clicks: list[int | None]) -> dict[str, Any]:
        only_clicks()
        world, name = hub.world(), ctx.triggered_id["slice"]
        return await dialog.ask(ASKER, _ask, world, lambda new: preview_half(world, name, new))

    @app.callback(
        outputs(),
        Input(balance_ids.reslice_preview(ALL), "n_clicks"),
        State(balance_ids.reslice_field("slices", ALL), "value"),
        State(balance_ids.reslice_field("groups", ALL), "value"),
        State(balance_ids.reslice_field("to", ALL), "value"),
        State(balance_ids.reslice_field("to", ALL), "id"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def by_hand(
        _clicks: list[int | None], slices: list[Any], groups: list[Any], to: list[Any],
        names: list[dict[str, str]],
    ) -> dict[str, Any]:  # fmt: skip
        only_clicks()
        world, operator = hub.world(), ctx.triggered_id["operator"]
        rows = zip(names, slices, groups, to, strict=False)
        none: tuple[Any, Any, Any] = (None, "", "")
        given = next((row[1:] for row in rows if row[0] == taker_id(operator)), none)
        return await dialog.ask(
            ASKER, _ask, world, lambda new: preview_hand(world, operator, *given, new)
        )

    async def confirm(said: Said) -> Done:
        done = await asyncio.to_thread(_apply, hub.store, said.pending, said.comment)
        await hub.refresh()
        waits = done.status is Status.PROPOSED
        return Done(
            said="It waits in the inbox for somebody else to approve it."
            if waits
            else "The engine was asked to re-slice it."
        )

    dialog.on(ASKER, Role.APPROVER, confirm)


def taker_id(operator: Any) -> dict[str, Any]:
    """The id of the control that says who takes the key groups."""
    return balance_ids.reslice_field("to", operator)


def _ask(world: World, look: Callable[[str], ReslicePreview]) -> Ask:
    shown = look(uuid.uuid4().hex)
    return Ask(
        title=f"Preview: re-slice {shown.title}",
        body=reslice_body(shown),
        error=shown.warning,
        comment=True,
        comment_required=world.control.settings.comment_required,
        confirm="Apply",
        size=680,
        pending=to_builtins(shown.wanted),
    )


def _apply(store: Store, data: Any, comment: str) -> Recommendation:
    """Ask for exactly what was shown, once."""
    wanted = read_preview(data)
    return service.reslice(
        store, request(comment, wanted.id), wanted.operator,
        slices=wanted.slices, groups=wanted.groups, to=wanted.to, plan_hash=wanted.hash,
    )  # fmt: skip
