"""A socket that is open ends with its session: a real web server and a real WebSocket client.

Each way to end a session is tried in both directions: the feed that the server pushes stops
by itself, and the next thing that the client says is not answered any more.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests.support.browser import WebServer
from tests.support.feeder import Feeder
from tests.support.inside import SOCKET_PATH
from tests.support.waiting import wait_until
from weir.components.web.security.gate import cookie_name
from weir.components.web.security.limits import CALLBACK_PATH
from weir.components.web.security.middleware import ENDED, REFUSED
from weir.metrics.store.users import Role
from weir.pipeline.local.redis_server import RedisServer

BEAT = '{"type": "heartbeat"}'
SOON_S = 60.0
"""A second for what Redis said last, two between signs of life, and a busy machine."""


class Visitor:
    """Somebody of their own, signed in, with an open socket."""

    def __init__(self, web: WebServer, redis_url: str, name: str) -> None:
        self.web, self.name = web, name
        self._opened = ExitStack()
        web.users.add(name, Role.APPROVER, time.time())
        cookie, self.claim = web.people.sessions.begin(name, "test", "password")
        self.headers = {
            "cookie": f"{cookie_name(redis_url)}={cookie}",
            "x-csrftoken": web.people.sessions.csrf(self.claim),
            "origin": web.url,
        }
        self.socket = self.open()

    def open(self) -> ClientConnection:
        where = self.web.url.replace("http", "ws") + SOCKET_PATH
        own = {"cookie": self.headers["cookie"]}
        opening = connect(where, origin=Origin(self.web.url), additional_headers=own, proxy=None)
        return self._opened.enter_context(opening)

    def close(self) -> None:
        self._opened.close()

    def http(self, method: str, path: str, **more: Any) -> int:
        with self.web.api() as client:
            client.headers.pop("authorization")
            return client.request(method, path, headers=self.headers, **more).status_code

    def beat(self) -> str:
        """Say something; the answer, or an exception if the socket is closed."""
        self.socket.send(BEAT)
        return str(self.socket.recv(timeout=SOON_S))

    def follow(self) -> None:
        """Ask for the feed, as the page does, and wait for its first message."""
        with self.web.api() as client:
            known = client.get("/_dash-dependencies").json()
        push = next(d for d in known if d.get("websocket") and d.get("persistent"))
        values = {"search": "", "data": {"page": "/", "path": "/"}}
        state = [{**s, "value": values[s["property"]]} for s in push["state"]]
        payload = {"output": push["output"], "outputs": [], "inputs": [], "state": state,
                   "changedPropIds": []}  # fmt: skip
        asked = {
            "type": "callback_request",
            "requestId": "1",
            "rendererId": "r",
            "payload": payload,
        }
        self.socket.send(json.dumps(asked))
        while "set_props" not in self._heard(SOON_S):
            pass

    def closed(self) -> int:
        """The code with which the server closes the socket; nothing is said meanwhile."""
        until = time.monotonic() + 2 * SOON_S
        try:
            while time.monotonic() < until:
                self._heard(SOON_S)
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 0
        raise AssertionError("the feed goes on")

    def _heard(self, seconds: float) -> set[str]:
        """Kinds of messages that have come; like a page, it says what it has drawn if asked."""
        told = json.loads(self.socket.recv(timeout=seconds))
        messages = told if isinstance(told, list) else [told]
        for message in messages:
            if message.get("type") == "get_props_request":
                drawn = {"page": "/", "path": "/"}
                reply = {"type": "get_props_response", "requestId": message["requestId"],
                         "payload": drawn}  # fmt: skip
                self.socket.send(json.dumps(reply))
        return {str(message.get("type")) for message in messages}


def sign_out(visitor: Visitor) -> None:
    assert visitor.http("POST", "/sign-out") == 200


def remove(visitor: Visitor) -> None:
    visitor.web.users.remove(visitor.name)


def revoke(visitor: Visitor) -> None:
    visitor.web.people.end_all(visitor.name, "admin", "test")


def lower(visitor: Visitor) -> None:
    visitor.web.users.set_role(visitor.name, Role.VIEWER)


def run_out(visitor: Visitor) -> None:
    """Nobody asks for anything for longer than a session may be idle."""
    sessions, idle_s = visitor.web.people.sessions, visitor.web.settings.session_idle_s
    wait_until(lambda: not sessions.alive(visitor.claim), 2 * idle_s, "the session has run out")


ENDS = [(sign_out, ENDED), (remove, ENDED), (revoke, ENDED), (lower, REFUSED), (run_out, ENDED)]


@pytest.fixture(scope="module")
def brief(pages_redis: RedisServer, pages_feeder: Feeder) -> Iterator[WebServer]:
    """A server whose sessions end after a few idle seconds."""
    server = WebServer(pages_redis.url, session_idle_s=6.0).start()
    yield server
    server.stop()


@pytest.fixture
def visitor(
    brief: WebServer, pages_redis: RedisServer, request: pytest.FixtureRequest
) -> Iterator[Visitor]:
    found = Visitor(brief, pages_redis.url, f"eve{abs(hash(request.node.name))}")
    yield found
    found.close()


@pytest.mark.parametrize(("end", "code"), ENDS)
def test_the_next_message_of_an_ended_session_is_refused(
    visitor: Visitor, end: Callable[[Visitor], None], code: int
) -> None:
    assert "heartbeat_ack" in visitor.beat()
    end(visitor)
    with pytest.raises(ConnectionClosed) as closed:  # what Redis said last counts for a moment
        wait_until(lambda: not visitor.beat(), SOON_S, "it is refused")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code


@pytest.mark.parametrize(("end", "code"), ENDS)
def test_the_feed_of_an_ended_session_stops_by_itself(
    visitor: Visitor, end: Callable[[Visitor], None], code: int
) -> None:
    visitor.follow()
    end(visitor)
    assert visitor.closed() == code


def test_a_session_that_goes_on_keeps_its_socket(visitor: Visitor) -> None:
    sessions = visitor.web.people.sessions
    idle = sessions.begin(visitor.name, "test", "password")[1]

    def outlived() -> bool:
        assert visitor.http("GET", "/session") == 200
        assert "heartbeat_ack" in visitor.beat()
        return not sessions.alive(idle)

    wait_until(outlived, 2 * visitor.web.settings.session_idle_s, "it outlives an idle session")
    assert sessions.alive(visitor.claim)


def test_after_a_change_of_role_a_new_socket_opens_with_the_new_one(visitor: Visitor) -> None:
    visitor.beat()
    lower(visitor)
    with pytest.raises(ConnectionClosed):
        wait_until(lambda: not visitor.beat(), SOON_S, "it is refused")
    visitor.socket = visitor.open()
    assert "heartbeat_ack" in visitor.beat()
    assert visitor.http("PUT", "/api/v1/pause", json={"paused": True}) == 403
    assert visitor.http("POST", CALLBACK_PATH, json={}) == 400  # signed in, but not in form
