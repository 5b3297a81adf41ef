"""The balance of load, once the engine has looked at it."""

from dash import Dash
from dash.development.base_component import Component
from msgspec.structs import replace

from weir.components.live.health import health
from weir.components.live.page import Page, Panel, PointSource, make_page
from weir.components.live.world import World
from weir.components.pages.balance import actions, ring_actions, view
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.matrices import matrices
from weir.components.pages.balance.rebalances import events, rebalance_rows
from weir.components.pages.balance.render import render
from weir.components.pages.balance.render_note import balance_note
from weir.components.pages.balance.render_plans import plans_table
from weir.components.pages.balance.render_rebalances import rebalances_list
from weir.components.pages.balance.render_rings import ring_drawings
from weir.components.pages.balance.rings import ring_facts, ring_figures, ring_views
from weir.components.pages.base import PageKind, Site, empty
from weir.components.pages.replay import child
from weir.components.pages.replay.library import ANSWER_S, Library
from weir.components.ui import states
from weir.components.ui.path import BALANCE, Place
from weir.controllers.model.words import by_number

PANELS = {
    balance_ids.BALANCE_NOTE: Panel(lambda world, _: view.note(world), balance_note),
    balance_ids.PLANS: Panel(lambda world, _: view.plan_rows(world), plans_table),
    balance_ids.RINGS: Panel(lambda world, _: ring_views(world), ring_drawings),
    balance_ids.REBALANCES: Panel(lambda world, _: rebalance_rows(world), rebalances_list),
}
SOURCES = {
    view.DISTANCE: PointSource(
        at=lambda world: world.outlook.at if world.outlook else None,
        points=lambda world, since_ms: view.distance_points(world.outlook, since_ms),
        old_after_s=view.OLD_AFTER_S,
    )
}
"""The load distance comes with the engine's outlook, not with a cluster's report."""


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The page, or why there is no balance yet."""
    if not world.snapshot.clusters:
        return empty(world, place)
    found, state = world.outlook, view.state(world)
    if found is None or state != "ready":
        names = [c.name for c in world.snapshot.clusters]
        draw = _alone if state == "alone" else _waiting
        return make_page(place, f"balance_{state}", draw, _engine_is_up(world), names)
    return make_page(
        place,
        "balance",
        render,
        view.choices(world),
        [world.balance.planner, view.alone(world)],
        sorted((b.name for b in found.problem.bins), key=by_number),
        sorted((o.name for o in world.snapshot.operators), key=by_number),
        ring_facts(world),
        panels=PANELS,
        charts=(view.CHART,),
        sources=SOURCES,
        figures=view.figures(world) | ring_figures(world),
        drawings={
            "balance": {"matrices": matrices(world), "events": {view.CHART.key: events(world)}}
        },
    )


def _engine_is_up(world: World) -> bool:
    return any(p.state == "up" for p in health(world) if p.kind == "engine")


def _waiting(world: World, page: Page) -> Component:
    return states.no_outlook(world.redis_address, engine=_engine_is_up(world))


def _alone(world: World, page: Page) -> Component:
    return states.alone([c.name for c in world.snapshot.clusters], world.redis_address)


def _then(world: World, place: Place, library: Library) -> World:
    """With what every planner would have done at that moment."""
    assert world.run is not None
    found = library.helper.ask(ANSWER_S, child.outlook_of, world.run.info.id, world.at)
    return replace(world, outlook=found)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.dialog)
    ring_actions.register(app, site.hub, site.dialog)


PAGE = PageKind(
    kind="balance",
    addresses=(BALANCE,),
    title="Balance",
    of=page_of,
    then=_then,
    whole_then=True,
    register=_register,
)
