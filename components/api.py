"""The answers for machines: health and the latest snapshot."""

import asyncio
import time

import msgspec
import redis
from fastapi import FastAPI
from starlette.responses import Response

from components.hub import Hub
from components.view.health import health_json
from controllers.model.snapshot import Snapshot


def register(server: FastAPI, hub: Hub) -> None:
    """Routes that need no page."""

    @server.get("/health")
    async def health() -> Response:
        """What is up and how old the data is; 503 only if Redis cannot be reached.

        A host that is down makes it "degraded" but still 200: this web server works,
        and a balancer that took it away would hide the news.
        """
        world = await hub.first(3.0)
        up = world.ready and world.redis_down_since is None
        return _json(health_json(world), 200 if up else 503)

    @server.get("/api/v1/snapshot")
    async def snapshot() -> Response:
        """All clusters, operators and edges, from the newest report of each cluster."""
        try:
            samples = await asyncio.to_thread(hub.store.latest)
        except (redis.exceptions.RedisError, OSError):
            return _json({"error": "Redis cannot be reached; try again later."}, 503)
        return _json(Snapshot.of(samples, time.time()), 200)

    @server.get("/api/{rest:path}")
    async def nothing(rest: str) -> Response:
        """Without this the pages' catch-all would answer with HTML."""
        return _json({"error": f"There is no /api/{rest}."}, 404)


def _json(data: object, status: int) -> Response:
    return Response(
        msgspec.json.encode(data),
        status_code=status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )
