"""The places of the three correlation matrices; `assets/pages/balance/matrices.js` draws into them."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.world import World
from weir.components.pages.balance.matrices import HELP, KEYS, TITLES, cells
from weir.components.ui.figure import Figures
from weir.components.ui.parts import card, live

ROW_PX = 36
AXIS_PX = 76
MOST_PX = 620


def matrices_card(world: World, figures: Figures) -> Component:
    """All three, with what the colours mean."""
    scale = html.Div(
        [
            html.Span("one rises when the other falls"),
            html.Span("−1"),
            html.I(className="matrix-scale", **{"aria-hidden": "true"}),
            html.Span("+1"),
            html.Span("they rise and fall together"),
        ],
        className="matrix-legend",
    )
    return card(
        html.Div([_matrix(world, key) for key in KEYS], className="matrices"),
        title="Which loads rise and fall together",
        right=html.Div([live(figures, "balance/periods", "quiet"), scale], className="card-title"),
    )


def _matrix(world: World, key: str) -> Component:
    height = min(max(cells(world, key), 2) * ROW_PX + AXIS_PX, MOST_PX)
    return html.Figure(
        [
            html.Figcaption(
                [
                    html.Span(TITLES[key], className="tile-title"),
                    html.Span(HELP[key], className="matrix-help"),
                ]
            ),
            html.Div(
                className="matrix",
                style={"height": f"{height}px"},
                tabIndex=0,
                role="img",
                **{
                    "data-matrix": key,
                    "aria-label": f"Correlation of load, {TITLES[key].lower()}; "
                    "the arrow keys read one cell after the other",
                },
            ),
        ],
        className="tile",
    )
