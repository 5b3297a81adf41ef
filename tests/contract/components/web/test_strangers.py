"""What somebody who has not signed in can make the web server do: little, and it says little."""

import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.inside import ORIGIN, Inside
from tests.support.waiting import wait_until
from weir.components.pages.sign_in.service import Locked, SignIn
from weir.components.web.app import gunicorn_argv, web_env
from weir.components.web.security import Role
from weir.components.web.security.limits import BODY_MOST_STRANGERS, CALLBACK_PATH
from weir.components.web.security.settings import SignInSettings
from weir.components.web.worker import HEADERS_S
from weir.controllers.model.errors import Refused
from weir.metrics.store.redis_store import connect
from weir.metrics.store.users import UsersFile
from weir.pipeline.local.ports import free_port
from weir.pipeline.local.process import end, spawn
from weir.pipeline.local.redis_server import RedisServer


def test_of_a_stranger_no_body_is_read(inside: Inside) -> None:
    """Neither for what needs a session nor, beyond a password's size, for signing in."""
    taken = 0

    async def endless():
        nonlocal taken
        while True:
            taken += 1 << 16
            yield b"x" * (1 << 16)

    for path, status in (("/api/import/part", 401), (CALLBACK_PATH, 401), ("/sign-in", 413)):
        answer = inside.ask("POST", path, content=endless(), headers={"origin": ORIGIN})
        assert answer.status_code == status, path
    assert taken <= BODY_MOST_STRANGERS + (3 << 16)


def test_health_tells_strangers_no_names(inside: Inside) -> None:
    told = inside.ask("GET", "/health")
    address = inside.redis_url.rpartition("@")[2].partition("/")[0]
    assert address not in told.text
    assert "wide" not in told.text
    assert told.json()["redis"] == {"up": True}
    known = inside.ask("GET", "/health", headers=inside.bearer(Role.VIEWER))
    assert known.json()["redis"]["address"] == address
    assert "wide" in known.json()["clusters"]
    browser, _ = inside.session(Role.VIEWER)
    assert "wide" in inside.ask("GET", "/health", headers=browser).json()["clusters"]


@pytest.mark.parametrize(
    "path", ["dash/nothing.js", "nothing/x.js", "dash/%00.js", "dash/../x", "dash/deps", "dash/"]
)
def test_odd_paths_of_components_are_not_found(inside: Inside, path: str) -> None:
    answer = inside.ask(
        "GET", f"/_dash-component-suites/{path}", headers=inside.bearer(Role.VIEWER)
    )
    assert answer.status_code < 500, answer.text


def test_who_shares_an_address_is_not_kept_out_by_others(
    pages_redis: RedisServer, tmp_path: Path
) -> None:
    from weir.components.web.security.passwords import hash_password

    settings = SignInSettings(users=str(tmp_path / "users.json"))
    people = SignIn(connect(pages_redis.url), UsersFile(settings.users), settings)
    people.users.add("ada", Role.ADMIN, 0.0, hash_password("correct horse battery"))
    people.by_password("ada", "correct horse battery", "10.9.9.9")
    for number in range(40):
        with pytest.raises((Refused, Locked)):
            people.by_password(f"guess{number}", "wrong", "10.9.9.9")
    assert people.by_password("ada", "correct horse battery", "10.9.9.9")
    with pytest.raises(Locked):
        people.by_password("bob", "x", "10.9.9.9")


def test_a_connection_that_never_ends_its_headers_is_ended(
    pages_redis: RedisServer, tmp_path: Path
) -> None:
    port = free_port()
    settings = SignInSettings(users=str(tmp_path / "users.json"))
    web: subprocess.Popen[bytes] = spawn(
        gunicorn_argv("127.0.0.1", port, 1), tmp_path / "web.log",
        web_env(pages_redis.url, sign_in=settings, runs_dir=tmp_path / "runs"),
    )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: _up(address), 60, "the web server answers")
        part = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Never: "
        connections = [socket.create_connection(("127.0.0.1", port), HEADERS_S * 20) for _ in "12"]
        with connections[0] as half, connections[1] as slow:
            half.sendall(part)
            slow.sendall(part)
            assert _up(address), "others are served meanwhile"
            slow.sendall(b"x\r\n\r\n")
            assert slow.recv(1000).startswith(b"HTTP/1.1 "), "who is merely slow has some time"
            assert half.recv(1000) == b""
    finally:
        end(web)


def _up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", timeout=60).status_code == 200
    except httpx.TransportError:
        return False
