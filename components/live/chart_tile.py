"""The place of one chart; `assets/live/chart.js` draws into it."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.charts import Chart
from weir.components.ui.figure import Figures
from weir.components.ui.parts import live, still


def chart_tile(chart: Chart, figures: Figures, figure: str, *, tall: bool = False) -> Component:
    """Title, present value, legend and the plot."""
    legend = [
        html.Span(
            [html.I(className=f"key key-{t.style}{' dashed' if t.dashed else ''}",
                    style={"--key": f"var(--{t.colour})"}), t.name]
        )
        for t in chart.traces
    ]  # fmt: skip
    whose = "" if chart.cluster.startswith("/") else f", {chart.cluster}"
    parts = [
        html.Figcaption(
            [
                html.Span(chart.title, className="tile-title", title=chart.help),
                live(figures, figure, "tile-value") if figure in figures else None,
            ]
        ),
        html.Div(legend, className="legend"),
        html.Div(
            className="plot",
            tabIndex=0,
            role="img",
            **{"data-chart": chart.key, "aria-label": f"{chart.title}{whose}"},
        ),
    ]
    return html.Figure(className="tile tile-tall" if tall else "tile", **still(parts))
