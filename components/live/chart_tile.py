"""The place of one chart; `assets/live/chart.js` draws into it."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.charts import Chart
from weir.components.ui.figure import Figures
from weir.components.ui.parts import Child, large_button, live, still
from weir.components.ui.path import trends_path
from weir.components.ui.surface import on_the_present, page_link


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
                html.Span(_title(chart), className="tile-title", title=chart.help),
                live(figures, figure, "tile-value") if figure in figures else None,
                large_button(chart.key, f"{chart.title}{whose}"),
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


def _title(chart: Chart) -> Child:
    """What it shows; of the present, the way to longer ranges and to other clusters beside it."""
    if not chart.trend or not on_the_present():
        return chart.title
    return page_link(chart.title, trends_path(chart.trend, chart.cluster))
