"""The settings: every group, generated from where it is declared."""

from dash import Dash

from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site
from weir.components.pages.settings import actions, ids, render_then
from weir.components.pages.settings.render import render
from weir.components.pages.settings.then import SectionsThen, sections_then
from weir.components.ui.path import SETTINGS, Place


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The settings of the present come by callbacks, the recorded ones as a panel."""
    names = [c.name for c in world.snapshot.clusters]
    if world.run is not None:
        return make_page(place, "settings", render_then.render, names, panels=THEN)
    return make_page(place, "settings", render, names)


def _sections(world: World, place: Place) -> SectionsThen:
    assert world.run is not None
    return sections_then(world.run, world.at, place.name)


THEN = {ids.THEN: Panel(_sections, render_then.panel)}


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub)


PAGE = PageKind(
    kind="settings",
    addresses=(SETTINGS, f"{SETTINGS}/{{name}}"),
    title="Settings",
    of=page_of,
    register=_register,
)
