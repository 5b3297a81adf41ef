"""From an address to a drawn page."""

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from weir.components.live.delta import panels, start
from weir.components.live.health import health
from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages import Page
from weir.components.pages.audit import page as audit
from weir.components.pages.balance import render as balance
from weir.components.pages.cluster import render as cluster
from weir.components.pages.control_room import render as control_room
from weir.components.pages.history.router import draw_history
from weir.components.pages.operator import render as operator
from weir.components.pages.recommendation import render as recommendation
from weir.components.pages.replay.library import Library
from weir.components.pages.scale import render as scale
from weir.components.pages.settings import page as settings
from weir.components.pages.users import page as users
from weir.components.ui import ids, states
from weir.components.ui.path import place
from weir.components.web.security import Role, current_user, require

FIRST_ANSWER_S = 3.0


def draw(world: World, path: str) -> Component:
    """The page at an address, with the data it starts from."""
    data, page = start(world, path)
    data["regions"], data["cursor"]["regions"] = panels(world, page)
    return html.Div([dcc.Store(id=ids.PAGE_DATA, data=data), _content(world, page)])


def _content(world: World, page: Page) -> Component:
    match page.kind:
        case "control_room":
            return control_room.render(world, page)
        case "cluster":
            return cluster.render(world, page)
        case "operator":
            return operator.render(world, page)
        case "balance":
            return balance.render(world, page)
        case "scale":
            return scale.render(world, page)
        case "scale_choice":
            return scale.render_choice(world, page)
        case "recommendation":
            return recommendation.render(world, page)
        case "users":
            return users.render(current_user())
        case "audit":
            return audit.render(world, page)
        case "settings":
            return settings.render(world, page)
        case "balance_waiting":
            engine = any(p.state == "up" for p in health(world) if p.kind == "engine")
            return states.no_outlook(world.redis_address, engine=engine)
        case "balance_alone":
            return states.alone([c.name for c in world.snapshot.clusters], world.redis_address)
        case "empty":
            return states.empty(world.redis_address)
        case "unreachable":
            return states.unreachable(world.redis_address)
        case "loading":
            return states.loading()
        case "unknown":
            names = [c.name for c in world.snapshot.clusters]
            return states.unknown(page.place, names, [o.name for o in world.snapshot.operators])
    return states.lost(page.place.name)


def register(app: Dash, hub: Hub, library: Library) -> None:
    """Draw on navigation, and again when the feed says that the page's structure has changed."""

    @app.callback(
        Output(ids.PAGE, "children"),
        Input(ids.URL, "pathname"),
        Input(ids.REFRESH, "data"),
        State(ids.URL, "search"),
    )
    @require(Role.VIEWER)
    async def navigate(path: str, refresh: Any, search: str | None) -> Component:
        if place(path).kind == "history":
            return await draw_history(library, hub.world(), path, search, refresh, _content)
        await hub.first(FIRST_ANSWER_S)
        shown = await hub.shown(path or "/")
        world = await recommendation.fetch(hub, shown, place(path))
        return draw(world, path or "/")

    app.clientside_callback(
        ClientsideFunction("weir", "page"),
        Output(ids.CURSOR, "data"),
        Input(ids.PAGE_DATA, "data"),
    )
