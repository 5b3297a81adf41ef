"""From an address to a drawn page."""

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from components import ids
from components.cards import states
from components.delta import panels, start
from components.history_router import draw_history
from components.hub import Hub
from components.pages import (
    Page,
    audit,
    balance,
    cluster,
    control_room,
    operator,
    recommendation,
    scale,
    settings,
    users,
)
from components.replay_library import Library
from components.security import Role, current_user, require
from components.view.health import health
from components.view.path import place
from components.view.world import World

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
