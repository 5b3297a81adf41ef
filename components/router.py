"""From an address to a drawn page."""

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html
from dash.development.base_component import Component

from components import ids
from components.cards import states
from components.delta import start
from components.hub import Hub
from components.pages import Page, balance, cluster, control_room, operator
from components.view.health import health
from components.view.world import World

FIRST_ANSWER_S = 3.0


def draw(world: World, path: str) -> Component:
    """The page at an address, with the data it starts from."""
    data, page = start(world, path)
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


def register(app: Dash, hub: Hub) -> None:
    """Draw on navigation, and again when the feed says that the page's structure has changed."""

    @app.callback(
        Output(ids.PAGE, "children"), Input(ids.URL, "pathname"), Input(ids.REFRESH, "data")
    )
    async def navigate(path: str, _refresh: Any) -> Component:
        return draw(await hub.first(FIRST_ANSWER_S), path or "/")

    app.clientside_callback(
        ClientsideFunction("weir", "page"),
        Output(ids.CURSOR, "data"),
        Input(ids.PAGE_DATA, "data"),
    )
