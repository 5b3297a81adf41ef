"""`weir user` and `weir token`, as typed."""

import time

import pytest
from typer.testing import CliRunner

from weir.commands.user import token, user
from weir.components.web.security.passwords import fits
from weir.components.web.security.tokens import token_of
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.metrics.store.users import Role, UsersFile

PASSWORD = "correct horse battery staple"
NOWHERE = "redis://127.0.0.1:1/0"  # nobody listens there
NO_ENTRY = "Redis cannot be reached, so the audit trail has no entry of this.\n"


@pytest.fixture
def users(tmp_path):
    return UsersFile(tmp_path / "users.json")


@pytest.fixture
def typed(users):
    def run(app, *args, password=""):
        where = ["--users", str(users.path)]
        if args[0] != "list":
            where += ["--redis", NOWHERE]
        return CliRunner().invoke(app, [*args, *where], input=password)

    return run


def test_a_password_comes_from_a_pipe_and_is_kept_as_a_hash(typed, users):
    done = typed(user, "add", "ada", "--role", "admin", password=PASSWORD + "\n")
    assert done.exit_code == 0, done.output
    assert done.stdout == "ada is a user now, as admin.\n"
    assert done.stderr == NO_ENTRY
    assert fits(PASSWORD, users.user("ada").password)
    assert PASSWORD not in users.path.read_text()
    assert "ada" in typed(user, "list").output
    assert "argon" not in typed(user, "list").output


@pytest.mark.parametrize("weak", ["", "short", "ada12345678", "aaaaaaaaaaaaaaa"])
def test_weak_passwords_are_refused_and_nobody_is_added(typed, users, weak):
    done = typed(user, "add", "ada", password=weak + "\n")
    assert isinstance(done.exception, InvalidInput)
    assert users.user("ada") is None


def test_a_password_is_never_an_argument(typed):
    assert typed(user, "add", "ada", "--password", PASSWORD).exit_code == 2
    assert typed(user, "passwd", "ada", PASSWORD).exit_code == 2


def test_roles_passwords_and_removal(typed, users):
    users.add("ada", Role.ADMIN, 0.0)
    users.add("bob", Role.VIEWER, 0.0)
    done = typed(user, "role", "bob", "approver")
    assert (done.stdout, done.stderr) == ("bob is approver now.\n", NO_ENTRY)
    assert users.user("bob").role is Role.APPROVER
    assert typed(user, "passwd", "bob", password=PASSWORD + "\n").exit_code == 0
    assert fits(PASSWORD, users.user("bob").password)
    assert users.user("bob").valid_from > time.time() - 60  # earlier sessions are over
    assert typed(user, "remove", "bob").exit_code == 0
    assert users.user("bob") is None
    assert isinstance(typed(user, "remove", "bob").exception, NotFound)
    assert typed(user, "role", "ada", "king").exit_code == 2


def test_tokens_are_shown_once(typed, users):
    made = typed(token, "add", "ci", "--role", "approver", "--days", "30")
    text = made.stdout.strip()
    assert made.stderr == NO_ENTRY
    kept = token_of(text, users.content(), time.time())
    assert (kept.name, kept.role) == ("ci", Role.APPROVER)
    assert text not in users.path.read_text()
    listed = typed(token, "list").output
    assert kept.id in listed
    assert text not in listed
    assert typed(token, "revoke", kept.id).stdout == "ci is revoked.\n"
    assert token_of(text, users.content(), time.time()) is None
