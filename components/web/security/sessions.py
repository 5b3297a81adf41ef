"""Sessions: a signed cookie in the browser, a record in Redis that can be taken away.

The cookie says who and since when; its signature can be checked without Redis. The record
is what ends a session: it goes by itself when nobody has asked for a while, and at once on
signing out or when it is revoked. While Redis is away the signature alone counts, so that
people can still read the last figures; nothing can be changed then anyhow.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import redis
from itsdangerous import BadData, URLSafeSerializer
from msgspec import Struct

from weir.components.web.security.settings import SignInSettings
from weir.controllers.model.age import Time
from weir.metrics.store import keys
from weir.metrics.store.users import UsersFile


class Claim(Struct, frozen=True):
    """What a cookie with a good signature says."""

    id: str
    user: str
    since: float

    @property
    def hash(self) -> str:
        """Name of the record: who reads Redis cannot make a cookie of it."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:32]


class SessionInfo(Struct, frozen=True, kw_only=True):
    """One session as an admin sees it."""

    since: float
    seen: float
    address: str


class Sessions:
    """All sessions."""

    def __init__(
        self,
        client: redis.Redis,
        users: UsersFile,
        settings: SignInSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._users = users
        self._settings = settings
        self._clock = clock

    # -- the cookie

    def claim(self, cookie: str) -> Claim | None:
        """Who a cookie speaks for; None if forged, too old, or of somebody who has gone."""
        try:
            found, user, since = self._signer().loads(cookie)
            claim = Claim(str(found), str(user), float(since))
        except (BadData, ValueError, TypeError):
            return None
        known = self._users.user(claim.user)
        now = self._clock()
        if known is None or claim.since < known.valid_from:
            return None
        return claim if claim.since <= now + 60 and now < claim.since + self._most_s else None

    def csrf(self, claim: Claim) -> str:
        """The token that this session's pages send along; no other session's fits."""
        return hmac.new(self._users.key(), f"csrf:{claim.id}".encode(), "sha256").hexdigest()

    def csrf_of_header(self, user: str) -> str:
        """The same for somebody whom a proxy has signed in."""
        return hmac.new(self._users.key(), f"csrf-header:{user}".encode(), "sha256").hexdigest()

    def _signer(self) -> URLSafeSerializer:
        return URLSafeSerializer(
            self._users.key(), salt="session", signer_kwargs={"digest_method": hashlib.sha256}
        )

    @property
    def _most_s(self) -> float:
        return self._settings.session_max_s

    # -- the record

    def begin(self, user: str, address: str, how: str) -> tuple[str, Claim]:
        """A new session: the cookie, and what it says."""
        now = self._clock()
        claim = Claim(secrets.token_urlsafe(32), user, now)
        with self._client.pipeline(transaction=True) as pipe:
            record = {
                "user": user, "since": now, "seen": now, "address": address,
                "how": how, "signature": self._signature(claim.hash, how),
            }  # fmt: skip
            pipe.hset(keys.session(claim.hash), mapping=record)  # type: ignore[arg-type]
            pipe.pexpire(keys.session(claim.hash), self._idle_ms)
            pipe.sadd(keys.sessions(user), claim.hash)
            pipe.pexpire(keys.sessions(user), int(self._most_s * 1000))
            pipe.execute()
        return str(self._signer().dumps([claim.id, user, now])), claim

    def alive(self, claim: Claim) -> bool:
        """Whether the record is there."""
        return bool(self._client.exists(keys.session(claim.hash)))

    def how(self, session: str) -> str:
        """How a session began, by the hash of its id: "password" or "link"; "" if nobody who has
        our key says so."""
        found: Any = self._client.hmget(keys.session(session), "how", "signature")
        how, signature = (str((value or b"").decode("utf-8", "replace")) for value in found)
        right = hmac.compare_digest(signature.encode(), self._signature(session, how).encode())
        return how if right else ""

    def _signature(self, session: str, how: str) -> str:
        return hmac.new(self._users.key(), f"how:{session}:{how}".encode(), "sha256").hexdigest()

    def touch(self, claim: Claim) -> None:
        """Somebody has asked for something: the session goes on."""
        key = keys.session(claim.hash)
        if self._client.pexpire(key, self._idle_ms):
            self._client.hset(key, "seen", str(self._clock()))

    def end(self, claim: Claim) -> None:
        """Signing out."""
        self._client.delete(keys.session(claim.hash))
        self._client.srem(keys.sessions(claim.user), claim.hash)

    def end_all(self, user: str) -> int:
        """Every session of somebody ends; how many there were."""
        ended = [self._client.delete(_record(h)) for h in self._hashes(user)]
        self._client.delete(keys.sessions(user))
        return sum(ended)

    def of(self, user: str) -> list[SessionInfo]:
        """The sessions of somebody, newest first."""
        found = []
        for name in self._hashes(user):
            row: Any = self._client.hgetall(_record(name))
            if row:
                found.append(_info(row))
            else:
                self._client.srem(keys.sessions(user), name)
        return sorted(found, key=lambda s: -s.since)

    def _hashes(self, user: str) -> set[bytes]:
        found: Any = self._client.smembers(keys.sessions(user))
        return set(found)

    @property
    def _idle_ms(self) -> int:
        return int(self._settings.session_idle_s * 1000)


def _record(name: bytes) -> str:
    return keys.session(name.decode("utf-8", "backslashreplace"))


def _info(row: Mapping[bytes, bytes]) -> SessionInfo:
    """A record as it is; what cannot be read of it is left empty, so that it can still be ended."""

    def at(name: bytes) -> float:
        try:
            return msgspec.convert(float(row[name]), Time)
        except (KeyError, ValueError):
            return 0.0

    address = row.get(b"address", b"").decode("utf-8", "replace")
    return SessionInfo(since=at(b"since"), seen=at(b"seen"), address=address)
