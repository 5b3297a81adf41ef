"""In front of everything, HTTP and WebSocket alike: from where, who, how much, in what form.

    Host ours?  ->  Origin ours?  ->  open to all?  ->  session, token or proxy's header?
                ->  CSRF token  ->  size and form  ->  application

A WebSocket is asked again with every message in either direction, so a session that ends
takes its sockets with it, and so does a change of role. The role is checked where something
is done: see `require`.
"""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import quote

from weir.components import assets
from weir.components.web.security.events import SecurityEvent, Sink, one_line, record, set_sink
from weir.components.web.security.gate import CSRF_HEADER, Admission, Gate, same
from weir.components.web.security.limits import (
    BODY_S,
    CALLBACK_PATH,
    MALFORMED,
    SOCKET_MOST,
    TOO_LARGE,
    TOO_SLOW,
    CallbackForm,
    read_body,
    replay,
)
from weir.components.web.security.origin import is_known_host, policy, same_origin
from weir.components.web.security.person import NOBODY, Person, acting_as
from weir.controllers.model.errors import Unavailable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAFE = {"GET", "HEAD", "OPTIONS"}
REFUSED_HOST = "This name is not one of Weir's; allow it with --allow-host."
REFUSED_ORIGIN = "Requests that change something must come from Weir's own pages."
REFUSED_ANONYMOUS = "Sign in first."
REFUSED_ROLE = "Your role has changed."
REFUSED_CSRF = "This page is out of date or not Weir's; load it again."
ENDED = 4401
"""Code with which a socket is closed whose session is over."""
REFUSED = 4403
"""... that may not be opened, or whose person has another role by now: the page opens a new one."""

OPEN = frozenset({
    ("GET", "/health"), ("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-in/link"),
    *(("GET", assets.url(name)) for name in assets.OPEN),
})  # fmt: skip
"""What needs no session: health, the sign-in page and what it is made of."""


class Security:
    """The middleware. Without a gate everybody is let in; only its own tests do that."""

    def __init__(
        self,
        app: App,
        *,
        script_hashes: Iterable[str],
        allowed_hosts: Iterable[str] = (),
        gate: Gate | None = None,
        form: CallbackForm | None = None,
        sink: Sink | None = None,
    ) -> None:
        self._app = app
        self._gate = gate
        self._form = form
        self._sink = sink
        own = {socket.gethostname().lower()}
        self._allowed = frozenset(own | {h.strip().lower() for h in allowed_hosts if h.strip()})
        self._headers = [
            (b"content-security-policy", policy(script_hashes).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and add the headers."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        set_sink(self._sink)
        asked = _Asked(scope)
        if not is_known_host(asked.headers.get("host", ""), self._allowed):
            await self._refuse(asked, receive, send, 403, REFUSED_HOST, "host.refused")
        elif asked.changes and not same_origin(asked.headers, websocket=asked.websocket):
            await self._refuse(asked, receive, send, 403, REFUSED_ORIGIN, "origin.refused")
        elif asked.websocket:
            await self._socket(asked, receive, send)
        else:
            await self._http(asked, receive, send)

    # -- HTTP

    async def _http(self, asked: "_Asked", receive: Receive, send: Send) -> None:
        admission = Admission(NOBODY)
        open_to_all = self._gate is not None and (asked.method, asked.path) in OPEN
        if self._gate is not None and not open_to_all:
            try:
                admission = await self._gate.admit(
                    asked.headers, asked.peer, active=True, fresh=asked.changes
                )
            except Unavailable as error:
                await self._refuse(asked, receive, send, 503, str(error), "users.unreadable")
                return
            if admission.person.role is None:
                await self._to_sign_in(asked, receive, send)
                return
            if asked.changes and admission.csrf is not None:
                sent = asked.headers.get(CSRF_HEADER, "")
                if not same(sent, admission.csrf):
                    person = admission.person
                    await self._refuse(
                        asked, receive, send, 403, REFUSED_CSRF, "csrf.refused", person
                    )
                    return
        elif self._gate is not None:
            # Nobody yet, but the routes of sign-in need to know from where.
            address = self._gate.address(asked.headers, asked.peer)
            admission = Admission(Person(address=address))
            if asked.path == "/health" and (
                "cookie" in asked.headers or "authorization" in asked.headers
            ):
                with contextlib.suppress(Unavailable):
                    known = await self._gate.admit(
                        asked.headers, asked.peer, active=False, fresh=False
                    )
                    admission = known if known.person.role else admission
        # Who it is comes first: from a stranger only what sign-in needs is read.
        body = b""
        length = asked.headers.get("content-length")
        if length is not None or "transfer-encoding" in asked.headers:
            try:
                found = await asyncio.wait_for(
                    read_body(receive, asked.path, length, known=not open_to_all), BODY_S
                )
            except TimeoutError:
                await self._refuse(asked, receive, send, 408, TOO_SLOW, "body.late")
                return
            if found is None:
                person = admission.person
                await self._refuse(asked, receive, send, 413, TOO_LARGE, "size.refused", person)
                return
            body, receive = found, replay(found, receive)
        if asked.path == CALLBACK_PATH and self._form is not None and not self._form.fits(body):
            person = admission.person
            await self._refuse(asked, receive, send, 400, MALFORMED, "form.refused", person)
            return
        acting_as(admission.person)
        await self._app(asked.scope, receive, self._with_headers(asked, admission, send))

    def _with_headers(self, asked: "_Asked", admission: Admission, send: Send) -> Send:
        extra = list(self._headers)
        # The page's scripts read the token from a cookie and send it with what changes something.
        name = self._gate.csrf_cookie if self._gate else ""
        if admission.csrf and not asked.changes and asked.cookie(name) != admission.csrf:
            extra.append(set_cookie(name, admission.csrf, secure=asked.secure, readable=True))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        return send_with_headers

    async def _to_sign_in(self, asked: "_Asked", receive: Receive, send: Send) -> None:
        """A person who opens a page is led to the sign-in page; all else is told so."""
        if asked.method == "GET" and "text/html" in asked.headers.get("accept", ""):
            query = asked.scope.get("query_string", b"").decode("latin-1")
            wanted = asked.path + (f"?{query}" if query else "")
            to = "/sign-in" if wanted == "/" else f"/sign-in?next={quote(wanted, safe='/')}"
            headers = [(b"location", to.encode()), (b"cache-control", b"no-store"),
                       (b"content-length", b"0"), *self._headers]  # fmt: skip
            await send({"type": "http.response.start", "status": 303, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._refuse(asked, receive, send, 401, REFUSED_ANONYMOUS, "session.missing")

    # -- WebSocket

    async def _socket(self, asked: "_Asked", receive: Receive, send: Send) -> None:
        if self._gate is None:
            await self._app(asked.scope, receive, send)
            return
        person = await self._of_socket(asked)
        if person.role is None:
            await self._refuse(asked, receive, send, 401, REFUSED_ANONYMOUS, "session.missing")
            return
        acting_as(person)
        over = False

        async def close(code: int, reason: str, action: str) -> Message:
            nonlocal over
            if not over:
                over = True
                self._note(asked, action, person)
                await send({"type": "websocket.close", "code": code, "reason": reason})
            return {"type": "websocket.disconnect", "code": code}

        async def receive_checked() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive" or over:
                return message
            now = await self._of_socket(asked)
            if now.role is not person.role:
                return await close(*_why_closed(now))
            text = message.get("text")
            if text is None or len(text) > SOCKET_MOST:
                return await close(1009, TOO_LARGE, "size.refused")
            if self._form is not None and not self._form.fits_socket(text):
                return await close(1007, MALFORMED, "form.refused")
            return message

        async def send_checked(message: Message) -> None:
            if over:
                raise ConnectionError("the session of this socket is over")
            if message["type"] == "websocket.send":
                now = await self._of_socket(asked)
                if now.role is not person.role:
                    await close(*_why_closed(now))
                    raise ConnectionError("the session of this socket is over")
            await send(message)

        await self._app(asked.scope, receive_checked, send_checked)

    async def _of_socket(self, asked: "_Asked") -> Person:
        assert self._gate is not None
        try:
            found = await self._gate.admit(asked.headers, asked.peer, active=False, fresh=False)
        except Unavailable:
            return NOBODY
        return found.person

    # -- no

    async def _refuse(
        self, asked: "_Asked", receive: Receive, send: Send, status: int, reason: str,
        action: str, person: Person = NOBODY,
    ) -> None:  # fmt: skip
        self._note(asked, action, person)
        if asked.websocket:
            await receive()  # the opening; closing before accepting answers with 403
            code = ENDED if status == 401 else REFUSED
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return
        body = json.dumps({"error": reason}).encode()
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store"),
                   (b"content-length", str(len(body)).encode()), *self._headers]  # fmt: skip
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _note(self, asked: "_Asked", action: str, person: Person) -> None:
        address = self._gate.address(asked.headers, asked.peer) if self._gate else asked.peer
        what = f"{asked.method} {one_line(asked.path, 80)}"  # never the query: it may hold secrets
        by = person.name or "nobody"
        record(SecurityEvent(at=time.time(), by=by, action=action, subject=what, address=address))


def _why_closed(now: Person) -> tuple[int, str, str]:
    """Code, reason and the event's name for a socket whose person is no longer who it was."""
    if now.role is None:
        return ENDED, REFUSED_ANONYMOUS, "session.ended"
    return REFUSED, REFUSED_ROLE, "role.changed"


class _Asked:
    """One request or socket, with its headers as text."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.websocket = scope["type"] == "websocket"
        self.method = "WEBSOCKET" if self.websocket else str(scope["method"])
        self.path = str(scope["path"])
        self.headers: dict[str, str] = {}
        for key, value in scope["headers"]:
            name, text = key.decode("latin-1"), value.decode("latin-1")
            between = "; " if name == "cookie" else ","  # a header sent twice is one list
            known = self.headers.get(name)
            self.headers[name] = text if known is None else known + between + text
        self.peer = str((scope.get("client") or ("",))[0])
        self.secure = scope.get("scheme") in ("https", "wss")
        self.changes = self.websocket or self.method not in _SAFE

    def cookie(self, name: str) -> str:
        """One cookie's value as sent."""
        for part in self.headers.get("cookie", "").split(";"):
            found, _, value = part.strip().partition("=")
            if found == name:
                return value
        return ""


def set_cookie(
    name: str, value: str, *, secure: bool, readable: bool = False, max_age_s: int | None = None
) -> tuple[bytes, bytes]:
    """A header that sets a cookie for this site alone; an age of 0 takes it away."""
    text = f"{name}={value}; Path=/; SameSite=Strict"
    text += "" if max_age_s is None else f"; Max-Age={max_age_s}"
    text += "" if readable else "; HttpOnly"
    text += "; Secure" if secure else ""
    return b"set-cookie", text.encode("latin-1")
