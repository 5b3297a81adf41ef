"""The routes of the sign-in page. They take and answer JSON; the page's script does the rest."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import redis
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from msgspec import Struct

from weir.components.pages.sign_in import render
from weir.components.pages.sign_in.service import Locked, Opened, SignIn
from weir.components.web.security.gate import Gate
from weir.components.web.security.middleware import set_cookie
from weir.components.web.security.person import current_user, require
from weir.controllers.model.errors import UNREADABLE, InvalidInput, Refused, WeirError
from weir.metrics.store.users import Role

S = TypeVar("S", bound=Struct)
AWAY = "Redis cannot be reached, so nobody can sign in now. Try again when it is back."


class Password(Struct, forbid_unknown_fields=True):
    """Name and password."""

    name: str
    password: str


class LinkSecret(Struct, forbid_unknown_fields=True):
    """The secret of a one-time link."""

    link: str


class NewPassword(Struct, forbid_unknown_fields=True):
    """A change of one's own password."""

    old: str
    new: str


def register(server: FastAPI, service: SignIn, gate: Gate) -> None:
    """All routes of sign-in."""
    _register_in(server, service, gate)
    _register_own(server, service, gate)


def _register_in(server: FastAPI, service: SignIn, gate: Gate) -> None:
    @server.get("/sign-in", include_in_schema=False)
    async def sign_in_page() -> Response:
        return HTMLResponse(render.sign_in(), headers={"cache-control": "no-store"})

    @server.post("/sign-in", include_in_schema=False)
    async def by_password(request: Request) -> Response:
        asked = await _body(request, Password)
        return await _open_session(
            request, gate, service, service.by_password, asked.name, asked.password
        )

    @server.post("/sign-in/link", include_in_schema=False)
    async def by_link(request: Request) -> Response:
        asked = await _body(request, LinkSecret)
        return await _open_session(request, gate, service, service.by_link, asked.link)


def _register_own(server: FastAPI, service: SignIn, gate: Gate) -> None:
    @server.get("/session", include_in_schema=False)
    @require(Role.VIEWER)
    async def session() -> Response:
        person = current_user()
        return _answer({"name": person.name, "role": person.role, "via": person.via})

    @server.post("/sign-out", include_in_schema=False)
    @require(Role.VIEWER)
    async def sign_out(request: Request) -> Response:
        claim = gate.claim(dict(request.headers))
        if claim is not None:
            try:
                await service.workers(service.sign_out, claim, current_user().address)
            except (redis.exceptions.RedisError, OSError):
                return _answer({"error": AWAY}, 503)
            gate.forget(claim.hash)
        answer = _answer({"next": "/sign-in"})
        for name in (gate.cookie, gate.csrf_cookie):
            answer.raw_headers.append(set_cookie(name, "", secure=_secure(request), max_age_s=0))
        return answer

    @server.get("/password", include_in_schema=False)
    @require(Role.VIEWER)
    async def password_page() -> Response:
        person = current_user()
        user = service.users.user(person.name)
        try:
            old = user is not None and await service.workers(
                service.needs_old, user, person.session
            )
        except (redis.exceptions.RedisError, OSError):
            old = True
        return HTMLResponse(
            render.password(person.name, old=old, csrf_cookie=gate.csrf_cookie),
            headers={"cache-control": "no-store"},
        )

    @server.post("/password", include_in_schema=False)
    @require(Role.VIEWER)
    async def change(request: Request) -> Response:
        asked = await _body(request, NewPassword)
        person = current_user()
        change_password = functools.partial(service.change_password, person.name, person.session)
        return await _open_session(request, gate, service, change_password, asked.old, asked.new)


async def _open_session(
    request: Request, gate: Gate, service: SignIn, begin: Callable[..., Opened], *args: str
) -> Response:
    """Begin a session and hand its cookies over, or say why not."""
    try:
        opened = await service.workers(begin, *args, current_user().address)
    except Locked as error:
        return _answer({"error": str(error)}, 429, {"retry-after": str(error.wait_s)})
    except InvalidInput as error:
        return _answer({"error": _sentence(error)}, 400)
    except Refused as error:
        return _answer({"error": str(error)}, 401)
    except WeirError as error:
        return _answer({"error": _sentence(error)}, 503)
    except (redis.exceptions.RedisError, OSError):
        return _answer({"error": AWAY}, 503)
    answer = _answer({"next": "/", "password": bool(opened.user.password)})
    secure, age_s = _secure(request), int(service.settings.session_max_s)
    answer.raw_headers += [
        set_cookie(gate.cookie, opened.cookie, secure=secure, max_age_s=age_s),
        set_cookie(
            gate.csrf_cookie, service.sessions.csrf(opened.claim),
            secure=secure, readable=True, max_age_s=age_s,
        ),
    ]  # fmt: skip
    return answer


async def _body(request: Request, kind: type[S]) -> S:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except UNREADABLE:
        raise InvalidInput("this is not what the sign-in page sends") from None


def _answer(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(data, status, headers={"cache-control": "no-store", **(headers or {})})


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"


def _sentence(error: WeirError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:].rstrip(".") + "."
