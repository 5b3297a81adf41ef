"""Trends: a figure of several clusters over a range of one's choice."""

from weir.components.pages.base import Drawn, PageKind, Visit, recorded_page
from weir.components.pages.trends.render import render
from weir.components.pages.trends.view import read_query, trend
from weir.components.ui.path import TRENDS
from weir.controllers.engine.ports import Tier
from weir.controllers.model.brief import Brief, brief_of
from weir.controllers.model.words import by_number


def _visit(visit: Visit) -> Drawn:
    store, live, now = visit.site.hub.store, visit.live, visit.live.at
    known = sorted((c.name for c in visit.live.snapshot.clusters), key=by_number)
    asked = read_query(visit.path, known, now)

    def read(cluster: str, since: float, until: float, tier: Tier) -> list[Brief]:
        if tier is Tier.FULL:  # the hub has them
            kept = live.series.get(cluster, ())
            return [brief_of(s) for s in kept if since <= s.at <= until]
        return store.briefs(cluster, since, until, tier)

    past = visit.site.library.past
    return {}, render(trend(asked, known, read, now, visit.live.target_latency_s, past))


PAGE = PageKind(
    kind="trends", addresses=(TRENDS, f"{TRENDS}/*"), title="Trends", of=recorded_page, visit=_visit
)
