"""Mode of a cluster, and the switch that stops every automatic action."""

from dash import html
from dash.development.base_component import Component

from weir.components.ui import ids
from weir.components.ui.parts import icon, since
from weir.components.ui.text import who
from weir.controllers.service import Paused


def pause_box(paused: Paused | None) -> Component:
    """In the header of every page: running, or paused by whom, since when and why."""
    if paused is None:
        return html.Button(
            [icon("pause"), "Pause all"],
            id=ids.pause("pause"),
            className="button button-pause",
            type="button",
            title="Stop every automatic action at once",
            **{"data-needs": "approver"},
        )
    why = f": {paused.why}" if paused.why else ""
    return html.Div(
        [
            html.Span(
                [
                    icon("pause"),
                    html.Span(
                        [
                            html.Strong("Paused"),
                            html.Span(
                                [f" by {who(paused.by)} ", since(paused.at), f" ago{why}"],
                                className="paused-by",
                            ),
                        ]
                    ),
                ],
                className="paused-text",
                title=f"Paused by {who(paused.by)}{why}",
                role="status",
            ),
            html.Button(
                [icon("play"), "Resume"],
                id=ids.pause("resume"),
                className="button",
                type="button",
                **{"aria-label": "Resume automatic actions", "data-needs": "approver"},
            ),
        ],
        className="paused",
    )
