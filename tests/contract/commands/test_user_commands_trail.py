"""What `weir user` and `weir token` change stands in the audit trail of a real Redis."""

import getpass
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from weir.commands.recommendations import audit
from weir.commands.user import token, user
from weir.components.pages.sign_in.service import SignIn
from weir.components.web.security.settings import SignInSettings
from weir.controllers.engine.audit import AuditEntry, first_break
from weir.controllers.model.errors import NotFound
from weir.metrics.store import keys
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.users import Role, UsersFile
from weir.pipeline.local.redis_server import RedisServer

PASSWORD = "correct horse battery staple"


@pytest.fixture
def users(tmp_path: Path) -> UsersFile:
    return UsersFile(tmp_path / "users.json")


def trail(redis_server: RedisServer) -> list[AuditEntry]:
    return RedisStore.at(redis_server.url).audit_since(0)


def test_every_change_of_who_may_act_has_its_entry(
    redis_server: RedisServer, users: UsersFile
) -> None:
    RedisStore.at(redis_server.url).client.flushall()

    def typed(app: object, *args: str) -> str:
        where = ["--users", str(users.path), "--redis", redis_server.url]
        done = CliRunner().invoke(app, [*args, *where], input=PASSWORD + "\n")
        if done.exception is not None:
            raise done.exception
        assert done.stderr == ""
        return done.stdout

    typed(user, "link", "admin")
    typed(user, "add", "ada", "--role", "admin")
    typed(user, "add", "bob", "--link")
    typed(user, "role", "bob", "approver")
    typed(user, "passwd", "bob")
    link = typed(user, "link", "bob")
    text = typed(token, "add", "ci", "--role", "approver").strip()
    kept = next(iter(users.content().tokens.values()))
    typed(token, "revoke", kept.id)
    typed(user, "remove", "bob")
    with pytest.raises(NotFound):
        typed(user, "remove", "bob")

    found = trail(redis_server)
    assert [(e.action, e.subject, e.detail) for e in found] == [
        ("link.made", "admin", ""),
        ("user.added", "ada", "admin"),
        ("user.added", "bob", "viewer"),
        ("link.made", "bob", ""),
        ("user.role", "bob", "approver"),
        ("password.changed", "bob", ""),
        ("link.made", "bob", ""),
        ("token.made", "ci", "approver"),
        ("token.revoked", "ci", ""),
        ("user.removed", "bob", ""),
    ]
    assert {e.by for e in found} == {f"command line: {getpass.getuser()}"}
    assert first_break(found) is None
    said = repr(found)
    assert PASSWORD not in said
    assert text not in said
    assert link.strip().rsplit("=", 1)[1] not in said


def test_who_is_removed_leaves_no_session_and_no_link_behind(
    redis_server: RedisServer, users: UsersFile
) -> None:
    client = RedisStore.at(redis_server.url).client
    client.flushall()
    people = SignIn(client, users, SignInSettings(users=str(users.path)))
    for name, role in (("ada", Role.ADMIN), ("bob", Role.VIEWER)):
        users.add(name, role, time.time())
        people.sessions.begin(name, "here", "link")
        people.link(name, "test", "")
    where = ["--users", str(users.path), "--redis", redis_server.url]
    for words in (["remove", "bob"], ["passwd", "ada"]):
        done = CliRunner().invoke(user, [*words, *where], input=PASSWORD + "\n")
        assert (done.exit_code, done.stderr) == (0, "")
        left = {*client.scan_iter("weir:session*"), *client.scan_iter("weir:link*")}
        assert len(left) == (4 if words[1] == "bob" else 0), left


def test_the_terminal_remembers_what_it_verified(
    redis_server: RedisServer, users: UsersFile
) -> None:
    store = RedisStore.at(redis_server.url)
    store.client.flushall()

    def verify(*more: str) -> tuple[int, str]:
        app = typer.Typer()
        app.command()(audit)
        where = ["--verify", "--users", str(users.path), "--redis", redis_server.url]
        done = CliRunner().invoke(app, [*where, *more])
        return done.exit_code, done.stdout + done.stderr

    for _ in range(5):
        store.append_audit(AuditEntry(at=1.0, by="ada", action="mode.changed"))
    assert verify()[1].startswith("5 entries, the chain is whole; checked for the first time")
    code, said = verify()
    assert (code, "entry 5 is the one that was there on" in said) == (0, True)
    store.client.xdel(keys.AUDIT, "5-0")
    code, said = verify()
    assert (code, "there was an entry 5" in said, "add --anew" in said) == (1, True, True)
    store.client.delete(keys.AUDIT)
    store.append_audit(AuditEntry(at=1.0, by="eve", action="mode.changed"))
    assert verify()[0] == 1, "a trail that begins again is not the one that was there"
    assert verify("--anew")[0] == verify()[0] == 0
    for _ in range(3):
        store.append_audit(AuditEntry(at=1.0, by="ada", action="mode.changed"))
    store.client.xtrim(keys.AUDIT, minid="3", approximate=False)
    code, said = verify()
    assert (code, "the entries before 3 are missing" in said) == (1, True)
