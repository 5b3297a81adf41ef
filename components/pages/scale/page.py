"""The scaling of one cluster, or the choice of one."""

from dash import Dash

from weir.components.live import commands, markers
from weir.components.live.commands_list import commands_list
from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site, empty, unknown
from weir.components.pages.replay import child
from weir.components.pages.replay.library import ANSWER_S, Library
from weir.components.pages.replay.view import with_shadows
from weir.components.pages.scale import actions, chart, qtable, qtable_actions, view
from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.note import note
from weir.components.pages.scale.reader import ScaleReader
from weir.components.pages.scale.render import render, render_choice
from weir.components.pages.scale.render_answers import scale_note, served_line
from weir.components.pages.scale.render_qtable import learner_box
from weir.components.pages.scale.served import served
from weir.components.ui import ids
from weir.components.ui.figure import Figure, Figures
from weir.components.ui.path import SCALE, Place

COURSES_MOST = 6
"""Of more clusters the choice has no charts."""

PANELS = {
    scale_ids.SCALE_NOTE: Panel(lambda world, place: note(world, place.name), scale_note),
    scale_ids.SERVED: Panel(lambda world, place: served(world, place.name), served_line),
    ids.COMMANDS: Panel(
        lambda world, place: commands.rows(world, cluster=place.name), commands_list
    ),
    scale_ids.LEARNER: Panel(
        lambda world, place: qtable.learner_text(qtable.learner(world, place.name)), learner_box
    ),
}


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The cluster of that name, or all of them where none is named."""
    snapshot = world.snapshot
    cluster = snapshot.cluster(place.name)
    if cluster is None and place.name:
        return unknown(world, place)
    if not snapshot.clusters:
        return empty(world, place)
    names = [c.name for c in snapshot.clusters]
    if cluster is None:
        return _choice(world, place, names)
    outlook, learner = view.outlook_of(world, place.name), qtable.learner(world, place.name)
    figures = view.figures(world, cluster)
    fitted = chart.fitted_text(world.memories.get(place.name, {}).get("drs"))
    figures[f"scale/{place.name}/error"] = Figure(f"{chart.error_text(outlook)} {fitted}".rstrip())
    return make_page(
        place,
        "scale",
        render,
        names,
        [cluster.can_scale, cluster.min_executors, cluster.max_executors],
        [learner.space.bins, world.control.settings.comment_required],
        panels=PANELS,
        clusters=(place.name,),
        charts=(chart.steps_chart(place.name, world.target_latency_s),),
        figures=figures,
        drawings={
            "scale": {
                "qtable": qtable.heatmap(learner),
                "curve": qtable.curve(learner),
                "sojourn": chart.sojourn(outlook),
            },
            "events": markers.events(world, (place.name,)),
        },
    )


def _choice(world: World, place: Place, names: list[str]) -> Page:
    """All clusters; of as many as fit beside each other also how it has gone, and why."""
    figures: Figures = {view.SUMMARY: view.summary(world)}
    for cluster in world.snapshot.clusters:
        figures |= view.brief(world, cluster)
    shown = world.snapshot.clusters if len(names) <= COURSES_MOST else ()
    for cluster in shown:
        figures |= view.course(world, cluster)
    return make_page(
        place,
        "scale_choice",
        render_choice,
        names,
        clusters=tuple(c.name for c in shown),
        charts=tuple(chart.steps_chart(c.name, world.target_latency_s) for c in shown),
        figures=figures,
        drawings={"events": markers.events(world, [c.name for c in shown])} if shown else {},
    )


def _then(world: World, place: Place, library: Library) -> World:
    """With what every scaler would have said at that moment."""
    assert world.run is not None
    names = [place.name] if place.name in world.series else list(world.series)
    ask = library.helper.ask
    found = ask(ANSWER_S, child.shadows_of, world.run.info.id, names, world.at)
    return with_shadows(world, found)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.dialog)
    qtable_actions.register(app, site.hub, site.dialog)


PAGE = PageKind(
    kind="scale",
    addresses=(SCALE, f"{SCALE}/{{name}}"),
    title="Scale",
    of=page_of,
    reads=ScaleReader,
    then=_then,
    slow_then=True,
    whole_then=True,
    register=_register,
)
