"""The audit trail in a replay: the recorded one. It only shows, so no callback belongs to it."""

from dash import html
from dash.development.base_component import Component

from weir.components.pages.audit.render import entries_list
from weir.components.pages.audit.view import Found
from weir.components.pages.history import ids as own
from weir.components.pages.replay.audit import TrailThen
from weir.components.ui.parts import card, region


def render() -> Component:
    """The frame; the entries of each moment come as a panel."""
    return html.Div(
        [
            html.Div(html.Div(html.H1("Audit"), className="card-title"), className="page-head"),
            card(region(own.REPLAY_AUDIT, "audit-list"), title="Entries"),
        ],
        className="stack",
    )


def panel(trail: TrailThen) -> Component:
    """The entries of one moment."""
    shown = entries_list(Found(entries=trail.entries), filtered=False) if trail.entries else None
    return html.Div([html.P(trail.note, className="quiet"), shown])
