"""The middleware, the gate and the role checks, without Redis."""

import json
import logging
import threading
from typing import Any

import pytest

from tests.support.loops import run
from weir.components.web.security import NOBODY, NotAllowed, Person, Role, acting_as, require
from weir.components.web.security.events import (
    REFUSALS_KEPT,
    Background,
    SecurityEvent,
    record,
    set_sink,
)
from weir.components.web.security.gate import Gate
from weir.components.web.security.middleware import Security
from weir.components.web.security.passwords import check_password, fits, hash_password
from weir.components.web.security.sessions import Sessions
from weir.components.web.security.settings import SignInSettings, from_env, to_env
from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.users import UsersFile


class Records:
    """The records of sessions, in memory; can be away."""

    def __init__(self):
        self.there, self.away, self.asked = set(), False, 0

    def exists(self, key):
        self.asked += 1
        if self.away:
            raise ConnectionError("Redis is away")
        return key in self.there

    def pexpire(self, key, ms):
        return False


@pytest.fixture
def door(tmp_path):
    return Door(tmp_path)


class Door:
    """A gate whose clock and records are in the test's hand."""

    def __init__(self, folder, **settings):
        self.now = 1000.0
        self.settings = SignInSettings(users=str(folder / "users.json"), **settings)
        self.users = UsersFile(self.settings.users)
        self.users.add("ada", Role.APPROVER, 0.0)
        self.records = Records()
        clock = lambda: self.now  # noqa: E731
        self.sessions = Sessions(self.records, self.users, self.settings, clock)
        self.gate = Gate(self.sessions, self.users, self.settings, "weir-test", clock)
        self.seen = []
        self.app = Security(self._app, script_hashes=[], gate=self.gate)

    async def _app(self, scope, receive, send):
        from weir.components.web.security import current_user

        self.seen.append(current_user())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    def cookie(self, user="ada"):
        claim_id = f"id-{user}-{self.now}"
        value = self.sessions._signer().dumps([claim_id, user, self.now])
        claim = self.sessions.claim(value)
        if claim is not None:
            self.records.there.add(f"weir:session:{claim.hash}")
        return f"weir-test={value}", claim

    def ask(self, method="GET", path="/api/v1/x", peer="10.0.0.9", **headers):
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b""}

        named = {"host": "localhost:1", **{k.replace("_", "-"): v for k, v in headers.items()}}
        scope = {
            "type": "http", "method": method, "path": path, "client": (peer, 1),
            "headers": [(k.encode(), v.encode()) for k, v in named.items()],
        }  # fmt: skip
        run(self.app(scope, receive, send))
        return sent[0]["status"]


def test_a_session_is_let_in_and_named(door):
    cookie, _ = door.cookie()
    assert door.ask(cookie=cookie) == 200
    assert door.seen[0].name == "ada"
    assert door.seen[0].role is Role.APPROVER
    assert door.seen[0].address == "10.0.0.9"


def test_nobody_is_not(door):
    assert door.ask() == 401
    assert door.ask(accept="text/html") == 303
    assert door.ask(path="/health") == 200
    assert door.seen == [Person(address="10.0.0.9")]


def test_sessions_end_by_age_revocation_and_removal(door):
    cookie, _claim = door.cookie()
    door.now += door.settings.session_max_s - 1
    assert door.ask(cookie=cookie) == 200
    door.now += 1
    assert door.ask(cookie=cookie) == 401
    cookie, _claim = door.cookie()
    assert door.ask(cookie=cookie) == 200
    door.users.revoke_sessions("ada", door.now + 1)
    assert door.ask(cookie=cookie) == 401
    door.now += 2
    cookie, _claim = door.cookie()
    door.records.there.clear()
    assert door.ask(cookie=cookie) == 401
    cookie, _ = door.cookie("nobody")
    assert door.ask(cookie=cookie) == 401


def test_what_has_ended_stays_ended_while_redis_is_away(door):
    good, _ = door.cookie()
    door.now += 1
    ended, claim = door.cookie()
    door.records.there.discard(f"weir:session:{claim.hash}")
    assert door.ask(cookie=ended) == 401
    door.records.away = True
    door.now += 5
    assert door.ask(cookie=ended) == 401
    assert door.ask(cookie=good) == 200  # the signature is good, and people may read


def test_redis_is_asked_once_a_second_for_looking_and_always_for_acting(door):
    cookie, claim = door.cookie()
    for _ in range(5):
        door.ask(cookie=cookie)
    assert door.records.asked == 1
    door.records.there.clear()
    token = door.sessions.csrf(claim)
    assert door.ask("POST", cookie=cookie, x_csrftoken=token) == 401


def test_csrf(door):
    cookie, claim = door.cookie()
    door.now += 1
    _, other = door.cookie()
    token = door.sessions.csrf(claim)
    assert door.ask("POST", cookie=cookie) == 403
    assert door.ask("POST", cookie=cookie, x_csrftoken=door.sessions.csrf(other)) == 403
    assert door.ask("POST", cookie=cookie, x_csrftoken=token) == 200
    assert door.ask("POST", cookie=cookie, x_csrftoken=token, origin="http://evil") == 403


def test_a_proxys_header_counts_only_from_the_proxy(tmp_path):
    door = Door(tmp_path, trust_header="X-User", trusted_proxies="10.0.0.0/24, ::1")
    assert door.ask(peer="10.0.0.1", x_user="ada") == 200
    assert door.ask(peer="10.0.1.1", x_user="ada") == 401
    assert door.ask(peer="10.0.0.1", x_user="stranger") == 401
    assert door.ask(peer="10.0.0.1", x_user="ada,eve") == 401
    assert door.ask("POST", peer="10.0.0.1", x_user="ada") == 403  # CSRF holds here too
    token = door.sessions.csrf_of_header("ada")
    assert door.ask("POST", peer="10.0.0.1", x_user="ada", x_csrftoken=token) == 200
    door.ask(peer="10.0.0.1", x_user="ada", x_forwarded_for="1.1.1.1, 7.7.7.7, 10.0.0.4")
    assert door.seen[-1].address == "7.7.7.7"


def test_a_proxys_strangers_may_have_a_role(tmp_path):
    door = Door(tmp_path, trust_header="X-User", trusted_proxies="10.0.0.1", trust_role="viewer")
    assert door.ask(peer="10.0.0.1", x_user="stranger") == 200
    assert door.seen[-1].role is Role.VIEWER


def test_a_header_without_proxies_is_refused_at_the_start():
    with pytest.raises(InvalidInput, match="--trusted-proxy"):
        SignInSettings(trust_header="X-User")
    with pytest.raises(InvalidInput):
        SignInSettings(trusted_proxies="everywhere")
    with pytest.raises(InvalidInput):
        SignInSettings(trust_role="king")


def test_settings_travel_by_environment():
    settings = SignInSettings(users="/x", trust_header="H", trusted_proxies="::1", lock_s=3.0)
    assert from_env(to_env(settings)) == settings


def test_roles():
    @require(Role.APPROVER)
    async def act():
        return "done"

    @require(Role.APPROVER)
    def act_now():
        return "done"

    async def as_(person):
        acting_as(person)
        return await act(), act_now()

    for role in (Role.APPROVER, Role.ADMIN):
        assert run(as_(Person(name="ada", role=role))) == ("done", "done")
    for person in (NOBODY, Person(name="ada", role=Role.VIEWER)):
        with pytest.raises(NotAllowed, match="needs the role approver"):
            run(as_(person))


def test_passwords():
    kept = hash_password("correct horse battery staple")
    assert kept.startswith("$argon2id$")
    assert fits("correct horse battery staple", kept)
    assert not fits("correct horse battery stapl", kept)
    assert not fits("", "")
    assert not fits("x", "not a hash")
    for weak in ("short", "a" * 20, "passwordpassword", "adaadaadaada1", "x" * 300):
        with pytest.raises(InvalidInput):
            check_password(weak, "ada")


def test_one_event_is_one_line_and_reaches_the_trail(caplog):
    caplog.set_level(logging.INFO, "weir.security")
    kept: list[Any] = []
    set_sink(kept.append)
    event = SecurityEvent(at=1.0, by="eve\nroot", action="sign_in.ok", subject="x" * 500)
    record(event)
    for action in ("session.missing", "sign_in.failed", "sign_in.too_early", "link.refused"):
        record(SecurityEvent(at=1.0, by="nobody", action=action))
    set_sink(None)
    assert kept == [event]  # strangers cannot fill the trail
    assert "\n" not in caplog.messages[0]
    assert len(caplog.messages[0]) < 300


def test_a_trail_that_fails_does_not_close_the_door(caplog):
    def broken(event):
        raise OSError("no disk")

    done = Background(broken, waiting_most=1)
    for _ in range(3):
        done(SecurityEvent(at=1.0, by="ada", action="sign_out"))
        done._worker.submit(int).result()  # what was handed on before is done
    assert caplog.text.count("the audit trail did not take sign_out") == 3


def test_what_a_slow_trail_cannot_take_is_dropped_and_counted():
    kept, go = [], threading.Event()

    def slow(event):
        go.wait(10)
        kept.append(event)

    done = Background(slow, waiting_most=3)
    for number in range(10):
        done(SecurityEvent(at=1.0, by="ada", action="sign_out", subject=str(number)))
    go.set()
    done._worker.submit(int).result()
    done(SecurityEvent(at=1.0, by="ada", action="sign_in.ok", detail="by link"))
    done._worker.shutdown()
    assert [e.subject for e in kept[:-1]] == ["0", "1", "2"]
    assert kept[-1].detail == "by link; 7 before it were too many to keep"


@pytest.mark.parametrize("action", ["role.refused", "csrf.refused", "sign_in.locked"])
def test_refusals_cannot_push_everything_else_out_of_the_trail(action):
    kept: list[Any] = []
    done = Background(kept.append, waiting_most=10_000)
    for _ in range(1000):
        done(SecurityEvent(at=7200.0, by="eve", action=action))
    done(SecurityEvent(at=7201.0, by="ada", action=action))
    done(SecurityEvent(at=7202.0, by="eve", action="sign_out"))
    done(SecurityEvent(at=10_800.0, by="eve", action=action))  # the next hour
    done._worker.shutdown()
    assert [e.by for e in kept] == ["eve"] * REFUSALS_KEPT + ["ada", "eve", "eve"]
    assert kept[REFUSALS_KEPT].detail == f"{1000 - REFUSALS_KEPT} before it were too many to keep"


def test_weirs_own_names_are_nobodys(tmp_path):
    door = Door(tmp_path, trust_header="X-User", trusted_proxies="10.0.0.1", trust_role="admin")
    assert door.ask(peer="10.0.0.1", x_user="grace") == 200
    for name in ("engine", "Engine", "nobody", "rollback", "page"):
        assert door.ask(peer="10.0.0.1", x_user=name) == 401


def test_who_is_added_again_is_somebody_else(door):
    cookie, _ = door.cookie()
    assert door.ask(cookie=cookie) == 200
    door.users.add("grace", Role.ADMIN, 0.0)
    door.users.remove("ada")
    door.now += 10
    door.users.add("ada", Role.ADMIN, door.now)
    assert door.ask(cookie=cookie) == 401
    cookie, _ = door.cookie()
    assert door.ask(cookie=cookie) == 200


def test_refusals_are_json_with_one_sentence(door):
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.disconnect"}

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "GET", "path": "/api/v1/x", "headers": headers}
    run(door.app(scope, receive, send))
    assert json.loads(sent[1]["body"]) == {"error": "Sign in first."}
    assert dict(sent[0]["headers"])[b"www-authenticate"] == b"Bearer"
