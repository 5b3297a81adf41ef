"""The papers' experiments: what was published, and what comes out here."""

from dash import Dash

from weir.components.pages.base import Drawn, PageKind, Site, Visit, recorded_page
from weir.components.pages.lab import actions
from weir.components.pages.lab.render import render_list, render_one
from weir.components.ui.path import LAB
from weir.metrics.lab.catalogue import experiment
from weir.metrics.lab.lab import Lab


def _visit(visit: Visit) -> Drawn:
    lab = Lab(visit.site.library.root)
    name = visit.place.name
    return {}, render_one(experiment(name), lab) if name else render_list(lab)


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.hub, Lab(site.library.root))


PAGE = PageKind(
    kind="lab",
    addresses=(LAB, f"{LAB}/{{name}}"),
    title="Lab",
    of=recorded_page,
    offline=True,
    visit=_visit,
    register=_register,
)
