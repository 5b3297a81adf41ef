"""The control room: everything at a glance."""

from dash import html
from dash.development.base_component import Component

from components import ids
from components.cards.cluster import cluster_card
from components.cards.commands import commands_list
from components.cards.figures import key_figures
from components.cards.parts import card
from components.cards.workload import workload_card
from components.pages.base import Page
from components.view.map import flow_order
from components.view.world import World


def render(world: World, page: Page) -> Component:
    """Key figures, workload, clusters, map, commands."""
    snapshot = world.snapshot
    cards = [
        cluster_card(
            cluster,
            snapshot.operators_of(cluster.name),
            [c for c in page.charts if c.cluster == cluster.name],
            page.figures,
        )
        for name in flow_order(snapshot)
        if (cluster := snapshot.cluster(name))
    ]
    return html.Div(
        [
            html.H1("Control room", className="visually-hidden"),
            key_figures(page.figures, world.target_latency_s),
            workload_card(world.workloads, page.figures),
            *cards,
            html.Div(
                [
                    card(
                        html.Div(className="map", **{"data-map": "flow"}),
                        title="Operators on clusters",
                        className="map-card",
                    ),
                    card(
                        html.Div(commands_list(page.regions(world)[ids.COMMANDS]), id=ids.COMMANDS),
                        title="Recent commands",
                    ),
                ],
                className="split",
            ),
        ],
        className="stack",
    )
