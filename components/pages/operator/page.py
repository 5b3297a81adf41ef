"""One operator, wherever it runs."""

from weir.components.live import commands, markers
from weir.components.live import figures as live
from weir.components.live.charts import operator_charts
from weir.components.live.commands_list import commands_list
from weir.components.live.page import Page, Panel, make_page
from weir.components.live.world import World, samples_of_operator
from weir.components.pages.base import PageKind, unknown
from weir.components.pages.operator.render import render
from weir.components.pages.operator.slices import render_sliced, slices_figures, slices_of
from weir.components.ui import ids
from weir.components.ui.path import Place

PANELS = {
    ids.COMMANDS: Panel(
        lambda world, place: commands.rows(world, operator=place.name), commands_list
    ),
}


def page_of(world: World, place: Place, drawn: str) -> Page:
    """The operator, if somebody reports it."""
    operator = world.snapshot.operator(place.name)
    slices = slices_of(world, operator.slice_of if operator else place.name)
    shares = [(o.name, o.cluster, o.key_groups) for o in slices]
    if operator is None and slices:
        clusters = tuple(dict.fromkeys(o.cluster for o in slices))
        figures = slices_figures(world, slices)
        return make_page(place, "sliced", render_sliced, shares, clusters=clusters, figures=figures)
    if operator is None:
        return unknown(world, place)
    return make_page(
        place,
        "operator",
        render,
        operator.cluster,
        operator.stateful,
        operator.reads,
        operator.writes,
        operator.unsliced,
        shares,
        panels=PANELS,
        clusters=(operator.cluster,),
        charts=tuple(
            operator_charts(
                place.name, operator.cluster, world.target_latency_s, stateful=operator.stateful
            )
        ),
        samples=lambda world: samples_of_operator(world, place.name),
        figures=slices_figures(world, slices) | live.operator_figures(world, operator),
        drawings={"events": markers.events(world, [operator.cluster], place.name)},
    )


PAGE = PageKind(kind="operator", addresses=("/operator/{name}",), of=page_of)
