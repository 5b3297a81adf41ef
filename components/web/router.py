"""From an address to a drawn page."""

from typing import Any

import msgspec
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html
from dash.development.base_component import Component

from weir.components.live.delta import Cursor, panels, start
from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site, Visit
from weir.components.pages.registry import PAGES
from weir.components.ui import ids, states
from weir.components.web.security import Role, require
from weir.controllers.model.errors import Busy, WeirError

FIRST_ANSWER_S = 3.0


def draw(world: World, path: str) -> Component:
    """The page at an address, with the data it starts from."""
    data, page = start(PAGES, world, path)
    data["regions"], data["cursor"]["regions"] = panels(world, page)
    data["title"] = PAGES.title(path)
    return html.Div([dcc.Store(id=ids.PAGE_DATA, data=data), page.draw(world, page)])


def register(app: Dash, site: Site) -> None:
    """Draw on navigation, and again when the feed says that the page's structure has changed."""
    hub = site.hub

    @app.callback(
        Output(ids.PAGE, "children"),
        Input(ids.URL, "pathname"),
        Input(ids.REFRESH, "data"),
        State(ids.URL, "search"),
    )
    @require(Role.VIEWER)
    async def navigate(path: str, refresh: Any, search: str | None) -> Component:
        path = path or "/"
        kind = PAGES.kind(path)
        if kind is not None and kind.visit is not None:
            again = ctx.triggered_id == ids.REFRESH and isinstance(refresh, dict)
            at_ms = refresh.get("at") if again else None
            return await _visit(kind, site, path, search, at_ms)
        await hub.first(FIRST_ANSWER_S)
        world = await hub.world_for(path)
        if kind is not None and kind.fetch is not None:
            world = await kind.fetch(hub, world, PAGES.place(path))
        return draw(world, path)

    app.clientside_callback(
        ClientsideFunction("weir", "page"),
        Output(ids.CURSOR, "data"),
        Input(ids.PAGE_DATA, "data"),
    )


async def _visit(
    kind: PageKind, site: Site, path: str, search: str | None, at_ms: Any
) -> Component:
    """A page that is not drawn from the hub's world; what cannot be shown says why."""
    live, shown = site.hub.world(), PAGES.place(path)
    visit = Visit(site=site, live=live, place=shown, path=path, search=search, at_ms=at_ms)
    assert kind.visit is not None
    try:
        data, content = await site.visiting(kind.visit, visit)
    except Busy:
        raise
    except WeirError as error:
        data, content = {}, _cannot(str(error))
    empty = {"now": round(live.at * 1000), "charts": [], "staleAfter": {}}
    # The feed is told of this page only what it needs to bring the header's panels.
    cursor = Cursor(path=path, page=PAGES.page(live, path).structure)
    told = {**empty, **data, "title": PAGES.title(path), "cursor": msgspec.to_builtins(cursor)}
    return html.Div([dcc.Store(id=ids.PAGE_DATA, data=told), content])


def _cannot(why: str) -> Component:
    return states.missing("This cannot be shown", why, "/history", "To the list of runs")
