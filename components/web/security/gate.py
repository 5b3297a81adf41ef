"""Who is asking: a browser by cookie, a program by token, a person behind a proxy by header."""

import hashlib
import hmac
import ipaddress
import time
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

import redis
from msgspec import Struct

from weir.components.web.security.person import NOBODY, Person
from weir.components.web.security.sessions import Claim, Sessions
from weir.components.web.security.settings import SignInSettings
from weir.components.web.security.tokens import token_of
from weir.components.web.security.workers import Workers
from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.users import Role, UsersFile, check_person

CSRF_HEADER = "x-csrftoken"
FRESH_S = 1.0
"""How long a session counts once Redis has confirmed it; what changes something asks again."""
AWAY_S = 2.0
"""How long Redis is not asked after a failure, so that pages stay quick while it is away."""
TOUCH_EVERY_S = 20.0
KNOWN_MOST = 10_000
_FAILURES = (redis.exceptions.RedisError, OSError)


class Admission(Struct, frozen=True):
    """Who it is, and the CSRF token that their pages must send; None: needs none."""

    person: Person
    csrf: str | None = None


class Gate:
    """Tells who is asking. Keeps only what Redis said a moment ago."""

    def __init__(
        self,
        sessions: Sessions,
        users: UsersFile,
        settings: SignInSettings,
        cookie: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cookie = cookie
        self.csrf_cookie = f"{cookie}-csrf"
        self._sessions = sessions
        self._users = users
        self._header = settings.trust_header.lower()
        self._proxies = settings.networks()
        self._trust_role = Role(settings.trust_role) if settings.trust_role else None
        self._touch_every_s = min(TOUCH_EVERY_S, settings.session_idle_s / 4)
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}  # session -> (when asked, alive)
        self._touched: dict[str, float] = {}
        self._away_until = 0.0
        self._workers = Workers("session", 4)

    async def admit(
        self, headers: Mapping[str, str], peer: str, *, active: bool, fresh: bool
    ) -> Admission:
        """Who sends these headers. `active`: it keeps a session going; `fresh`: ask Redis now."""
        address = self.address(headers, peer)
        bearer = headers.get("authorization", "")
        if bearer:
            return Admission(self._by_token(bearer, address))
        if self._header and self._is_believed(peer) and headers.get(self._header):
            return self._by_header(headers[self._header], address)
        claim = self.claim(headers)
        if claim is None or not await self._alive(claim, fresh):
            return Admission(NOBODY)
        if active:
            await self._touch(claim)
        user = self._users.user(claim.user)
        if user is None:
            return Admission(NOBODY)
        person = Person(
            name=user.name, role=user.role, address=address, via="session", session=claim.hash
        )
        return Admission(person, self._sessions.csrf(claim))

    def claim(self, headers: Mapping[str, str]) -> Claim | None:
        """What the session cookie says, whether or not the session still lives."""
        value = _cookies(headers).get(self.cookie)
        return self._sessions.claim(value) if value else None

    def address(self, headers: Mapping[str, str], peer: str) -> str:
        """Where a request comes from: the last address that no proxy of ours has."""
        if not self._is_believed(peer):
            return peer
        for hop in reversed(headers.get("x-forwarded-for", "").split(",")):
            if hop.strip() and not self._is_believed(hop.strip()):
                return hop.strip()[:64]
        return peer

    def forget(self, session: str) -> None:
        """A session has ended here; do not wait for Redis to say so."""
        self._known[session] = (self._clock(), False)

    def _is_believed(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _by_token(self, bearer: str, address: str) -> Person:
        kind, _, text = bearer.partition(" ")
        if kind.lower() != "bearer":
            return NOBODY
        token = token_of(text.strip(), self._users.content(), self._clock())
        if token is None:
            return NOBODY
        return Person(name=f"token/{token.name}", role=token.role, address=address, via="token")

    def _by_header(self, name: str, address: str) -> Admission:
        try:
            user = self._users.user(check_person(name))
        except InvalidInput:
            return Admission(NOBODY)
        role = user.role if user else self._trust_role
        if role is None:
            return Admission(NOBODY)
        person = Person(name=name, role=role, address=address, via="header")
        return Admission(person, self._sessions.csrf_of_header(name))

    # -- what Redis says of a session

    def _is_away(self, now: float) -> bool:
        return 0 < self._away_until - now <= AWAY_S

    async def _alive(self, claim: Claim, fresh: bool) -> bool:
        now = self._clock()
        asked_at, alive = self._known.get(claim.hash, (0.0, True))
        if asked_at and not alive:
            return False  # what has ended stays ended
        if (not fresh and 0 <= now - asked_at < FRESH_S) or self._is_away(now):
            return alive
        try:
            alive = await self._workers(self._sessions.alive, claim)
        except _FAILURES:
            self._away_until = now + AWAY_S
            return alive
        if len(self._known) >= KNOWN_MOST:
            self._known.clear()
        self._known[claim.hash] = (now, alive)
        return alive

    async def _touch(self, claim: Claim) -> None:
        now = self._clock()
        since_s = now - self._touched.get(claim.hash, 0.0)
        if 0 <= since_s < self._touch_every_s or self._is_away(now):
            return
        if len(self._touched) >= KNOWN_MOST:
            self._touched.clear()
        self._touched[claim.hash] = now
        try:
            await self._workers(self._sessions.touch, claim)
        except _FAILURES:
            self._away_until = now + AWAY_S


def cookie_name(redis_url: str) -> str:
    """One name per installation: cookies do not tell the ports of a machine apart.

    >>> cookie_name("redis://:secret@db:6379/0") == cookie_name("redis://db:6379/0")
    True
    """
    parts = urlsplit(redis_url)
    place = f"{parts.hostname}:{parts.port}{parts.path}"
    return "weir-" + hashlib.sha256(place.encode()).hexdigest()[:8]


def same(sent: str, expected: str) -> bool:
    """Compare without telling by time how much of it was right."""
    return hmac.compare_digest(sent.encode(), expected.encode())


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return {n: m.value for n, m in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}
