"""A route that looks at the role before it looks at what was sent."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from weir.components.web.security import check, declared_role


class GuardedRoute(APIRoute):
    """Refuses before it validates: who may not use a route learns nothing about its form.

    `require` on the endpoint says which role; it checks once more when the endpoint runs.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the check."""
        handle, needed = super().get_route_handler(), declared_role(self.endpoint)

        async def guarded(request: Request) -> Response:
            if needed is not None:
                check(needed, self.endpoint.__qualname__.replace(".<locals>", ""))
            return await handle(request)

        return guarded
