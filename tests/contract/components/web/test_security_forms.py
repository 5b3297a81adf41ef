"""What is too large or not in form, what a socket may say, and that no secret is written down."""

import json
import time

import pytest

from tests.support.inside import ORIGIN, callbacks, settled
from tests.support.waiting import wait_until
from weir.components.web.security import Role
from weir.components.web.security.limits import (
    BODY_MOST,
    BODY_MOST_ELSE,
    CALLBACK_PATH,
    SOCKET_MOST,
)

# -- size and form


@pytest.mark.usefixtures("unchanged")
def test_oversized_requests_are_refused(inside, said):
    headers = inside.session()[0]
    for path in (CALLBACK_PATH, "/api/v1/pause", "/sign-in"):
        body = b" " * (BODY_MOST.get(path, BODY_MOST_ELSE) + 1)
        assert inside.ask("POST", path, headers=headers, content=body).status_code == 413

        def in_parts(body=body):
            yield from (body[i : i + 65536] for i in range(0, len(body), 65536))

        async def parts(chunks=in_parts):
            for chunk in chunks():
                yield chunk

        assert inside.ask("POST", path, headers=headers, content=parts()).status_code == 413
    lying = {**headers, "content-length": "ten"}
    assert inside.ask("POST", CALLBACK_PATH, headers=lying, content=b"{}").status_code == 413
    assert "size.refused" in said.text


@pytest.mark.usefixtures("unchanged")
def test_malformed_callbacks_are_refused(inside, said):
    headers = inside.session()[0]
    output = next(o for o, role in callbacks(inside) if role is Role.APPROVER)
    good = inside.callback(output, 1)
    bad: list[object] = [
        b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000,
        {**good, "output": "no-such.callback"}, {**good, "output": 5}, {**good, "output": None},
        {**good, "inputs": []}, {**good, "inputs": "x"}, {**good, "inputs": [5]},
        {**good, "state": [{"id": "x"}] * 9}, {**good, "changedPropIds": ["other.prop"]},
        {**good, "changedPropIds": 7}, {**good, "outputs": None}, {**good, "outputs": [3]},
        {"output": output}, {**good, "inputs": [{"id": "url", "property": "pathname"}]},
    ]  # fmt: skip
    for body in bad:
        more = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = inside.ask("POST", CALLBACK_PATH, headers=headers, **more)
        assert answer.status_code == 400, (body, answer.text)
    assert "form.refused by admin" in said.text


@pytest.mark.usefixtures("unchanged")
def test_strange_values_never_change_anything_nor_break_the_server(inside):
    headers = inside.session()[0]
    for value in (None, 1, "x", -1.5, [], ["a"], {}, {"id": 1}, "\x00" * 9, 1e308):
        for output in inside.callbacks:
            if "push" in inside.callbacks[output]["callback"].__name__:
                continue
            body = inside.callback(output, value)
            answer = inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
            assert answer.status_code < 500, (output, value, answer.text)


@pytest.mark.usefixtures("unchanged")
def test_malformed_sign_ins_are_refused(inside):
    for path in ("/sign-in", "/sign-in/link"):
        for body in (b"", b"{}", b"[]", b"\xff", b'{"name": 1, "password": 2}', b'{"link": null}'):
            assert inside.ask("POST", path, content=body).status_code == 400


# -- the socket


@pytest.mark.usefixtures("unchanged")
def test_a_socket_wants_a_session(inside, said):
    opened, _ = inside.session()
    for headers in ({}, {"cookie": opened["cookie"]}, {"origin": ORIGIN},
                    {"origin": ORIGIN, "cookie": opened["cookie"] + "x"}):  # fmt: skip
        sent = inside.socket(headers, '{"type": "heartbeat"}')
        assert [m["type"] for m in sent] == ["websocket.close"]
    assert "session.missing by nobody from 10.1.1.1: WEBSOCKET /_dash-ws-callback" in said.text
    sent = inside.socket(opened, '{"type": "heartbeat"}')
    assert sent[0]["type"] == "websocket.accept"
    assert "heartbeat_ack" in sent[1]["text"]


@pytest.mark.usefixtures("unchanged")
def test_strange_messages_end_a_socket(inside, said):
    headers, _ = inside.session()
    acting = next(o for o, role in callbacks(inside) if role is not Role.VIEWER)
    request = {"type": "callback_request", "requestId": "1"}
    strange = [
        "", "{", "[]", "5", "{}", '{"type": "other"}', '{"type": 5}',
        '{"type": "callback_request"}', '{"type": "get_props_response"}',
        json.dumps({**request, "payload": None}),
        json.dumps({**request, "payload": {"output": "none.there"}}),
        # a callback that exists, but is not for sockets
        json.dumps({**request, "payload": inside.callback(acting, 1)}),
        " " * (SOCKET_MOST + 1),
    ]  # fmt: skip
    for text in strange:
        sent = inside.socket(headers, text)
        assert [m["type"] for m in sent] == ["websocket.accept", "websocket.close"], text[:60]
        assert sent[1]["code"] in (1007, 1009)
    assert "form.refused by admin" in said.text
    assert "size.refused by admin" in said.text


def test_a_session_that_has_ended_opens_no_socket(inside):
    inside.users.add("mallory", Role.VIEWER, time.time())
    cookie, claim = inside.people.sessions.begin("mallory", "test", "password")
    name = inside.session()[0]["cookie"].split("=")[0]
    headers = {"cookie": f"{name}={cookie}", "origin": ORIGIN}
    beat = '{"type": "heartbeat"}'
    assert "heartbeat_ack" in inside.socket(headers, beat)[1]["text"]
    inside.people.sessions.end(claim)

    def refused() -> list[object]:  # what Redis said last may count for a moment
        sent = inside.socket(headers, beat)
        return sent if sent[0]["type"] == "websocket.close" else []

    sent = wait_until(refused, 5, "the socket is refused")
    assert [(m["type"], m.get("code")) for m in sent] == [("websocket.close", 4401)]
    inside.users.remove("mallory")


# -- nothing secret is written down


def test_no_secret_in_any_log_nor_in_the_trail(inside, said):
    password = "correct horse battery staple"
    inside.users.add("ada", Role.APPROVER, time.time())
    path = inside.people.link("ada", "admin", "here")
    secret = path.split("=")[1]
    by_link = inside.ask("POST", "/sign-in/link", json={"link": secret})
    assert by_link.status_code == 200
    csrf = next(c for c in by_link.headers.get_list("set-cookie") if "-csrf=" in c)
    token = csrf.split("=")[1].split(";")[0]
    session = next(c for c in by_link.headers.get_list("set-cookie") if "HttpOnly" in c)
    cookie = session.split("=", 1)[1].split(";")[0]
    headers = {"cookie": session.split(";")[0], "x-csrftoken": token, "origin": ORIGIN}
    body = {"old": "", "new": password}
    assert inside.ask("POST", "/password", headers=headers, json=body).status_code == 200
    for name, tried in (("ada", password), ("ada", "wrong " + password), (password, "typo")):
        inside.ask("POST", "/sign-in", json={"name": name, "password": tried})
    inside.ask("GET", f"/api/v1/snapshot?token={password}")
    inside.ask("GET", "/session", headers=inside.bearer())
    inside.ask("POST", "/sign-out", headers={**headers, "x-csrftoken": "x"})
    bearer = inside.tokens[Role.ADMIN]
    trail = str(settled(inside))
    for hidden in (password, secret, token, cookie, bearer, bearer.split("_", 2)[2]):
        assert hidden not in said.text
        assert hidden not in trail
    assert "sign_in.ok by ada from 10.1.1.1" in said.text
    assert "sign_in.failed by nobody from 10.1.1.1: ada" in said.text
    assert "sign_in.failed by nobody from 10.1.1.1: an unknown name" in said.text
    kept = inside.users.path.read_text() + str(
        [inside.store.client.dump(k) for k in inside.store.client.scan_iter("weir:*")]
    )
    for hidden in (password, secret, cookie, bearer.split("_", 2)[2]):
        assert hidden not in kept
    assert inside.users.path.stat().st_mode & 0o077 == 0
