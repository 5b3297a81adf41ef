"""Where a request may come from, and what the page may load.

- The Host must be one of ours. Otherwise a foreign site could point its own name
  at this machine and read the pages (DNS rebinding).
- What changes something, and every WebSocket, must come from our own pages
  (Origin, or Sec-Fetch-Site where a browser sends no Origin). Otherwise a foreign
  site could press the buttons (CSRF) or read the feed.

Reference: OWASP Cross-Site Request Forgery Prevention, "Verifying Origin".
"""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit


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


def is_known_host(host: str, allowed: frozenset[str]) -> bool:
    """Whether a Host header names this server: an address, localhost, or an allowed name.

    >>> is_known_host("127.0.0.1:8050", frozenset()), is_known_host("evil.example", frozenset())
    (True, False)
    >>> is_known_host("weir.example:443", frozenset({"weir.example"}))
    True
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".").lower()
    except ValueError:  # such as "["
        return False
    if "*" in allowed:
        return True
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
        try:
            return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
        except ValueError:  # such as "http://["
            return False
    if websocket:
        return False
    return headers.get("sec-fetch-site", "none") in ("same-origin", "none")
