"""The live feed: push by WebSocket, polling by HTTP where that does not come up.

Push is one persistent callback per tab. It has no inputs, because Dash starts
only such callbacks again after a reconnect. After every message it asks the
browser what it has drawn: that is the back-pressure (a slow tab gets fewer and
larger messages), and the way to learn of navigation and of closed tabs.
"""

import asyncio
import itertools
import time
from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update, set_props
from dash.exceptions import WebsocketDisconnected
from msgspec.structs import replace

from weir.components.live.delta import Cursor, cursor_of, later
from weir.components.live.hub import Hub
from weir.components.live.page import Pages
from weir.components.live.shared import Sent, Shared
from weir.components.ui import ids
from weir.components.web.security import Role, require

PUSH_EVERY_S = 0.28
"""Least time between two updates of a tab: more than four a second are not seen."""
PUSH_LARGE_EVERY_S = 1.2
"""The same of a page of very many clusters, where something is new all the time."""
PHASES = 4
"""Tabs with such a page are told in this many groups, by turns: one world serves a group, and
not all tabs draw at once."""
SIGN_OF_LIFE_S = 2.0
"""Longest silence, so that the browser can tell a dead feed from nothing new."""
ANSWER_S = 20.0
MESSAGE = "data-message"
"""The browser watches this attribute. A callback of Dash would make a dozen changes of its state
out of each message, and every component on the page looks at each of them."""


def register(app: Dash, hub: Hub, pages: Pages) -> None:
    """Both transports and the function that draws what they bring."""
    shared = Shared(pages)
    phases = itertools.cycle(i * PUSH_LARGE_EVERY_S / PHASES for i in range(PHASES))

    @app.callback(
        State(ids.URL, "search"), State(ids.CURSOR, "data"), websocket=True, persistent=True
    )
    @require(Role.VIEWER)
    async def push(search: str | None, seen: Any) -> None:
        # A browser without shared workers sends even this by HTTP; it will poll.
        if ctx.websocket is not None and "feed=poll" not in (search or ""):
            await _push(hub, shared, cursor_of(seen), next(phases))

    @app.callback(
        Output(ids.FEED, MESSAGE),
        Input(ids.POLL, "data"),
        State(ids.CURSOR, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def poll(asked: Any, seen: Any) -> Any:
        if not asked or not seen:
            return no_update
        drawn = cursor_of(seen)
        hub.look(drawn.path)
        return _envelope(shared.message(hub.world(), drawn), "poll", drawn.drawn)


def _envelope(sent: Sent, via: str, drawn: int, number: int = 0, after: int = 0) -> str:
    """The text is the same for many tabs; beside it when it was sent, for which drawing, and
    after which other message it makes sense (0: whatever came before)."""
    now = round(time.time() * 1000)
    order = f'"number":{number},"after":{after}'
    return f'{{"via":"{via}","now":{now},"drawn":{drawn},{order},"message":{sent.text}}}'


async def _push(hub: Hub, shared: Shared, seen: Cursor, phase_s: float) -> None:
    ws = ctx.websocket
    version, sent, sent_at, large = -1, seen, 0.0, False
    number = 0
    while not ws.is_shutdown:
        version = await hub.wait_for_change(version, SIGN_OF_LIFE_S)
        hub.look(seen.path)
        if seen.page:  # before that the browser has not drawn its first page
            base = later(sent, seen)
            message = shared.message(hub.world(), base)
            hub.told_s, large = shared.cost_s, message.large
            if not message.quiet or time.monotonic() - sent_at > SIGN_OF_LIFE_S * 0.9:
                # A busy browser draws only the last of several that come at once.
                after = number if base is sent else 0
                number += 1
                text = _envelope(message, "push", seen.drawn, number, after)
                set_props(ids.FEED, {MESSAGE: text})
                sent = replace(message.after, drawn=seen.drawn, lost=seen.lost)
                sent_at = time.monotonic()
        started = time.monotonic()
        try:
            seen = cursor_of(await ws.get_prop(ids.CURSOR, "data", timeout=ANSWER_S))
        except TimeoutError:
            continue  # a tab that sleeps; it is asked again
        except WebsocketDisconnected:
            return
        if large:
            await asyncio.sleep((phase_s - time.monotonic()) % PUSH_LARGE_EVERY_S)
        else:
            await asyncio.sleep(max(0.0, PUSH_EVERY_S - (time.monotonic() - started)))
