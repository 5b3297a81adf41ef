"""What the controls of the load generators do. By HTTP, like all buttons."""

import asyncio
from typing import Any

import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx

from weir.components.live.hub import Hub
from weir.components.pages.control_room import ids as control_room_ids
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.dialog import toast
from weir.components.ui.text import rate
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.metrics.store.redis_store import RedisStore


def register(app: Dash, hub: Hub) -> None:
    """Rate, pause and the slider that sets the number."""

    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(control_room_ids.workload("set", ALL), "n_clicks"),
        Input(control_room_ids.workload("pause", ALL), "n_clicks"),
        State(control_room_ids.workload("rate", ALL), "value"),
        State(control_room_ids.workload("rate", ALL), "id"),
        State(control_room_ids.workload("why", ALL), "value"),
        State(control_room_ids.workload("why", ALL), "id"),
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

    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(control_room_ids.workload("shape", ALL), "n_clicks"),
        *(
            State(control_room_ids.workload(part, ALL), "value")
            for part in ("profile", "to", "over", "lasts", "skew", "why")
        ),
        State(control_room_ids.workload("profile", ALL), "id"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def shape(_shape: Any, *given: list[Any]) -> Any:
        only_clicks()
        name = ctx.triggered_id["name"]
        *states, names = given
        at = [n["name"] for n in names].index(name)
        *fields, comment = (values[at] if at < len(values) else None for values in states)
        try:
            done = await asyncio.to_thread(_set_shape, hub.store, name, fields, comment)
        except WeirError as error:
            return toast(str(error), "bad")
        except (redis.exceptions.RedisError, OSError):
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(done)

    app.clientside_callback(
        ClientsideFunction("weir", "slide"),
        Output(control_room_ids.workload("rate", ALL), "value"),
        Input(control_room_ids.workload("slider", ALL), "value"),
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


def _set_shape(store: RedisStore, name: str, fields: list[Any], comment: Any) -> str:
    """Give one generator a profile and a skew, and say what it does now."""
    kind, to, over, lasts, skew = fields
    numbers = {"to_rows_per_s": to, "over_s": over, "lasts_s": lasts}
    done = service.set_rate(
        store,
        request(comment),
        name,
        skew=float(skew) if isinstance(skew, int | float) else None,
        profile={"kind": kind, **{k: v for k, v in numbers.items() if isinstance(v, int | float)}},
    )
    return f"{name} is asked for {service.workload_words(done)}."
