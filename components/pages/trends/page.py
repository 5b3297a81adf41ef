"""Trends: a figure of several clusters over a range of one's choice."""

from weir.components.pages.base import Drawn, PageKind, Visit, recorded
from weir.components.pages.trends.render import render
from weir.components.pages.trends.view import asked_of, trend
from weir.components.ui.path import TRENDS


def _visit(visit: Visit) -> Drawn:
    store, now = visit.site.hub.store, visit.live.at
    known = [cluster.name for cluster in visit.live.snapshot.clusters]
    asked = asked_of(visit.path, known, now)
    past = visit.site.library.past
    return {}, render(trend(asked, known, store.briefs, now, visit.live.target_latency_s, past))


PAGE = PageKind(
    kind="trends", addresses=(TRENDS, f"{TRENDS}/*"), title="Trends", of=recorded, visit=_visit
)
