"""Signing in: pages and routes of their own, without Dash."""

from fastapi import FastAPI

from weir.components.pages.base import PageKind, Site
from weir.components.pages.sign_in import routes


def _routes(server: FastAPI, site: Site) -> None:
    routes.register(server, site.people, site.gate)


PAGE = PageKind(kind="sign_in", routes=_routes)
