"""The settings: every group, generated from where it is declared."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.live.world import World
from weir.components.pages.base import Page
from weir.components.pages.settings.render import scopes
from weir.components.ui import ids
from weir.components.ui.states import loading


def render(world: World, page: Page) -> Component:
    """The frame; the values come by a callback, so that what is typed is never drawn over."""
    clusters = [c.name for c in world.snapshot.clusters]
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H1("Settings"),
                            html.Span(page.place.name or "for all clusters", className="tag"),
                        ],
                        className="card-title",
                    ),
                    dmc.TextInput(
                        id=ids.SETTINGS_SEARCH,
                        placeholder="Search all settings",
                        debounce=250,
                        **{"aria-label": "Search all settings"},
                    ),
                ],
                className="page-head",
            ),
            html.Div(id=ids.SETTINGS_HITS, role="status"),
            html.Div(
                [
                    scopes(clusters, page.place.name),
                    html.Div(
                        [
                            dcc.Store(id=ids.SETTINGS_SCOPE, data=page.place.name),
                            html.Div(loading(), id=ids.SETTINGS_BODY),
                        ]
                    ),
                ],
                className="settings",
            ),
        ],
        className="stack",
    )
