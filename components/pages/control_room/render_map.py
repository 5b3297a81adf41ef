"""The map of operators on clusters; `assets/pages/control_room/map/` draws it."""

import dash_cytoscape as cyto
from dash import html
from dash.development.base_component import Component

from weir.components.pages.control_room import ids as control_room_ids
from weir.components.pages.control_room.map import MOST_CLUSTERS, MOST_OPERATORS, drawable
from weir.components.ui.buttons import ask_button
from weir.components.ui.parts import card
from weir.components.ui.text import plural
from weir.components.web.security import Role
from weir.controllers.model.snapshot import Snapshot


def map_card(snapshot: Snapshot) -> Component:
    """The map, or why there is none."""
    shown = _map() if drawable(snapshot) else _elsewhere(snapshot)
    add = ask_button("add", "", role=Role.ADMIN) if _hosting(snapshot) else None
    return card(*shown, title="Operators on clusters", right=add, className="map-card")


def _hosting(snapshot: Snapshot) -> bool:
    """Some cluster is a host: then a launcher can add one more."""
    return any(c.hosted for c in snapshot.clusters)


def _map() -> list[Component]:
    """An empty graph, what stands over it for the keyboard, and below it the same in words."""
    graph = cyto.Cytoscape(
        id=control_room_ids.GRAPH,
        elements=[],
        stylesheet=[],
        layout={"name": "preset"},
        autoRefreshLayout=False,
        boxSelectionEnabled=False,
        userZoomingEnabled=False,
        style={"width": "100%", "height": "100%"},
    )
    return [
        html.Div([graph, html.Div(**{"data-map": "flow"})], className="map-stage"),
        html.Div(
            [
                html.Span([html.Span(className=f"map-key map-key-{share}"), share])
                for share in ("busy", "waiting", "idle")
            ]
            + [
                html.Span("shares of the cluster's cores", className="quiet"),
                html.Span(className="map-tools"),
            ],
            className="map-legend",
        ),
        html.Details(
            [
                html.Summary("Flows as a list"),
                html.Ul(**{"data-map-flows": "list"}, className="map-flows-list"),
            ],
            className="map-flows",
        ),
    ]


def _elsewhere(snapshot: Snapshot) -> list[Component]:
    """Said in place of a map that nobody could read."""
    return [
        html.P(
            f"The map shows up to {MOST_CLUSTERS} clusters and {MOST_OPERATORS} operators; now there "
            f"are {plural(len(snapshot.clusters), 'cluster')} and "
            f"{plural(len(snapshot.operators), 'operator')}. Each operator's page says what it reads "
            "and writes.",
            className="quiet",
        )
    ]
