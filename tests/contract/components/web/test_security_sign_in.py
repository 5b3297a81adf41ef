"""The rules of sign-in against a real Redis: lock-out, links, sessions."""

from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from weir.components.pages.sign_in.service import USED, WRONG, Locked, SignIn, admin_link
from weir.components.web.security import lockout
from weir.components.web.security.events import SecurityEvent, set_sink
from weir.components.web.security.passwords import hash_password
from weir.components.web.security.sessions import Sessions
from weir.components.web.security.settings import SignInSettings
from weir.controllers.model.errors import InvalidInput, Refused
from weir.metrics.store.redis_store import connect
from weir.metrics.store.users import Role, UsersFile
from weir.pipeline.local.redis_server import RedisServer

PASSWORD = "correct horse battery staple"
KEPT = hash_password(PASSWORD)


class Clock:
    """Time in the test's hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people(pages_redis: RedisServer, tmp_path: Path, clock: Clock) -> SignIn:
    client = connect(pages_redis.url)
    client.flushdb()
    settings = SignInSettings(users=str(tmp_path / "users.json"))
    users = UsersFile(settings.users)
    users.add("ada", Role.APPROVER, 0.0, KEPT)
    return SignIn(client, users, settings, clock)


def fail(people: SignIn, name: str = "ada", address: str = "1.1.1.1") -> None:
    with pytest.raises(Refused, match=WRONG):
        people.by_password(name, "wrong", address)


def wait_s(people: SignIn, name: str = "ada", address: str = "1.1.1.1") -> int:
    with pytest.raises(Locked) as refused:
        people.by_password(name, PASSWORD, address)
    return refused.value.wait_s


def test_the_lock_grows_with_every_failure_and_success_clears_it(people, clock):
    for _ in range(5):
        fail(people)
    assert wait_s(people) == 30
    clock.now += 31
    fail(people)
    assert wait_s(people) == 60
    clock.now += 61
    fail(people)
    assert wait_s(people, address="2.2.2.2") == 120  # the name is locked from everywhere
    clock.now += 121
    assert people.by_password("ada", PASSWORD, "1.1.1.1").user.name == "ada"
    for _ in range(4):
        fail(people)
    assert people.by_password("ada", PASSWORD, "1.1.1.1")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda client, key: client.rpush(key, "x"),
        lambda client, key: client.hset(key, mapping={"count": "x"}),
        lambda client, key: client.hset(key, mapping={"until": "inf"}),
        lambda client, key: client.hset(key, mapping={"until": "x", "count": str(2**63 - 1)}),
    ],
)
@pytest.mark.parametrize(("kind", "name"), [("user", "ada"), ("address", "1.1.1.1")])
def test_counts_that_cannot_be_read_keep_nobody_out(people, pages_redis, spoil, kind, name):
    spoil(connect(pages_redis.url), lockout._key(kind, name))
    fail(people)
    assert people.by_password("ada", PASSWORD, "1.1.1.1").user.name == "ada"


def test_nobody_is_locked_out_by_failing_with_their_name_elsewhere(people):
    assert people.by_password("ada", PASSWORD, "1.1.1.1")
    for _ in range(5):
        fail(people, address="6.6.6.6")
    assert wait_s(people, address="7.7.7.7") == 30
    assert people.by_password("ada", PASSWORD, "1.1.1.1").user.name == "ada"
    for _ in range(5):
        fail(people)
    assert wait_s(people) == 30  # what fails where they sign in still counts


def test_only_the_beginning_of_a_lock_stands_in_the_trail(people, clock):
    """However often somebody tries: the trail keeps only so much, and must not be washed away."""
    kept: list[SecurityEvent] = []
    set_sink(kept.append)
    try:
        for _ in range(5):
            fail(people)
        for number in range(50):
            wait_s(people, address=f"9.9.9.{number}")
        clock.now += 31
        fail(people)
        for number in range(50):
            wait_s(people, address=f"9.9.9.{number}")
        for number in range(20):
            fail(people, f"user{number}", "3.3.3.3")
        for _ in range(50):
            wait_s(people, address="3.3.3.3")
            with pytest.raises(Locked):
                people.by_link("x", "3.3.3.3")
        with pytest.raises(Refused, match=USED.split(",")[0]):
            people.by_link("x", "2.2.2.2")
    finally:
        set_sink(None)
    assert [(e.action, e.by, e.subject, e.detail) for e in kept] == [
        ("sign_in.locked", "nobody", "ada", "for 30 s"),
        ("sign_in.locked", "nobody", "ada", "for 60 s"),
        ("sign_in.locked", "nobody", "an unknown name", "for 30 s"),
    ]


def test_a_right_password_begins_no_lock(people):
    kept: list[SecurityEvent] = []
    set_sink(kept.append)
    try:
        for _ in range(4):
            fail(people)
        people.by_password("ada", PASSWORD, "1.1.1.1")
    finally:
        set_sink(None)
    assert [e.action for e in kept] == ["sign_in.ok"]


def test_the_longest_lock_is_an_hour(people, clock):
    for _ in range(14):
        fail(people)
        clock.now += 3601
    for _ in range(1):
        fail(people)
    assert wait_s(people) == 3600


def test_an_address_that_tries_many_names_is_locked(people):
    for number in range(20):
        fail(people, f"user{number}")
    assert wait_s(people) == 30
    assert people.by_password("ada", PASSWORD, "2.2.2.2")


def test_unknown_names_look_like_known_ones(people):
    """The same sentence, the same lock; a user without a password is no way in."""
    people.users.add("grace", Role.ADMIN, 0.0)
    for name in ("nobody", "grace"):
        for _ in range(5):
            fail(people, name)
        assert wait_s(people, name) == 30
    with pytest.raises(Refused, match=WRONG):
        people.by_password("grace2", "", "3.3.3.3")


def test_a_link_opens_once_and_not_for_ever(people, pages_redis):
    secret = people.link("ada", "test", "").split("=")[1]
    assert people.by_link(secret, "").user.name == "ada"
    with pytest.raises(Refused, match="used already"):
        people.by_link(secret, "")
    for wrong in ("", "x", secret[:-1]):
        with pytest.raises(Refused, match=USED.split(",")[0]):
            people.by_link(wrong, "")
    client = connect(pages_redis.url)
    people.link("ada", "test", "")
    left_ms = [client.pttl(k) for k in client.scan_iter("weir:link:*")]
    assert [0 < ms <= 86_400_000 for ms in left_ms] == [True]


def test_the_first_link_makes_the_first_admin(people, tmp_path):
    people.users = UsersFile(tmp_path / "none-yet.json")
    people.sessions._users = people.users
    secret = admin_link(people, "command line: ada").split("=")[1]
    assert people.users.content().users == {}  # not before it is used
    opened = people.by_link(secret, "")
    assert (opened.user.name, opened.user.role) == ("admin", Role.ADMIN)
    assert people.users.user("admin").password == ""
    assert people.sessions.claim(opened.cookie) == opened.claim


def test_a_link_for_somebody_who_was_removed_opens_nothing(people):
    people.users.add("eve", Role.VIEWER, 0.0)
    secret = people.link("eve", "test", "").split("=")[1]
    people.users.remove("eve")
    with pytest.raises(Refused):
        people.by_link(secret, "")


def secret_of(link: str) -> str:
    return link.split("=")[1]


@pytest.mark.parametrize("how", ["use", "end", "password", "typed", "remove"])
def test_a_link_ends_with_the_sessions_of_its_user(people, clock, how):
    used, other = (secret_of(people.link("ada", "test", "")) for _ in range(2))
    people.users.add("grace", Role.ADMIN, 0.0)
    hers = secret_of(people.link("grace", "test", ""))
    clock.now += 1
    match how:
        case "use":
            people.by_link(used, "")
        case "end":
            people.end_all("ada", "test", "")
        case "password":
            opened = people.by_password("ada", PASSWORD, "")
            people.change_password("ada", opened.claim.hash, PASSWORD, "another long secret", "")
        case "typed":  # at a terminal that does not reach Redis
            people.users.set_password("ada", KEPT, clock.now)
        case "remove":
            people.users.remove("ada")
            people.users.add("ada", Role.ADMIN, clock.now)
    with pytest.raises(Refused, match=USED.split(",")[0]):
        people.by_link(other, "")
    assert people.by_link(hers, "").user.name == "grace"


def test_who_is_added_again_does_not_get_the_old_sessions_back(people, clock):
    old = people.by_password("ada", PASSWORD, "")
    people.users.add("grace", Role.ADMIN, 0.0)
    people.users.remove("ada")
    clock.now += 1
    people.users.add("ada", Role.ADMIN, clock.now, KEPT)
    assert people.sessions.claim(old.cookie) is None
    assert people.by_password("ada", PASSWORD, "").user.role is Role.ADMIN


def test_the_first_admins_link_makes_no_second_admin(people):
    users = people.users
    users.remove("ada")
    first, again = (secret_of(admin_link(people, "test")) for _ in range(2))
    assert people.by_link(first, "").user.name == "admin"
    users.add("grace", Role.ADMIN, 0.0)
    users.remove("admin")
    left = secret_of(people.link("admin", "test", "", Role.ADMIN))
    for secret in (again, left):
        with pytest.raises(Refused):
            people.by_link(secret, "")
    assert users.user("admin") is None


def test_idle_sessions_end_and_busy_ones_go_on(people, pages_redis):
    settings = SignInSettings(users=str(people.users.path), session_idle_s=3.0)
    sessions = Sessions(connect(pages_redis.url), people.users, settings)
    _, idle = sessions.begin("ada", "", "password")
    _, busy = sessions.begin("ada", "", "password")

    def outlived() -> bool:
        sessions.touch(busy)
        return not sessions.alive(idle)

    wait_until(outlived, 10, "the idle one ends")
    assert sessions.alive(busy)


def test_every_sign_in_is_a_new_session_and_all_can_be_ended(people, clock):
    first = people.by_password("ada", PASSWORD, "1.1.1.1")
    second = people.by_password("ada", PASSWORD, "2.2.2.2")
    assert first.claim.id != second.claim.id
    assert {s.address for s in people.sessions.of("ada")} == {"1.1.1.1", "2.2.2.2"}
    clock.now += 1
    assert people.end_all("ada", "test", "") == 2
    for opened in (first, second):
        assert not people.sessions.alive(opened.claim)
        assert people.sessions.claim(opened.cookie) is None
    assert people.sessions.of("ada") == []


def test_a_new_password_wants_the_old_one_unless_a_link_was_used(people, clock):
    opened = people.by_password("ada", PASSWORD, "")
    new = "another long secret"
    with pytest.raises(InvalidInput, match="current password"):
        people.change_password("ada", opened.claim.hash, "wrong", new, "")
    with pytest.raises(InvalidInput, match="at least 12"):
        people.change_password("ada", opened.claim.hash, PASSWORD, "short", "")
    clock.now += 1
    again = people.change_password("ada", opened.claim.hash, PASSWORD, new, "")
    assert people.sessions.claim(opened.cookie) is None  # the others end
    assert people.sessions.claim(again.cookie) is not None
    by_link = people.by_link(people.link("ada", "test", "").split("=")[1], "")
    clock.now += 1
    people.change_password("ada", by_link.claim.hash, "", PASSWORD, "")
    assert people.by_password("ada", PASSWORD, "")
