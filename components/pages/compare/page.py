"""Two runs side by side."""

from weir.components.pages.base import Drawn, PageKind, Visit, recorded_page
from weir.components.pages.compare.render import render
from weir.components.pages.compare.view import comparison
from weir.components.pages.history.view import pair_of


def _visit(visit: Visit) -> Drawn:
    first, second = pair_of(visit.search)
    library = visit.site.library
    found = comparison(library.run(first), library.run(second), visit.live.target_latency_s)
    return {}, render(found)


PAGE = PageKind(
    kind="compare", addresses=("/history/compare",), of=recorded_page, offline=True, visit=_visit
)
