"""What a run would have been under another policy."""

from dash import Dash

from weir.components.pages.base import Drawn, PageKind, Site, Visit, recorded_page
from weir.components.pages.what_if import actions
from weir.components.pages.what_if.choices import choices_in
from weir.components.pages.what_if.render import render


def _visit(visit: Visit) -> Drawn:
    info = visit.site.library.run(visit.place.name).info
    return {}, render(info, visit.live.target_latency_s, choices_in(visit.search))


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.library)


PAGE = PageKind(
    kind="what_if",
    addresses=("/history/{name}/what-if",),
    of=recorded_page,
    offline=True,
    visit=_visit,
    register=_register,
)
