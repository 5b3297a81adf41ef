"""Signing in and out: what the routes, the users page and the command line ask for.

Everything here may wait for Redis or for a password's hash: call it through `workers`,
whose threads do nothing else.
"""

import time
from collections.abc import Callable

import redis
from msgspec import Struct

from weir.components.web.security.events import SecurityEvent, record
from weir.components.web.security.links import Invitation, make_link, revoke_links, use_link
from weir.components.web.security.lockout import Attempt, Lockout
from weir.components.web.security.passwords import check_password, fits, hash_password
from weir.components.web.security.sessions import Claim, Sessions
from weir.components.web.security.settings import SignInSettings
from weir.components.web.security.workers import Workers
from weir.controllers.model.errors import InvalidInput, Refused
from weir.metrics.store.users import Role, User, UsersFile

WRONG = "Name or password is not right."
USED = "This link is not known, was used already, or is too old; ask for a new one."
FIRST_ADMIN = "admin"


class Locked(Refused):
    """Too many failures; `wait_s` until the next attempt."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"Too many failed attempts. Try again in {_words(wait_s)}.")
        self.wait_s = wait_s


class Opened(Struct, frozen=True):
    """A session that has begun: its cookie, and whose it is."""

    cookie: str
    claim: Claim
    user: User


class SignIn:
    """The service behind the sign-in page."""

    def __init__(
        self,
        client: redis.Redis,
        users: UsersFile,
        settings: SignInSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.users = users
        self.settings = settings
        self.sessions = Sessions(client, users, settings, clock)
        self._client = client
        self._lockout = Lockout(client, settings, clock)
        self._clock = clock
        self.workers = Workers("sign-in", 4)

    def by_password(self, name: str, password: str, address: str) -> Opened:
        """A session for the right name and password. Unknown names look like wrong passwords."""
        user = self.users.user(name)
        attempt = self._let_try(name, address, user)
        if not fits(password, user.password if user else "") or user is None:
            self._note_failure("sign_in.failed", attempt, user, address)
            raise Refused(WRONG)
        self._lockout.note_success(name, address)
        return self._open(user, address, "password")

    def by_link(self, secret: str, address: str) -> Opened:
        """A session for whoever a link was made for; the link is used up."""
        attempt = self._let_try("", address, None)
        invitation = use_link(self._client, self.users.key(), secret, self._clock())
        user = self._invited_user(invitation) if invitation else None
        if user is None:
            self._note_failure("link.refused", attempt, None, address)
            raise Refused(USED)
        revoke_links(self._client, user.name)  # whoever had one has come
        self._lockout.note_success(user.name, address)
        return self._open(user, address, "link")

    def sign_out(self, claim: Claim, address: str) -> None:
        """End one session."""
        self.sessions.end(claim)
        self._note("sign_out", self.users.user(claim.user), address)

    def change_password(self, name: str, session: str, old: str, new: str, address: str) -> Opened:
        """A new password, for somebody who knows the present one or came by a link; ends other sessions."""
        user = self.users.user(name)
        if user is None:
            raise Refused("Your user is kept by the proxy that signs you in.")
        check_password(new, name)
        if self.needs_old(user, session):
            attempt = self._let_try(name, address, user)
            if not fits(old, user.password):
                self._note_failure("password.refused", attempt, user, address)
                raise InvalidInput("The current password is not right.", field="old")
            self._lockout.note_success(name, address)
        self.forget(name)
        self.users.set_password(name, hash_password(new), self._clock())
        self._note("password.changed", user, address)
        return self._open(user, address, "password")

    def needs_old(self, user: User, session: str) -> bool:
        """Whether the present password is asked for: not of somebody who came by a link."""
        return bool(user.password) and self.sessions.how(session) != "link"

    def link(self, name: str, by: str, address: str, role: Role | None = None) -> str:
        """A one-time link for somebody, as path and secret; `role`: made if not there."""
        invitation = Invitation(user=name, role=role, at=self._clock())
        path = make_link(self._client, self.users.key(), invitation, self.settings.link_s)
        self._record("link.made", by, name, address)
        return path

    def end_all(self, name: str, by: str, address: str) -> int:
        """End every session of somebody, and every link that would begin one."""
        self.users.revoke_sessions(name, self._clock())
        ended = self.forget(name)
        self._record("session.revoked", by, name, address)
        return ended

    def forget(self, name: str) -> int:
        """Take the sessions and links of somebody out of Redis; how many sessions there were."""
        revoke_links(self._client, name)
        return self.sessions.end_all(name)

    def _invited_user(self, invitation: Invitation) -> User | None:
        """Whom a link still stands for; none that was made before all of theirs were ended."""
        if invitation.role is not None:
            if has_admin(self.users):  # only the first admin comes by such a link
                return None
            return self.users.user(invitation.user) or self.users.add(
                invitation.user, invitation.role, self._clock()
            )
        user = self.users.user(invitation.user)
        return user if user and invitation.at >= user.valid_from else None

    def _open(self, user: User, address: str, how: str) -> Opened:
        cookie, claim = self.sessions.begin(user.name, address, how)
        self._record("sign_in.ok", user.name, user.name, address, f"by {how}")
        return Opened(cookie, claim, user)

    def _let_try(self, name: str, address: str, user: User | None) -> Attempt:
        attempt = self._lockout.attempt(name, address)
        if attempt.wait_s:
            self._note_failure("sign_in.too_early", attempt, user, address)
            raise Locked(attempt.wait_s)
        return attempt

    def _note_failure(self, action: str, attempt: Attempt, user: User | None, address: str) -> None:
        """Each failure is logged; a lock goes into the trail when it begins, once."""
        self._note(action, user, address)
        if attempt.lock_s:
            self._note("sign_in.locked", user, address, f"for {_words(attempt.lock_s)}")

    def _note(self, action: str, user: User | None, address: str, detail: str = "") -> None:
        """About somebody who is not known to be who they say."""
        name = user.name if user else "an unknown name"
        self._record(action, "nobody", name, address, detail)

    def _record(self, action: str, by: str, subject: str, address: str, detail: str = "") -> None:
        record(
            SecurityEvent(
                at=self._clock(), by=by, action=action, subject=subject,
                address=address, detail=detail,
            )
        )  # fmt: skip


def admin_link(service: SignIn, by: str) -> str:
    """A link for an admin; where there is none yet, using it makes the first."""
    users = service.users.content().users.values()
    admins = sorted(u.name for u in users if u.role is Role.ADMIN)
    name = FIRST_ADMIN if not admins or FIRST_ADMIN in admins else admins[0]
    return service.link(name, by, "", None if admins else Role.ADMIN)


def has_admin(users: UsersFile) -> bool:
    """Whether there is anybody who manages users."""
    return any(u.role is Role.ADMIN for u in users.content().users.values())


def _words(wait_s: int) -> str:
    return f"{wait_s} s" if wait_s < 120 else f"{round(wait_s / 60)} min"
