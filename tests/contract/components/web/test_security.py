"""Every route, callback and message of a socket: refused, logged, and nothing changed.

The routes and callbacks are taken from the application itself, so a new one cannot be
forgotten: it must declare its role, and all that follows is tried on it too.
"""

import time

import pytest
from starlette.routing import Mount

from tests.support.inside import ORIGIN, SAFE, callbacks, post, routes, settled
from weir.components.web.security import Role, declared_role
from weir.components.web.security.middleware import OPEN

OF_DASH = (
    "/", "/_dash-layout", "/_dash-dependencies", "/_dash-update-component", "/_reload-hash",
    "/_favicon.ico", "/_dash-component-suites/", "/vendor/plotly.min.js", "/vendor/cytoscape.min.js",
    "{path:path}",
)  # fmt: skip
"""Routes that only hand out what is the same for everybody; callbacks check for themselves."""
BELOW = {Role.APPROVER: Role.VIEWER, Role.ADMIN: Role.APPROVER}


# -- everything declares what it needs


def test_every_callback_declares_its_role(inside):
    missing = [o for o, k in inside.callbacks.items() if declared_role(k["callback"]) is None]
    assert missing == [], "decorate them with weir.components.web.security.require"
    assert len(callbacks(inside)) > 20


def test_every_route_declares_its_role_or_is_known_to_be_open(inside):
    missing = [
        (method, path)
        for method, path, route in routes(inside)
        if declared_role(route.endpoint) is None
        and (method, path) not in OPEN
        and not route.path.startswith(tuple(p for p in OF_DASH if p != "/"))
        and route.path != "/"
    ]
    assert missing == [], "decorate them with weir.components.web.security.require"
    mounts = [r.path for r in inside.server.routes if isinstance(r, Mount)]
    assert mounts == ["/assets"]


def test_what_acts_is_not_open_to_viewers(inside):
    """Whoever may only look sends nothing but questions."""
    acting = [
        (method, path)
        for method, path, route in routes(inside)
        if method not in SAFE and path.startswith("/api/v1")
        and declared_role(route.endpoint) is Role.VIEWER
    ]  # fmt: skip
    assert acting == []


# -- without a session


@pytest.mark.usefixtures("unchanged")
def test_no_route_answers_without_a_session(inside, said):
    for method, path, _route in routes(inside):
        if (method, path) in OPEN:
            continue
        answer = inside.ask(method, path, headers={"origin": ORIGIN})
        assert answer.status_code == 401, (method, path)
        assert "error" in answer.json() or method == "HEAD"
    assert "session.missing by nobody from 10.1.1.1: GET /api/v1/snapshot" in said.text


def test_what_is_open_is_open(inside):
    for method, path in OPEN - {("POST", "/sign-in"), ("POST", "/sign-in/link")}:
        assert inside.ask(method, path).status_code == 200, path
    assert inside.ask("GET", "/assets/live/feed.js").status_code == 401
    assert inside.ask("GET", "/assets/../users.json").status_code == 401


def test_people_are_led_to_the_sign_in_page(inside):
    answer = inside.ask("GET", "/cluster/wide?feed=poll", headers={"accept": "text/html"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/cluster/wide%3Ffeed%3Dpoll"


@pytest.mark.usefixtures("unchanged")
def test_no_callback_runs_without_a_session(inside):
    for output, _role in callbacks(inside):
        assert post(inside, output, {"origin": ORIGIN}).status_code == 401


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer weir_00000000_nothing"},
        {"authorization": "Bearer "},
        {"authorization": "Basic YWRtaW46YWRtaW4="},
        {"cookie": "forged"},
        {"cookie": "weir-00000000=x"},
    ],
)
def test_forged_credentials_open_nothing(inside, headers):
    if headers.get("cookie") == "forged":
        real, cookie = inside.session()
        head, _, signature = cookie.rpartition(".")
        headers = {"cookie": real["cookie"].replace(signature, signature[::-1])}
        assert head in headers["cookie"]
    assert inside.ask("GET", "/api/v1/snapshot", headers=headers).status_code == 401


# -- with the wrong role


@pytest.mark.usefixtures("unchanged")
def test_no_route_acts_for_the_role_below(inside, said):
    tried = 0
    for method, path, route in routes(inside):
        needed = declared_role(route.endpoint)
        if needed in BELOW:
            tried += 1
            answer = inside.ask(
                method, path, headers=inside.bearer(BELOW[needed]), json=_body(path)
            )
            assert answer.status_code == 403, (method, path, answer.text)
            assert answer.json()["error"].startswith(f"This needs the role {needed}; you are ")
    assert tried >= 12
    assert "role.refused by token/viewer from 10.1.1.1" in said.text


def _body(path: str) -> dict[str, object] | None:
    """What the route would take: the role is what refuses, not the form."""
    ending = path.rsplit("/", 1)[-1]
    known: dict[str, dict[str, object]] = {
        "scale": {"executors": 2}, "move": {"cluster": "wide"}, "approve": {"plan_hash": "x"},
        "reject": {}, "cancel": {}, "rollback": {}, "pause": {"paused": True},
    }  # fmt: skip
    if "/modes/" in path:
        return {"mode": "auto"}
    if "/settings/" in path:
        return {"values": {}}
    return known.get(ending, {} if "/workloads/" in path else None)


@pytest.mark.usefixtures("unchanged")
def test_no_callback_acts_for_the_role_below(inside, said):
    tried = 0
    for output, needed in callbacks(inside):
        if needed in BELOW:
            tried += 1
            headers, _ = inside.session(BELOW[needed])
            answer = post(inside, output, headers)
            assert answer.status_code == 403, (output, answer.text)
    assert tried >= 8
    assert "role.refused by viewer from 10.1.1.1: _register" in said.text


def test_a_changed_role_holds_at_once_and_a_removed_user_is_out(inside):
    inside.users.add("eve", Role.ADMIN, time.time())
    cookie, claim = inside.people.sessions.begin("eve", "test", "password")
    name = inside.session()[0]["cookie"].split("=")[0]
    headers = {"cookie": f"{name}={cookie}", "x-csrftoken": inside.people.sessions.csrf(claim),
               "origin": ORIGIN}  # fmt: skip
    body = {"paused": False}
    assert inside.ask("PUT", "/api/v1/pause", headers=headers, json=body).status_code == 200
    inside.users.set_role("eve", Role.VIEWER)
    assert inside.ask("PUT", "/api/v1/pause", headers=headers, json=body).status_code == 403
    assert inside.ask("GET", "/session", headers=headers).json()["role"] == "viewer"
    inside.users.remove("eve")
    assert inside.ask("GET", "/session", headers=headers).status_code == 401


# -- CSRF


@pytest.mark.usefixtures("unchanged")
def test_what_changes_something_wants_this_sessions_token(inside, said):
    real, _ = inside.session()
    other, _ = inside.session()  # of the same admin, at the same time: replayed, it must not do
    viewer, _ = inside.session(Role.VIEWER)
    bad = [None, "", "forged", other["x-csrftoken"], viewer["x-csrftoken"],
           real["x-csrftoken"][:-1], real["x-csrftoken"].upper() + "x"]  # fmt: skip
    for token in bad:
        headers = {k: v for k, v in real.items() if k != "x-csrftoken"}
        if token is not None:
            headers["x-csrftoken"] = token
        for method, path, _route in routes(inside):
            if method in SAFE or (method, path) in OPEN:
                continue
            answer = inside.ask(method, path, headers=headers, json=_body(path))
            assert answer.status_code == 403, (method, path, token)
        output, _role = callbacks(inside)[0]
        assert post(inside, output, headers).status_code == 403
    assert "csrf.refused by admin from 10.1.1.1: POST /_dash-update-component" in said.text
    trail = [e.action for e in settled(inside)]
    assert "csrf.refused" in trail


def test_a_token_of_an_ended_session_is_worth_nothing(inside):
    headers, _ = inside.session()
    assert inside.ask("POST", "/sign-out", headers=headers).status_code == 200
    assert inside.ask("POST", "/sign-out", headers=headers).status_code == 401
    fresh, _ = inside.session()
    mixed = {**fresh, "x-csrftoken": headers["x-csrftoken"]}
    assert inside.ask("POST", "/sign-out", headers=mixed).status_code == 403


@pytest.mark.usefixtures("unchanged")
def test_pages_of_others_cannot_act_even_with_everything(inside):
    real, _ = inside.session()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:8051"):
        headers = {**real, "origin": origin}
        answer = inside.ask("PUT", "/api/v1/pause", headers=headers, json={"paused": True})
        assert answer.status_code == 403
        assert inside.socket(headers)[0]["type"] == "websocket.close"


@pytest.mark.usefixtures("unchanged")
def test_addresses_that_cannot_be_read_are_refused_and_noted(inside, said):
    real, _ = inside.session()
    for bad in ({"origin": "http://["}, {"origin": "http://[::1"}, {"host": "["}):
        said.clear()
        headers = {**real, **bad}
        answer = inside.ask("PUT", "/api/v1/pause", headers=headers, json={"paused": True})
        assert answer.status_code == 403, answer.text
        assert [m["type"] for m in inside.socket(headers)] == ["websocket.close"]
        assert said.text.count(f"{next(iter(bad))}.refused by nobody") == 2
