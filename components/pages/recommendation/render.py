"""One recommendation: everything about it, and the series around its time."""

import asyncio
from typing import Any

import redis
from dash import dcc, html
from dash.development.base_component import Component
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.base import Page
from weir.components.pages.recommendation.text import KINDS, title_of
from weir.components.pages.recommendation.view import span
from weir.components.ui import ids
from weir.components.ui.chart import chart_tile
from weir.components.ui.parts import card, region
from weir.components.ui.path import Place
from weir.components.ui.states import missing
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.snapshot import ClusterSample


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
                        [dcc.Link("Control room", href="/"), html.Span("Recommendations")],
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
            region(ids.RECOMMENDATION),
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


async def fetch(hub: Hub, world: World, place: Place) -> World:
    """The world with what the hub does not keep: an older recommendation and its series."""
    if place.kind != "recommendation":
        return world
    try:
        return await asyncio.to_thread(_fetch, hub, world, place.name)
    except (redis.exceptions.RedisError, OSError):
        return world


def _fetch(hub: Hub, world: World, recommendation_id: str) -> World:
    found = world.control.recommendation(recommendation_id) or hub.store.recommendation(
        recommendation_id
    )
    if found is None:
        return world
    return replace(
        world,
        control=replace(world.control, fetched=found),
        series={**world.series, **_past(hub, world, found)},
    )


def _past(hub: Hub, world: World, found: Recommendation) -> dict[str, Any]:
    """Series of its clusters at the finest resolution that still reaches back so far."""
    first, last = span(found)
    if world.at - first <= KEPT_S[Tier.FULL]:
        return {}
    tier = next(t for t in Tier if t is Tier.HOUR or world.at - first <= KEPT_S[t])
    series: dict[str, list[ClusterSample]] = {}
    for cluster in found.clusters:
        series[cluster] = hub.store.samples(cluster, first, last, tier)
    return series
