"""Whoever can write to Redis cannot sign in with it."""

import hashlib
import json
from pathlib import Path

import pytest

from weir.components.pages.sign_in.service import SignIn, admin_link
from weir.components.web.security.settings import SignInSettings
from weir.controllers.model.errors import Refused
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.metrics.store.users import Role, UsersFile
from weir.pipeline.local.redis_server import RedisServer

SECRET = "chosen by whoever can write to Redis"


@pytest.fixture
def people(pages_redis: RedisServer, tmp_path: Path) -> SignIn:
    client = connect(pages_redis.url)
    client.flushdb()
    settings = SignInSettings(users=str(tmp_path / "users.json"))
    return SignIn(client, UsersFile(settings.users), settings)


def planted(people: SignIn, value: str | bytes) -> str:
    """A link of one's own, put where Weir keeps its own."""
    people._client.set(keys.link(hashlib.sha256(SECRET.encode()).hexdigest()), value)
    return SECRET


@pytest.mark.parametrize("role", ["admin", None])
def test_a_planted_link_signs_nobody_in(people: SignIn, role: str | None) -> None:
    if role is None:
        people.users.add("admin", Role.ADMIN, 0.0)
    invitation = {"user": "admin", "role": role, "at": 1e12, "expires_at": 1e12}
    for value in (json.dumps(invitation), ":" + json.dumps(invitation)):
        with pytest.raises(Refused):
            people.by_link(planted(people, value), "")
    if role is not None:
        assert not people.users.content().users


def test_a_link_of_somebody_cannot_be_made_one_of_another(people: SignIn) -> None:
    people.users.add("admin", Role.ADMIN, 0.0)
    people.users.add("eve", Role.VIEWER, 0.0)
    hers = people.link("eve", "test", "").split("=")[1]
    (key,) = people._client.scan_iter("weir:link:*")
    signature, _, data = people._client.get(key).partition(b":")
    people._client.set(key, signature + b":" + data.replace(b"eve", b"admin"))
    with pytest.raises(Refused):
        people.by_link(hers, "")
    # Nor does the admin's own fit under a secret that somebody else knows.
    admins = admin_link(people, "test")
    (key,) = people._client.scan_iter("weir:link:*")
    with pytest.raises(Refused):
        people.by_link(planted(people, people._client.get(key)), "")
    assert people.by_link(admins.split("=")[1], "").user.name == "admin"


def test_a_session_by_password_is_not_made_one_by_link(people: SignIn) -> None:
    """One by link may set a password without knowing the present one."""
    ada = people.users.add("ada", Role.ADMIN, 0.0, password="kept")
    _, claim = people.sessions.begin("ada", "", "password")
    _, linked = people.sessions.begin("ada", "", "link")
    assert not people.needs_old(ada, linked.hash)
    record = keys.session(claim.hash)
    people._client.hset(record, "how", "link")
    assert people.needs_old(ada, claim.hash)
    signature = people._client.hget(keys.session(linked.hash), "signature")
    people._client.hset(record, "signature", signature)
    assert people.needs_old(ada, claim.hash)
