"""In front of everything, HTTP and WebSocket alike: who may ask from where.

- The Host must be one of ours. Otherwise a foreign site could point its own name
  at this machine and read the pages (DNS rebinding).
- What changes something, and every WebSocket, must come from our own pages
  (Origin, or Sec-Fetch-Site where a browser sends no Origin). Otherwise a foreign
  site could press the buttons (CSRF) or read the feed.
- Every answer carries headers that keep the page to itself.

Reference: OWASP Cross-Site Request Forgery Prevention, "Verifying Origin".
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAFE = {"GET", "HEAD", "OPTIONS"}
REFUSED_HOST = "This name is not one of Weir's; allow it with --allow-host."
REFUSED_ORIGIN = "Requests that change something must come from Weir's own pages."


def policy(script_hashes: Iterable[str]) -> str:
    """The content security policy: nothing from outside, scripts only ours.

    Styles need 'unsafe-inline' because components set style attributes.
    """
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {' '.join(script_hashes)}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def known_host(host: str, allowed: frozenset[str]) -> bool:
    """Whether a Host header names this server: an address, localhost, or an allowed name.

    >>> known_host("127.0.0.1:8050", frozenset()), known_host("evil.example", frozenset())
    (True, False)
    >>> known_host("weir.example:443", frozenset({"weir.example"}))
    True
    """
    if "*" in allowed:
        return True
    name = (urlsplit(f"//{host}").hostname or "").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost") or name in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True  # an address cannot be rebound


def same_origin(headers: dict[str, str], *, websocket: bool) -> bool:
    """Whether a request comes from our own pages, or from no browser at all.

    >>> same_origin({"host": "a:1", "origin": "http://a:1"}, websocket=False)
    True
    >>> same_origin({"host": "a:1", "origin": "http://b"}, websocket=True)
    False
    >>> same_origin({"host": "a:1"}, websocket=False)  # curl
    True
    """
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    if websocket:
        return False
    return headers.get("sec-fetch-site", "none") in ("same-origin", "none")


class Security:
    """The middleware. Sign-in will stand here too."""

    def __init__(
        self, app: App, *, script_hashes: Iterable[str], allowed_hosts: Iterable[str] = ()
    ) -> None:
        self._app = app
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
        websocket = scope["type"] == "websocket"
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        reason = ""
        if not known_host(headers.get("host", ""), self._allowed):
            reason = REFUSED_HOST
        elif (websocket or scope["method"] not in _SAFE) and not same_origin(
            headers, websocket=websocket
        ):
            reason = REFUSED_ORIGIN
        if reason:
            await self._refuse(receive, send, reason, websocket=websocket)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        await self._app(scope, receive, send_with_headers)

    async def _refuse(self, receive: Receive, send: Send, reason: str, *, websocket: bool) -> None:
        if websocket:
            await receive()  # the opening; closing before accepting answers with 403
            await send({"type": "websocket.close", "code": 4403, "reason": reason})
            return
        body = reason.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"),
                   (b"content-length", str(len(body)).encode()), *self._headers]  # fmt: skip
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": body})
