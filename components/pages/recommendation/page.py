"""One recommendation, however old."""

from typing import Any

from dash import Dash

from weir.components.live import figures as live
from weir.components.live import markers
from weir.components.live.page import WINDOW_S, Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.balance.view import distance_now
from weir.components.pages.base import PageKind, Site
from weir.components.pages.recommendation import actions, view
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.pages.recommendation.fetch import fetch
from weir.components.pages.recommendation.render import render
from weir.components.pages.recommendation.render_body import recommendation_body
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.view import with_recommendation
from weir.components.ui.figure import Figures
from weir.components.ui.path import Place


def page_of(world: World, place: Place, drawn: str) -> Page:
    """Drawn again with every step of its life; one that only Redis knows stays as it is."""
    found = world.control.recommendation(place.name)
    held = any(r.id == place.name for r in world.control.recommendations)
    if found is None:
        return make_page(place, "recommendation", render, held, [], panels=PANELS)
    first, last = view.span(found)
    figures: Figures = distance_now(world)
    for name in found.clusters:
        if cluster := world.snapshot.cluster(name):
            figures |= live.cluster_figures(world, cluster)
    return make_page(
        place,
        "recommendation",
        render,
        held,
        [found.status] if held else [],
        panels=PANELS,
        clusters=found.clusters if world.at - first < WINDOW_S else (),
        charts=tuple(view.charts(world, found)),
        figures=figures,
        drawings={"events": markers.events(world, found.clusters)},
        span=(first, last),
    )


def _detail(world: World, place: Place) -> Any:
    known = world.control.recommendation(place.name)
    return view.detail(world, known) if known else None


PANELS = {recommendation_ids.RECOMMENDATION: Panel(_detail, recommendation_body)}


def _then(world: World, place: Place, library: Library) -> World:
    """With the recommendation and the series around it."""
    assert world.run is not None
    return with_recommendation(world, world.run, place.name)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.dialog)


PAGE = PageKind(
    kind="recommendation",
    addresses=("/recommendation/{name}",),
    of=page_of,
    fetch=fetch,
    then=_then,
    register=_register,
)
