"""One recommendation: everything about it, and the series around its time."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.page import Page
from weir.components.live.recommendation_words import KINDS, title_of
from weir.components.live.world import World
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.ui.parts import card, region
from weir.components.ui.states import missing
from weir.components.ui.surface import page_link


def render(world: World, page: Page) -> Component:
    """The panel that follows the recommendation, then the series."""
    found = world.control.recommendation(page.place.name)
    if found is None:
        return missing(
            f"There is no recommendation {page.place.name}",
            "It may be older than what is kept. The audit trail tells what was done.",
            "/audit",
            "To the audit trail",
        )
    return html.Div(
        [
            html.Div(
                [
                    html.Nav(
                        [page_link("Control room", "/"), html.Span("Recommendations")],
                        className="crumbs",
                        **{"aria-label": "Where you are"},
                    ),
                    html.Div(
                        [
                            html.H1(title_of(found)),
                            html.Span(KINDS[found.kind], className="tag"),
                        ],
                        className="card-title",
                    ),
                ],
                className="page-head",
            ),
            region(recommendation_ids.RECOMMENDATION),
            *(_series(cluster, page) for cluster in found.clusters),
        ],
        className="stack",
    )


def _series(cluster: str, page: Page) -> Component:
    return card(
        html.Div(
            [chart_tile(c, page.figures, "") for c in page.charts if c.cluster == cluster],
            className="tiles tiles-5",
        ),
        title=f"{cluster} around that time",
    )
