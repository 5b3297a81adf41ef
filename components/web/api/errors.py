"""What goes wrong, as JSON with one sentence and the status that fits."""

import logging
import time

import redis
from dash.exceptions import DependencyException, InvalidResourceError
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from weir.components.ui.text import sentence
from weir.components.web.security.events import SecurityEvent, record
from weir.components.web.security.limits import CALLBACK_PATH, MALFORMED
from weir.components.web.security.person import NotAllowed, current_user
from weir.controllers.model.errors import (
    Busy,
    InvalidInput,
    NotFound,
    Refused,
    Unavailable,
    WeirError,
)

log = logging.getLogger(__name__)

RETRY_S = 5
SUITES = "/_dash-component-suites/"
AWAY = "Redis cannot be reached; try again later."
_STATUS: tuple[tuple[type[WeirError], int], ...] = (
    (NotAllowed, 403),
    (InvalidInput, 400),
    (NotFound, 404),
    (Busy, 429),
    (Refused, 409),
    (Unavailable, 503),
)


def status_of(error: WeirError) -> int:
    """The HTTP status of an error.

    >>> status_of(NotFound("")), status_of(WeirError(""))
    (404, 400)
    """
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


def register(server: FastAPI) -> None:
    """Every error that a route or callback raises on purpose; anything else is a bug and 500."""

    @server.exception_handler(WeirError)
    async def known(request: Request, error: WeirError) -> JSONResponse:
        if request.url.path == CALLBACK_PATH and isinstance(error, InvalidInput | NotFound):
            _note(request)
        found = answer(sentence(str(error)), status_of(error))
        if isinstance(error, Busy):
            found.headers["retry-after"] = str(RETRY_S)
        return found

    @server.exception_handler(redis.exceptions.RedisError)
    async def away(_request: Request, _error: Exception) -> JSONResponse:
        return answer(AWAY, 503)

    async def strange(request: Request, error: Exception) -> JSONResponse:
        # What reaches a callback comes from the browser, and Dash looks at none of it. A value
        # that it cannot work with is refused; the log has the traceback, should it be a bug.
        if request.url.path.startswith(SUITES):
            return answer("There is no such file.", 404)
        if request.url.path != CALLBACK_PATH:
            raise error
        log.error("a callback could not work with what it was sent", exc_info=error)
        return answer(MALFORMED, 400)

    for kind in (
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        AttributeError,
        OSError,
        DependencyException,
        InvalidResourceError,
    ):
        server.add_exception_handler(kind, strange)

    @server.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return answer(sentence(f"{where}: {first['msg']}"), 422)

    @server.exception_handler(HTTPException)
    async def http(_request: Request, error: HTTPException) -> JSONResponse:
        found = answer(sentence(str(error.detail)), error.status_code)
        found.headers.update(error.headers or {})
        return found


def _note(request: Request) -> None:
    """The pages of Weir do not send such a thing; what it was may be secret."""
    person = current_user()
    record(
        SecurityEvent(
            at=time.time(), by=person.name, action="form.refused",
            subject=f"{request.method} {request.url.path}", address=person.address,
        )
    )  # fmt: skip


def answer(text: str, status: int) -> JSONResponse:
    """One sentence as JSON."""
    return JSONResponse({"error": text}, status, headers={"cache-control": "no-store"})
