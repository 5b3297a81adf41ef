"""The control room: everything at a glance."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.control_room import ids as control_room_ids
from weir.components.pages.control_room.render_cluster import cluster_card
from weir.components.pages.control_room.render_figures import key_figures
from weir.components.pages.control_room.render_map import map_card
from weir.components.pages.control_room.render_overview import overview_card
from weir.components.pages.control_room.render_tour import tour_card
from weir.components.pages.control_room.render_workload import workload_card
from weir.components.ui import ids
from weir.components.ui.parts import card, region


def render(world: World, page: Page) -> Component:
    """The answer, key figures, clusters; then the inbox, the workload, the map and commands."""
    snapshot = world.snapshot
    names: tuple[str, ...] = page.own
    large = page.large
    cards = [
        cluster_card(
            cluster,
            snapshot.operators_of(name),
            [c for c in page.charts if c.cluster == name],
            page.figures,
            listed=not large,
        )
        for name in names
        if (cluster := snapshot.cluster(name))
    ]
    return html.Div(
        [
            html.H1("Control room", className="visually-hidden"),
            card(
                region(control_room_ids.ANSWER),
                className="answer",
                **{"aria-label": "Is all well?"},
            ),
            tour_card(world.workloads),
            key_figures(page.figures, world.target_latency_s),
            overview_card(snapshot, len(names), page.figures) if large else None,
            *cards,
            card(
                region(control_room_ids.INBOX),
                title="Inbox",
                className="inbox",
            ),
            workload_card(
                world.workloads,
                page.figures,
                world.parts,
                comment_required=world.control.settings.comment_required,
            ),
            map_card(snapshot),
            card(region(ids.COMMANDS), title="Recent commands"),
        ],
        className="stack",
    )
