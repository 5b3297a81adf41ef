"""Settings of a scaler that would have done best on a run."""

from dash import Dash

from weir.components.pages.base import Drawn, PageKind, Site, Visit, recorded_page
from weir.components.pages.tune import actions
from weir.components.pages.tune.render import render
from weir.metrics.runs.tuning import Tunings


def _visit(visit: Visit) -> Drawn:
    library = visit.site.library
    info = library.run(visit.place.name).info
    found = actions.newest(Tunings(library.root), info.id)
    return {}, render(info, visit.live.target_latency_s, *found)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, site.library)


PAGE = PageKind(
    kind="tune",
    addresses=("/history/{name}/tune",),
    of=recorded_page,
    offline=True,
    visit=_visit,
    register=_register,
)
