"""Is it well: the one answer that needs no sign-in."""

from fastapi import FastAPI
from starlette.responses import Response

from weir.components.live.health import health_json, health_of_strangers
from weir.components.live.hub import Hub
from weir.components.web.api.reply import json
from weir.components.web.security import current_user


def register(server: FastAPI, hub: Hub) -> None:
    """The route for balancers and for whoever watches the watcher."""

    @server.get(
        "/health",
        tags=["health"],
        summary="What is up, and how old the data is",
        responses={503: {"description": "Redis cannot be reached, or is not read any more"}},
        response_model=None,
        openapi_extra={"security": []},
    )
    async def health() -> Response:
        """What is up and how old the data is, with names for who has signed in; 503 only if Redis cannot be reached or this
        worker does not read it any more.

        A host that is down makes it "degraded" but still 200: this web server works,
        and a balancer that took it away would hide the news.
        """
        world = await hub.first(3.0)
        reached = world.ready and world.redis_down_since is None
        up = reached and world.reader_down_since is None
        told = health_json if current_user().role else health_of_strangers
        return json(told(world), 200 if up else 503)
