"""Who may use Weir: users and tokens in one file, readable by its owner alone.

The file also holds the key that signs sessions, so all web processes and every restart
share it. Writes are atomic and made under a lock; readers look at the file's stamp and
read it again when it has changed, so a change holds everywhere at once. Passwords and
tokens are kept as hashes; neither can be read back.

    {"version": 1, "key": "...", "users": {"ada": {...}}, "tokens": {"4f0c...": {...}}}
"""

import contextlib
import fcntl
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.errors import UNREADABLE, InvalidInput, NotFound, Refused, Unavailable
from weir.metrics.files import replace_private_file

DEFAULT = "users.json"
RESERVED = frozenset({"engine", "nobody", "rollback", "page", "weir"})
"""Names that stand for Weir itself in recommendations and in the audit trail."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class Role(StrEnum):
    """What a person may do; each may also do what the ones before may.

    >>> Role.ADMIN.may(Role.APPROVER), Role.VIEWER.may(Role.APPROVER)
    (True, False)
    """

    VIEWER = "viewer"  # look
    APPROVER = "approver"  # approve, act
    ADMIN = "admin"  # modes, settings, users

    def may(self, needed: "Role") -> bool:
        """Whether this role is enough."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class User(Struct, frozen=True, kw_only=True):
    """One person."""

    name: str
    role: Role
    created_at: float
    password: str = ""  # an argon2 hash; empty: signs in by a link or through a proxy
    valid_from: float = 0.0  # sessions that began before are over


class Token(Struct, frozen=True, kw_only=True):
    """One program's access to the HTTP API."""

    id: str
    name: str
    role: Role
    secret_sha256: str
    created_at: float
    expires_at: float | None = None
    by: str = ""


class Content(Struct, frozen=True, kw_only=True):
    """All that stands in the file."""

    version: int = 1
    key: str = ""
    users: Mapping[str, User] = {}
    tokens: Mapping[str, Token] = {}


def check_name(name: str) -> str:
    """A name as it may stand in a file, a log line and an address.

    >>> check_name("ada@example.org")
    'ada@example.org'
    >>> check_name("two words")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: a name is 1 to 64 letters, digits or . _ @ + -
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput("a name is 1 to 64 letters, digits or . _ @ + -", field="name")
    return name


def check_person(name: str) -> str:
    """The name of a person, who must not be taken for a part of Weir.

    >>> check_person("Engine")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: Engine is a name that Weir uses for itself; take another
    """
    if check_name(name).lower() in RESERVED:
        raise InvalidInput(f"{name} is a name that Weir uses for itself; take another", "name")
    return name


class UsersFile:
    """The file, read when it has changed and written as a whole."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._stamp: tuple[int, int, int] | None = None
        self._content = Content()
        self._reading = threading.Lock()

    # -- reading

    def content(self) -> Content:
        """What the file says now; nobody, if there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return Content()
        stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
        with self._reading:
            if stamp != self._stamp:
                self._content, self._stamp = self._read(), stamp
            return self._content

    def user(self, name: str) -> User | None:
        """One person, or None. A name that Weir uses for itself is nobody's, whatever is kept."""
        return None if name.lower() in RESERVED else self.content().users.get(name)

    def key(self) -> bytes:
        """The secret that signs sessions; made with the first use."""
        found = self.content().key
        if not found:
            found = self._change(_with_key).key
        return bytes.fromhex(found)

    # -- changing

    def add(self, name: str, role: Role, now: float, password: str = "") -> User:
        """A new person; one who is there already is refused.

        Sessions and links of somebody who had the name before are not theirs.
        """
        user = User(
            name=check_person(name), role=role, created_at=now, password=password, valid_from=now
        )

        def change(content: Content) -> Content:
            if name in content.users:
                raise Refused(f"there is a user {name} already")
            return replace(content, users={**content.users, name: user})

        self._change(change)
        return user

    def remove(self, name: str) -> None:
        """Remove a person; the last admin stays."""

        def change(content: Content) -> Content:
            _keep_an_admin(content, name, None)
            rest = {n: u for n, u in content.users.items() if n != name}
            return replace(content, users=rest)

        self._change(change)

    def set_role(self, name: str, role: Role) -> None:
        """Change what a person may do; the last admin stays one."""

        def change(content: Content) -> Content:
            _keep_an_admin(content, name, role)
            return _with_user(content, replace(content.users[name], role=role))

        self._change(change)

    def set_password(self, name: str, password: str, now: float) -> None:
        """Keep a new password's hash; sessions that began before are over."""
        self._change(
            lambda c: _with_user(c, replace(_get(c, name), password=password, valid_from=now))
        )

    def revoke_sessions(self, name: str, now: float) -> None:
        """End every session of a person."""
        self._change(lambda c: _with_user(c, replace(_get(c, name), valid_from=now)))

    def add_token(self, token: Token) -> None:
        """Keep a token's hash."""
        check_name(token.name)
        self._change(lambda c: replace(c, tokens={**c.tokens, token.id: token}))

    def revoke_token(self, token_id: str) -> Token:
        """Revoke a token; returns it as it was."""
        found: list[Token] = []

        def change(content: Content) -> Content:
            if token_id not in content.tokens:
                raise NotFound(f"there is no token {token_id}")
            found.append(content.tokens[token_id])
            rest = {i: t for i, t in content.tokens.items() if i != token_id}
            return replace(content, tokens=rest)

        self._change(change)
        return found[0]

    # -- the file itself

    def _read(self) -> Content:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Content)
        except FileNotFoundError:
            return Content()
        except (OSError, *UNREADABLE) as error:
            raise Unavailable(f"the users file {self.path} cannot be read: {error}") from None

    def _change(self, change: Callable[[Content], Content]) -> Content:
        with self._lock():
            changed = _with_key(change(self._read()))
            self._write(changed)
        return changed

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """One writer at a time, over all processes."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(f"the users file {self.path} cannot be written: {error}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _write(self, content: Content) -> None:
        text = msgspec.json.format(msgspec.json.encode(content), indent=2)
        try:
            replace_private_file(self.path, text)
        except OSError as error:
            raise Unavailable(f"the users file {self.path} cannot be written: {error}") from None


def _with_key(content: Content) -> Content:
    return content if content.key else replace(content, key=secrets.token_hex(32))


def _with_user(content: Content, user: User) -> Content:
    return replace(content, users={**content.users, user.name: user})


def _get(content: Content, name: str) -> User:
    found = content.users.get(name)
    if found is None:
        raise NotFound(f"there is no user {name}")
    return found


def _keep_an_admin(content: Content, name: str, role: Role | None) -> None:
    """Refuse what would leave nobody who can manage users."""
    user = _get(content, name)
    admins = [u for u in content.users.values() if u.role is Role.ADMIN]
    if user.role is Role.ADMIN and role is not Role.ADMIN and len(admins) == 1:
        raise Refused(f"{name} is the last admin; make somebody else admin first")
