"""Two runs side by side."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.compare.view import Comparison
from weir.components.pages.history.render_plots import plot_legend, plot_tiles
from weir.components.ui.parts import card, stamp
from weir.components.ui.path import replay_path
from weir.metrics.runs.library import RunInfo


def render(found: Comparison) -> Component:
    """Figures, then the series from the start of each run."""
    head = html.Tr(
        [
            html.Th("", scope="col"),
            html.Th(_who("First", found.a), scope="col"),
            html.Th(_who("Second", found.b), scope="col"),
            html.Th("Change", scope="col"),
        ]
    )
    body = [
        html.Tr(
            [
                html.Th(r.label, scope="row"),
                html.Td(r.a, **{"data-label": "First"}),
                html.Td(r.b, **{"data-label": "Second"}),
                html.Td(
                    r.change, className="live", **{"data-label": "Change", "data-state": r.state}
                ),
            ]
        )
        for r in found.rows
    ]
    return html.Div(
        [
            html.Div(
                [
                    html.Nav(
                        [dcc.Link("History", href="/history"), html.Span("Compare")],
                        className="crumbs",
                        **{"aria-label": "Where you are"},
                    ),
                    html.H1("Two runs side by side"),
                ],
                className="page-head",
            ),
            card(
                html.Div(
                    html.Table([html.Thead(head), html.Tbody(body)], className="table compared"),
                    className="table-box",
                )
            ),
            card(
                plot_legend(found.plots),
                plot_tiles(found.plots),
                title="From the start of each run",
            ),
        ],
        className="stack",
    )


def _who(word: str, run: RunInfo) -> list[Component | str]:
    return [
        f"{word}: ",
        dcc.Link(run.name, href=replay_path(run.id)),
        html.Div([run.id, " · ", stamp(run.first_at)], className="run-id"),
    ]
