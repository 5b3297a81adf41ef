"""The pages at a moment of a recorded run."""

from dash import html
from fastapi import FastAPI

from weir.components.pages.base import Drawn, PageKind, Site, Visit, recorded_page
from weir.components.pages.replay import api
from weir.components.pages.replay import ids as replay_ids
from weir.components.pages.replay.moments import first
from weir.components.pages.replay.view import moment_of, past_of
from weir.controllers.model.errors import NotFound


def visit(asked: Visit) -> Drawn:
    """A page of the present, drawn from the past."""
    past, site = past_of(asked.path), asked.site
    if past is None:
        raise NotFound(f"{asked.path} leads nowhere.")
    search = asked.search if asked.at_ms is None else f"?at={asked.at_ms}"
    at, wrong = moment_of(search, site.library.run(past.run))
    data, content = first(site.pages, site.library, past, at, asked.live.target_latency_s)
    advice = html.Div(id=replay_ids.REPLAY_ADVICE, className="replay-advice")
    said = html.P(wrong, className="replay-wrong", role="alert") if wrong else None
    return data, html.Div([said, content, advice], className="stack")


def _routes(server: FastAPI, site: Site) -> None:
    api.register(server, site.pages, site.library, site.target_latency_s)


PAGE = PageKind(
    kind="replay",
    addresses=("/replay/*",),
    of=recorded_page,
    offline=True,
    visit=visit,
    routes=_routes,
)
