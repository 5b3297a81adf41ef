"""One-time links: the first sign-in, a new user's, or one who forgot the password.

The secret stands behind the # of the address: browsers do not send that part, so it is in
no log of a server or proxy, and a program that previews addresses cannot use it up.
"""

import hashlib
import secrets
from typing import Any

import msgspec
import redis
from msgspec import Struct

from weir.metrics.store import keys
from weir.metrics.store.users import Role


class Invitation(Struct, frozen=True, kw_only=True):
    """Whom a link signs in."""

    user: str
    role: Role | None = None  # set: the user is made with this role, as the first admin
    at: float = 0.0  # when it was made


def make_link(client: redis.Redis, invitation: Invitation, ttl_s: float) -> str:
    """A new link's path and secret; only a hash is kept, and only for a while."""
    secret, ttl_ms = secrets.token_urlsafe(24), int(ttl_s * 1000)
    with client.pipeline(transaction=True) as pipe:
        pipe.set(keys.link(_hash(secret)), msgspec.json.encode(invitation), px=ttl_ms)
        pipe.sadd(keys.links(invitation.user), _hash(secret))
        pipe.pexpire(keys.links(invitation.user), ttl_ms)
        pipe.execute()
    return f"/sign-in#link={secret}"


def use_link(client: redis.Redis, secret: str) -> Invitation | None:
    """Whom it signs in, once; None if it is unknown, used, too old or unreadable."""
    found: Any = client.getdel(keys.link(_hash(secret)))
    try:
        return msgspec.json.decode(found, type=Invitation) if found else None
    except (msgspec.DecodeError, RecursionError):
        return None


def revoke_links(client: redis.Redis, user: str) -> None:
    """No link of somebody opens any more."""
    hashes: Any = client.smembers(keys.links(user))
    found = [keys.link(h.decode("utf-8", "backslashreplace")) for h in hashes]
    client.delete(keys.links(user), *found)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
