"""The runs that were recorded and imported."""

import time

from dash import Dash
from fastapi import FastAPI

from weir.components.pages.base import Drawn, PageKind, Site, Visit, recorded_page
from weir.components.pages.history import actions, upload
from weir.components.pages.history.render import render
from weir.components.pages.history.view import Query, listing
from weir.components.ui.path import HISTORY
from weir.controllers.model.errors import NotFound


def _visit(visit: Visit) -> Drawn:
    if visit.path.strip("/") not in ("history", "replay"):
        raise NotFound(f"{visit.path} leads nowhere.")
    return {}, render(listing(visit.site.library.runs(), Query(), time.time()))


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.library, site.dialog)


def _routes(server: FastAPI, site: Site) -> None:
    upload.register(server, site.library)


PAGE = PageKind(
    kind="history",
    addresses=(HISTORY, "/replay", f"{HISTORY}/*"),
    title="History",
    of=recorded_page,
    offline=True,
    visit=_visit,
    register=_register,
    routes=_routes,
)
