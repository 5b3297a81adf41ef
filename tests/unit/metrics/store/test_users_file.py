"""The file of users and tokens."""

import json
import threading

import pytest
from msgspec.structs import replace

from weir.components.web.security.tokens import new_token, token_of
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.metrics.store.users import Role, User, UsersFile


@pytest.fixture
def users(tmp_path):
    return UsersFile(tmp_path / "state" / "users.json")


def test_nobody_at_first_and_no_default_password(users):
    assert users.content().users == {}
    assert users.user("admin") is None
    assert not users.path.exists()


def test_what_is_written_is_for_its_owner_alone(users):
    users.add("ada", Role.ADMIN, 1.0)
    assert users.path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in users.path.parent.iterdir() if "lock" not in p.name] == ["users.json"]


def test_another_process_sees_a_change_at_once(users):
    other = UsersFile(users.path)
    users.add("ada", Role.VIEWER, 1.0)
    assert other.user("ada").role is Role.VIEWER
    users.set_role("ada", Role.VIEWER)
    users.add("eve", Role.ADMIN, 1.0)
    users.set_role("ada", Role.APPROVER)
    assert other.user("ada").role is Role.APPROVER
    users.remove("ada")
    assert other.user("ada") is None


def test_the_key_is_made_once_however_many_ask(users):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(UsersFile(users.path).key())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(found[0]) == 32
    users.add("ada", Role.ADMIN, 1.0)
    assert UsersFile(users.path).key() == found[0]


def test_writers_at_the_same_time_lose_nothing(users):
    names = [f"user{i}" for i in range(12)]
    threads = [
        threading.Thread(target=UsersFile(users.path).add, args=(n, Role.VIEWER, 1.0))
        for n in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(users.content().users) == set(names)


@pytest.mark.parametrize("name", ["", "two words", "a/b", "../x", "x" * 65, "a\nb", "-x", "é"])
def test_names_that_could_be_mistaken_are_refused(users, name):
    with pytest.raises(InvalidInput):
        users.add(name, Role.VIEWER, 1.0)


@pytest.mark.parametrize("name", ["engine", "ENGINE", "rollback", "nobody", "page"])
def test_weirs_own_names_are_reserved(users, name):
    with pytest.raises(InvalidInput, match="Weir uses for itself"):
        users.add(name, Role.VIEWER, 1.0)
    old = User(name=name, role=Role.ADMIN, created_at=1.0)
    users._change(lambda content: replace(content, users={name: old}))
    assert users.user(name) is None  # even if the file has one from before


def test_the_last_admin_stays(users):
    users.add("ada", Role.ADMIN, 1.0)
    with pytest.raises(Refused, match="last admin"):
        users.remove("ada")
    with pytest.raises(Refused, match="last admin"):
        users.set_role("ada", Role.VIEWER)
    users.add("eve", Role.ADMIN, 1.0)
    users.remove("ada")
    assert set(users.content().users) == {"eve"}


def test_twice_and_unknown(users):
    users.add("ada", Role.VIEWER, 1.0)
    with pytest.raises(Refused, match="already"):
        users.add("ada", Role.ADMIN, 2.0)
    for change in (users.remove, lambda n: users.set_role(n, Role.ADMIN)):
        with pytest.raises(NotFound):
            change("bob")
    with pytest.raises(NotFound):
        users.revoke_token("none")


def test_a_file_that_cannot_be_read_lets_nobody_in(users):
    users.path.parent.mkdir(parents=True)
    users.path.write_text("{broken")
    with pytest.raises(Unavailable, match="cannot be read"):
        users.content()
    users.path.write_text(json.dumps({"users": {"eve": {"name": "eve", "role": "king"}}}))
    with pytest.raises(Unavailable):
        users.user("eve")


def test_tokens_are_kept_as_hashes_and_can_be_revoked(users):
    text, kept = new_token("ci", Role.APPROVER, now=100.0, days=1)
    users.add_token(kept)
    assert text not in users.path.read_text()
    assert text.split("_", 2)[2] not in users.path.read_text()
    assert token_of(text, users.content(), 200.0) == kept
    assert token_of(text, users.content(), 100.0 + 86400) is None
    for wrong in (text + "x", text[:-1], text.upper(), "", "weir", "weir__", f"weir_{kept.id}_"):
        assert token_of(wrong, users.content(), 200.0) is None
    users.revoke_token(kept.id)
    assert token_of(text, users.content(), 200.0) is None
