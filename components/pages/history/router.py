"""From an address below /history or /replay to a drawn page."""

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from dash import ctx, dcc, html
from dash.development.base_component import Component

from weir.components.live.world import World
from weir.components.pages import Page, page_of
from weir.components.pages.compare import render as history_compare
from weir.components.pages.compare.view import comparison
from weir.components.pages.history import render as history
from weir.components.pages.history.view import Query, listing, pair_of
from weir.components.pages.replay import render_audit as replay_audit
from weir.components.pages.replay import render_settings as replay_settings
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.page import drawn, first, live_cursor
from weir.components.pages.replay.view import Past, moment_of, past_of
from weir.components.pages.tune import render as history_tune
from weir.components.pages.tune.actions import newest
from weir.components.pages.what_if import render as history_what_if
from weir.components.ui import ids
from weir.components.ui.parts import icon
from weir.components.ui.path import place
from weir.controllers.model.errors import WeirError
from weir.metrics.runs.tuning import Tunings

Content = Callable[[World, Page], Component]


async def draw_history(
    library: Library, live: World, path: str, search: str | None, refresh: Any, content: Content
) -> Component:
    """The page, with what the browser needs of it; what cannot be shown says why."""
    empty = {
        "now": round(live.at * 1000), "charts": [], "staleAfter": {}, "map": None,
        "balance": None, "scale": None,
    }  # fmt: skip
    past = past_of(path)
    try:
        if past is not None:
            at = refresh.get("at") if _is_refresh() and isinstance(refresh, dict) else None
            given = f"?at={at}" if at is not None else search
            data, shown = await asyncio.to_thread(_replay, library, live, past, given, content)
        else:
            data, shown = await asyncio.to_thread(_page, library, live, path, search)
    except WeirError as error:
        data, shown = {}, _cannot(str(error))
    cursor = live_cursor(path, page_of(live, place(path)).structure)
    store = dcc.Store(id=ids.PAGE_DATA, data={**empty, **data, "cursor": cursor})
    return html.Div([store, shown])


def _replay(
    library: Library, live: World, past: Past, search: str | None, content: Content
) -> tuple[dict[str, Any], Component]:
    at = moment_of(search, library.run(past.run))
    data, world, page = first(library, past, at, live.target_latency_s)
    return data, html.Div(
        [
            drawn(_content_then(world, page, content), past, at),
            html.Div(id=ids.REPLAY_ADVICE, className="replay-advice"),
        ],
        className="stack",
    )


def _content_then(world: World, page: Page, content: Content) -> Component:
    """A page of the past; those that callbacks fill with the present have one of their own."""
    match page.kind:
        case "audit":
            return replay_audit.render()
        case "settings":
            return replay_settings.render(world, page)
    return content(world, page)


def _page(
    library: Library, live: World, path: str, search: str | None
) -> tuple[dict[str, Any], Component]:
    steps = [s for s in path.split("/") if s][1:]
    match steps:
        case []:
            return {}, history.render(listing(library.runs(), Query(), time.time()))
        case ["compare"]:
            a, b = pair_of(search)
            found = comparison(library.run(a), library.run(b), live.target_latency_s)
            return {}, history_compare.render(found)
        case [run, "what-if"]:
            info = library.run(unquote(run)).info
            return {}, history_what_if.render(info, live.target_latency_s)
        case [run, "tune"]:
            info = library.run(unquote(run)).info
            found = newest(Tunings(library.root), info.id)
            return {}, history_tune.render(info, live.target_latency_s, *found)
    return {}, _cannot(f"{path} leads nowhere.")


def _is_refresh() -> bool:
    return ctx.triggered_id == ids.REFRESH


def _cannot(why: str) -> Component:
    return html.Section(
        [
            icon("search"),
            html.H1("This cannot be shown"),
            html.P(why),
            html.P(dcc.Link("To the list of runs", href="/history")),
        ],
        className="state",
    )
