"""The row of key figures at the top of the control room."""

from dash import html
from dash.development.base_component import Component

from weir.components.ui.figure import Figures
from weir.components.ui.parts import live


def key_figures(figures: Figures, target_latency_s: float) -> Component:
    """Seven figures over all clusters."""
    return html.Section(
        [
            _figure("Clusters", live(figures, "all/clusters"), "reporting"),
            _figure("Operators", live(figures, "all/operators"), "running"),
            _figure("Arriving", live(figures, "all/arriving"), "rows/s from outside"),
            _figure("Load", live(figures, "all/load"), live(figures, "all/load-where")),
            _figure(
                "Latency", live(figures, "all/latency"), f"slowest, target {target_latency_s:g} s"
            ),
            _figure("Queue", live(figures, "all/queue"), "rows waiting"),
            _figure(
                "Executors", live(figures, "all/executors"), live(figures, "all/executors-most")
            ),
        ],
        className="figures",
        **{"aria-label": "Key figures"},
    )


def _figure(title: str, value: Component, below: Component | str) -> Component:
    return html.Div(
        [
            html.Div(title, className="figure-title"),
            html.Div(value, className="figure-value"),
            html.Div(below, className="figure-below"),
        ],
        className="figure",
    )
