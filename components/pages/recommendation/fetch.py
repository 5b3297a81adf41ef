"""What the hub does not keep of a recommendation."""

import asyncio
from typing import Any

import redis
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.recommendation.view import span
from weir.components.ui.path import Place
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.sample import ClusterSample


async def fetch(hub: Hub, world: World, place: Place) -> World:
    """The world with what the hub does not keep: an older recommendation and its series."""
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
