"""The control room: every cluster, or those of many that need attention most."""

from collections.abc import Sequence

from dash import Dash
from msgspec.structs import replace

from weir.components.live import commands, markers
from weir.components.live import figures as live
from weir.components.live.charts import Chart, charts_of
from weir.components.live.commands_list import commands_list
from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site, empty
from weir.components.pages.cluster.view import cluster_facts
from weir.components.pages.control_room import actions, attention, inbox
from weir.components.pages.control_room import ids as control_room_ids
from weir.components.pages.control_room.answer import answer
from weir.components.pages.control_room.map import (
    drawable,
    flow_map,
    flow_order,
    map_changes,
)
from weir.components.pages.control_room.modes import mode_figures
from weir.components.pages.control_room.render import render
from weir.components.pages.control_room.render_answer import answer_body
from weir.components.pages.control_room.render_inbox import inbox_body
from weir.components.pages.control_room.render_workload import applications
from weir.components.ui import ids
from weir.components.ui.figure import Figures
from weir.components.ui.path import CONTROL_ROOM, Place
from weir.controllers.model.words import by_number

PANELS = {
    control_room_ids.ANSWER: Panel(lambda world, _: answer(world), answer_body),
    control_room_ids.INBOX: Panel(lambda world, _: inbox.inbox(world), inbox_body),
    ids.COMMANDS: Panel(lambda world, _: commands.rows(world), commands_list),
}


def page_of(world: World, place: Place, drawn: str) -> Page:
    """All of it, as much as a browser can draw."""
    if not world.snapshot.clusters:
        return empty(world, place)
    if attention.large(world.snapshot):
        return _large(world, place, drawn)
    return _whole(world, place)


def _whole(world: World, place: Place) -> Page:
    """Everything: each cluster with its operators, and the map."""
    snapshot = world.snapshot
    names = tuple(flow_order(snapshot))
    figures, charts = _cards(world, names)
    for operator in snapshot.operators:
        figures |= live.operator_brief(world, operator)
    figures |= inbox.present(world)
    return make_page(
        place,
        "control_room",
        render,
        [cluster_facts(c) for c in snapshot.clusters],
        [(o.name, o.cluster) for o in snapshot.operators],
        [(w.name, w.paused, world.control.settings.comment_required) for w in world.workloads],
        sorted(applications(world.parts), key=by_number),
        panels=PANELS,
        clusters=tuple(c.name for c in snapshot.clusters),
        own=names,
        charts=charts,
        figures=figures,
        drawings={"map": flow_map(world), "events": markers.events(world, names)},
        changes={"map": map_changes},
    )


def _large(world: World, place: Place, drawn: str) -> Page:
    """Of many clusters: a tile of each, and in full those that need attention most.

    What it costs a browser must not grow with the number of clusters: every component is
    looked at with every message.
    """
    snapshot = world.snapshot
    found = attention.attention(world)
    shown = attention.read_shown(drawn, snapshot) or attention.choose_shown(found)
    figures, charts = _cards(world, shown)
    figures |= attention.tile_figures(world) | attention.attention_figures(found, shown)
    figures |= inbox.present(world)
    page = make_page(
        place,
        "control_room",
        render,
        [c.name for c in snapshot.clusters],
        [cluster_facts(c) for name in shown if (c := snapshot.cluster(name))],
        [(name, len(snapshot.operators_of(name))) for name in shown],
        [(w.name, w.paused, world.control.settings.comment_required) for w in world.workloads],
        sorted(applications(world.parts), key=by_number),
        panels=PANELS,
        clusters=tuple(c.name for c in snapshot.clusters),
        own=shown,
        charts=charts,
        figures=figures,
        drawings={
            "events": markers.events(world, shown),
            **({"map": flow_map(world)} if drawable(snapshot) else {}),
        },
        changes={"map": map_changes},
        first={"overview": attention.tiles(world)},
        large=True,
    )
    return replace(page, structure=attention.mark_shown(page.structure, snapshot, shown))


def _cards(world: World, names: Sequence[str]) -> tuple[Figures, tuple[Chart, ...]]:
    """Figures and charts of some clusters, with the figures over everything."""
    figures, charts = dict(live.overview(world)), list[Chart]()
    for name in names:
        if cluster := world.snapshot.cluster(name):
            figures |= live.cluster_figures(world, cluster)
            charts += charts_of(world, name)
    for workload in world.workloads:
        figures |= live.workload_figures(workload)
    return figures | mode_figures(world, names), tuple(charts)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub)


PAGE = PageKind(
    kind="control_room",
    addresses=(CONTROL_ROOM,),
    title="Control room",
    of=page_of,
    register=_register,
)
