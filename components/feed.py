"""The live feed: push by WebSocket, polling by HTTP where that does not come up.

Push is one persistent callback per tab. It has no inputs, because Dash starts
only such callbacks again after a reconnect. After every message it asks the
browser what it has drawn: that is the back-pressure (a slow tab gets fewer and
larger messages), and the way to learn of navigation and of closed tabs.
"""

import asyncio
import time
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, no_update, set_props
from dash.exceptions import WebsocketDisconnected

from components import ids
from components.delta import Cursor, cursor_of, delta, later
from components.hub import Hub

PUSH_EVERY_S = 0.28
"""At most so often per tab: more than four updates a second are not seen."""
SIGN_OF_LIFE_S = 2.0
"""At least so often, so that the browser can tell silence from nothing new."""
ANSWER_S = 20.0


def register(app: Dash, hub: Hub) -> None:
    """Both transports and the function that draws what they bring."""

    @app.callback(
        State(ids.URL, "search"), State(ids.CURSOR, "data"), websocket=True, persistent=True
    )
    async def push(search: str | None, seen: Any) -> None:
        # A browser without shared workers sends even this by HTTP; it will poll.
        if ctx.websocket is not None and "feed=poll" not in (search or ""):
            await _push(hub, cursor_of(seen))

    @app.callback(
        Output(ids.FEED, "data"),
        Input(ids.POLL, "data"),
        State(ids.CURSOR, "data"),
        prevent_initial_call=True,
    )
    async def poll(asked: Any, seen: Any) -> Any:
        if not asked or not seen:
            return no_update
        message, _ = delta(hub.world(), cursor_of(seen))
        return {**message, "via": "poll"}

    app.clientside_callback(
        ClientsideFunction("weir", "feed"),
        Output(ids.CURSOR, "data", allow_duplicate=True),
        Input(ids.FEED, "data"),
        prevent_initial_call=True,
    )


async def _push(hub: Hub, seen: Cursor) -> None:
    ws = ctx.websocket
    version, sent, sent_at = -1, seen, 0.0
    while not ws.is_shutdown:
        version = await hub.changed(version, SIGN_OF_LIFE_S)
        if seen.page:  # before that the browser has not drawn its first page
            message, after = delta(hub.world(), later(sent, seen))
            quiet = len(message) <= 3  # only now, path and cursor
            if not quiet or time.monotonic() - sent_at > SIGN_OF_LIFE_S * 0.9:
                set_props(ids.FEED, {"data": {**message, "via": "push"}})
                sent, sent_at = after, time.monotonic()
        started = time.monotonic()
        try:
            seen = cursor_of(await ws.get_prop(ids.CURSOR, "data", timeout=ANSWER_S))
        except TimeoutError:
            continue  # a tab that sleeps; it is asked again
        except WebsocketDisconnected:
            return
        await asyncio.sleep(max(0.0, PUSH_EVERY_S - (time.monotonic() - started)))
