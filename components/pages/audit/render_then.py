"""The audit trail in a replay: the recorded one. It only shows, so no callback belongs to it."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.audit import ids as own
from weir.components.pages.audit.render import entries_list
from weir.components.pages.audit.then import TrailThen
from weir.components.pages.audit.view import TrailPage
from weir.components.ui.parts import card, region


def render(world: World, page: Page) -> Component:
    """The frame; the entries of each moment come as a panel."""
    del world, page
    return html.Div(
        [
            html.Div(html.Div(html.H1("Audit"), className="card-title"), className="page-head"),
            card(region(own.THEN, "audit-list"), title="Entries"),
        ],
        className="stack",
    )


def panel(trail: TrailThen) -> Component:
    """The entries of one moment."""
    shown = (
        entries_list(TrailPage(entries=trail.entries), filtered=False) if trail.entries else None
    )
    return html.Div([html.P(trail.note, className="quiet"), shown])
