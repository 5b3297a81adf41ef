"""Places of the plots; `assets/pages/history/plots.js` draws into them."""

import json
from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from weir.components.pages.history.plots import plot_words
from weir.components.ui.parts import large_button


def plot_legend(plots: Sequence[dict[str, Any]]) -> Component:
    """What the lines of all plots are, once."""
    return html.Div(
        [
            html.Span(
                [
                    html.I(
                        className=f"key{' dashed' if line['dashed'] else ''}",
                        style={"--key": f"var(--{line['colour']})"},
                    ),
                    line["name"],
                ]
            )
            for line in (plots[0].get("lines", []) if plots else [])
        ],
        className="legend plot-legend",
    )


def plot_tiles(plots: Sequence[dict[str, Any]], *, tall: bool = False) -> Component:
    """One tile per plot."""
    return html.Div(
        [
            html.Figure(
                [
                    html.Figcaption(
                        [
                            html.Span(
                                plot["title"] + (f", {plot['unit']}" if plot.get("unit") else ""),
                                className="tile-title",
                            ),
                            large_button(plot["key"], plot["title"]),
                        ]
                    ),
                    html.Div(
                        className="hplot",
                        role="group",
                        **{
                            "data-plot": plot["key"],
                            "data-model": json.dumps(plot, separators=(",", ":")),
                            "aria-label": plot_words(plot),
                        },
                    ),
                ],
                className="tile tile-tall" if tall else "tile",
            )
            for plot in plots
        ],
        className="tiles tiles-2",
    )
