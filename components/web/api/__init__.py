"""The answers for machines: everything that the pages show and do, as JSON.

    look.py             clusters, operators, samples, commands, workloads
    act.py              scale, move, start, stop, restart, rate
    recommendations.py  list, show, approve, reject, cancel, rollback
    steer.py            modes, pause-all, settings, audit
    schema.py           /openapi.json and the page that shows it

Every route declares the role it needs with `require`; a test fails if one does not.
"""

from fastapi import FastAPI
from starlette.responses import Response

from weir.components.live.hub import Hub
from weir.components.web.api import (
    act,
    errors,
    health,
    look,
    recommendations,
    schema,
    shares,
    steer,
)
from weir.components.web.api.reply import json
from weir.components.web.security import Role, require


def register(server: FastAPI, hub: Hub) -> None:
    """All routes that need no page."""
    errors.register(server)
    health.register(server, hub)
    # The routes themselves, not a router of them: so all stand in one list for the tests.
    for routes in (look.routes, recommendations.routes, act.routes, steer.routes, shares.routes):
        server.router.routes.extend(routes(hub.store).routes)
    schema.register(server)

    @server.api_route(
        "/api/{rest:path}",
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        include_in_schema=False,
    )
    @require(Role.VIEWER)
    async def nothing(rest: str) -> Response:
        """Without this the pages' catch-all would answer with HTML."""
        return json({"error": f"There is no /api/{rest}."}, 404)
