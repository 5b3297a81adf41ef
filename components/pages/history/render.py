"""History: the runs that were recorded and imported."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.history import ids as own
from weir.components.pages.history.render_list import runs_table
from weir.components.pages.history.view import KINDS, Listing
from weir.components.ui.parts import card, icon


def render(found: Listing) -> Component:
    """Import, search, and the list."""
    return html.Div(
        [
            html.Div(
                html.Div(
                    [
                        html.H1("History"),
                        html.Span(
                            "Every live run is recorded; the event log of any Spark application can be imported.",
                            className="quiet",
                        ),
                    ],
                    className="card-title",
                ),
                className="page-head",
            ),
            _upload(),
            card(
                html.Div(
                    [
                        dmc.TextInput(
                            id=own.SEARCH,
                            placeholder="Search names, clusters, operators, days",
                            leftSection=icon("search"),
                            debounce=200,
                            className="runs-search",
                            **{"aria-label": "Search runs"},
                        ),
                        dmc.SegmentedControl(
                            id=own.KIND,
                            data=[{"value": value, "label": label} for value, label in KINDS],
                            value="all",
                        ),
                        dcc.Link(
                            "Compare two runs",
                            id=own.COMPARE,
                            href="/history",
                            className="button is-off",
                            title="Tick two runs in the list",
                        ),
                    ],
                    className="runs-tools",
                ),
                html.Div(runs_table(found), id=own.TABLE),
                dcc.Store(id=own.QUERY),
                dcc.Store(id=own.CHOSEN, data=[]),
                dcc.Store(id=own.IMPORTED),
            ),
        ],
        className="stack history",
    )


def _upload() -> Component:
    return html.Section(
        [
            html.Div(
                [
                    html.Strong("Import an event log"),
                    html.Span(
                        "Drop it here, or choose a file: plain, gz, zstd, lz4, snappy, or a zip of a "
                        "rolling folder; Spark 1.x to 4.x.",
                        className="quiet",
                    ),
                ],
                className="upload-words",
            ),
            html.Button("Choose a file", id="upload-choose", className="button", type="button"),
            html.Div(
                [
                    html.Div(html.Span(id="upload-bar"), className="bar progress"),
                    html.P(id="upload-text", role="status"),
                ],
                id="upload-state",
                hidden=True,
            ),
        ],
        id="upload",
        className="card log-upload",
        **{"data-needs": "approver", "aria-label": "Import an event log"},
    )
