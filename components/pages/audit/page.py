"""The audit trail: who did what, when, from where and why; looked through, checked, exported."""

from dash import Dash
from fastapi import FastAPI

from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.audit import actions, ids, render_then
from weir.components.pages.audit.render import render
from weir.components.pages.audit.then import TrailThen, trail_then
from weir.components.pages.base import PageKind, Site
from weir.components.ui.path import AUDIT, Place


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The trail of the present comes by callbacks, the recorded one as a panel."""
    names = [c.name for c in world.snapshot.clusters]
    if world.run is not None:
        return make_page(place, "audit", render_then.render, names, panels=THEN)
    return make_page(place, "audit", render, names)


def _trail(world: World, place: Place) -> TrailThen:
    assert world.run is not None
    return trail_then(world.run, world.at)


THEN = {ids.THEN: Panel(_trail, render_then.panel)}


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.anchor)


def _routes(server: FastAPI, site: Site) -> None:
    actions.routes(server, site.hub)


PAGE = PageKind(
    kind="audit",
    addresses=(AUDIT,),
    title="Audit",
    of=page_of,
    register=_register,
    routes=_routes,
)
