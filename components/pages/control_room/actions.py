"""What the controls of the load generators do. By HTTP, like all buttons."""

import asyncio
import time
from typing import Any

import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.pages.control_room import ids as control_room_ids
from weir.components.ui import ids
from weir.components.ui.clicks import AWAY, commented, only_clicks
from weir.components.ui.dialog import toast
from weir.components.ui.text import rate
from weir.components.web.security import Role, current_user, require
from weir.controllers.engine.ports import Workload
from weir.controllers.model.errors import InvalidInput, NotFound, WeirError
from weir.controllers.service import operating
from weir.metrics.store.redis_store import RedisStore


def register(app: Dash, hub: Hub) -> None:
    """Rate, pause and the slider that sets the number."""

    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(control_room_ids.workload("set", ALL), "n_clicks"),  # type: ignore[arg-type]
        Input(control_room_ids.workload("pause", ALL), "n_clicks"),  # type: ignore[arg-type]
        State(control_room_ids.workload("rate", ALL), "value"),  # type: ignore[arg-type]
        State(control_room_ids.workload("rate", ALL), "id"),  # type: ignore[arg-type]
        State(control_room_ids.workload("why", ALL), "value"),  # type: ignore[arg-type]
        State(control_room_ids.workload("why", ALL), "id"),  # type: ignore[arg-type]
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
            done = await asyncio.to_thread(
                _steer, hub.store, asked["name"], pause, wanted, commented(comment)
            )
        except WeirError as error:
            return toast(str(error), "bad")
        except (redis.exceptions.RedisError, OSError):
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(done)

    app.clientside_callback(
        ClientsideFunction("weir", "slide"),
        Output(control_room_ids.workload("rate", ALL), "value"),  # type: ignore[arg-type]
        Input(control_room_ids.workload("slider", ALL), "value"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )


def _steer(store: RedisStore, name: str, pause: bool, wanted: Any, comment: str) -> str:
    """Change one generator and say what it does now."""
    found = next((w for w in store.workloads() if w.name == name), None)
    if found is None:
        raise NotFound(f"There is no workload {name} any more.")
    changed = _toggled(found) if pause else _set_rate(found, wanted)
    person = current_user()
    operating.steer(
        store, found, changed, by=person.name, now=time.time(), comment=comment,
        address=person.address,
    )  # fmt: skip
    return f"{name} pauses." if changed.paused else f"{name} now sends {rate(changed.rows_per_s)}."


def _toggled(workload: Workload) -> Workload:
    return replace(workload, paused=not workload.paused)


def _set_rate(workload: Workload, wanted: Any) -> Workload:
    """A rate set by hand holds: a ramp that was under way ends."""
    if not isinstance(wanted, int | float) or wanted < 0:
        raise InvalidInput("The rate is a number of rows per second, 0 or more.", field="rate")
    return replace(workload, rows_per_s=float(wanted), ramp_rows_per_s2=0.0)
