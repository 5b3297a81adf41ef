"""Who may ask from where."""

import json

import pytest

from tests.support.loops import run
from weir.components.web.security import REFUSED_HOST, REFUSED_ORIGIN, Security, policy


def ask(method="GET", kind="http", allowed=(), **headers):
    """Status and body (or close reason) for one request."""
    sent = []

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"fine"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    encoded = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    scope = {"type": kind, "method": method, "headers": encoded, "path": "/"}
    run(Security(app, script_hashes=["'sha256-x'"], allowed_hosts=allowed)(scope, receive, send))
    return sent


def status(sent):
    return sent[0]["status"]


@pytest.mark.parametrize("host", ["127.0.0.1:8050", "localhost:8050", "[::1]:8050", "10.1.2.3"])
def test_own_addresses_may(host):
    assert status(ask(host=host)) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8050", "", "127.0.0.1.evil.example", "[", "[::1", "[x]:1", "]"],
)
def test_foreign_names_may_not(host):
    sent = ask(host=host)
    assert status(sent) == 403
    assert json.loads(sent[1]["body"]) == {"error": REFUSED_HOST}


def test_allowed_names_may():
    assert status(ask(host="weir.example", allowed=["weir.example"])) == 200
    assert status(ask(host="any.example", allowed=["*"])) == 200


def test_posts_from_our_pages_and_from_no_browser_may():
    assert status(ask("POST", host="localhost:1", origin="http://localhost:1")) == 200
    assert status(ask("POST", host="localhost:1")) == 200
    assert status(ask("POST", host="localhost:1", sec_fetch_site="same-origin")) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:2"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "http://[::1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_posts_from_elsewhere_may_not(method, headers):
    sent = ask(method, host="localhost:1", **headers)
    assert status(sent) == 403
    assert json.loads(sent[1]["body"]) == {"error": REFUSED_ORIGIN}


def test_sockets_need_our_origin():
    accepted = ask(kind="websocket", host="localhost:1", origin="http://localhost:1")
    assert accepted == [{"type": "websocket.accept"}]
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "http://["}):
        sent = ask(kind="websocket", host="localhost:1", **headers)
        assert sent[0]["type"] == "websocket.close"
    sent = ask(kind="websocket", host="[", origin="http://[", allowed=["*"])
    assert sent[0]["type"] == "websocket.close"


def test_what_cannot_be_read_is_refused_and_noted(caplog):
    caplog.set_level("INFO", "weir.security")
    ask("POST", host="localhost:1", origin="http://[")
    ask(host="[")
    assert [m.split()[0] for m in caplog.messages] == ["origin.refused", "host.refused"]


def test_answers_carry_the_headers():
    headers = dict(ask(host="localhost")[0]["headers"])
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"same-origin"
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]


def test_policy_lets_nothing_in_from_outside():
    text = policy(["'sha256-x'"])
    assert "http:" not in text
    assert "https:" not in text
    assert "unsafe-eval" not in text
    script = next(p for p in text.split("; ") if p.startswith("script-src"))
    assert "unsafe-inline" not in script
