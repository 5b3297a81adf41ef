"""One cluster, with its operators, its executors and what was asked of it."""

from collections.abc import Sequence

from dash import Dash

from weir.components.live import commands, markers
from weir.components.live import figures as live
from weir.components.live.charts import cluster_page_charts
from weir.components.live.commands_list import commands_list
from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site, unknown
from weir.components.pages.cluster import actions
from weir.components.pages.cluster import ids as cluster_ids
from weir.components.pages.cluster.render import render
from weir.components.pages.cluster.render_executors import executors_table
from weir.components.pages.cluster.shares import SharesReader, shares_table, shares_view
from weir.components.pages.cluster.view import cluster_facts
from weir.components.pages.control_room.modes import mode_figures
from weir.components.ui import ids
from weir.components.ui.path import Place
from weir.controllers.model.sample import Executor


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The cluster, if somebody reports it."""
    cluster = world.snapshot.cluster(place.name)
    if cluster is None:
        return unknown(world, place)
    operators = world.snapshot.operators_of(place.name)
    figures = live.cluster_figures(world, cluster)
    for operator in operators:
        figures |= live.operator_brief(world, operator)
    names = [o.name for o in operators]
    return make_page(
        place,
        "cluster",
        render,
        cluster_facts(cluster),
        names,
        panels=PANELS,
        clusters=(place.name,),
        charts=tuple(cluster_page_charts(place.name, names, world.target_latency_s)),
        figures=figures | mode_figures(world, names=[place.name]),
        drawings={"events": markers.events(world, [place.name])},
    )


def _executors(world: World, place: Place) -> Sequence[Executor]:
    sample = world.newest(place.name)
    return sample.executors if sample else ()


PANELS = {
    ids.COMMANDS: Panel(
        lambda world, place: commands.rows(world, cluster=place.name), commands_list
    ),
    cluster_ids.EXECUTORS: Panel(_executors, executors_table),
    cluster_ids.SHARES: Panel(lambda world, place: shares_view(world, place.name), shares_table),
}


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.dialog)


PAGE = PageKind(
    kind="cluster",
    addresses=("/cluster/{name}",),
    of=page_of,
    reads=SharesReader,
    register=_register,
)
