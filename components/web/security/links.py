"""One-time links: the first sign-in, a new user's, or one who forgot the password.

The secret stands behind the # of the address: browsers do not send that part, so it is in
no log of a server or proxy, and a program that previews addresses cannot use it up. Whom it
signs in is kept in Redis, signed with the key of the users' file: whoever can write to Redis
can take a link away, but make none.
"""

import hmac
import secrets
from typing import Any

import msgspec
import redis
from msgspec import Struct
from msgspec.structs import replace

from weir.components.web.security.tokens import secret_hash
from weir.metrics.store import keys
from weir.metrics.store.users import Role


class Invitation(Struct, frozen=True, kw_only=True):
    """Whom a link signs in."""

    user: str
    role: Role | None = None  # set: the user is made with this role, as the first admin
    at: float = 0.0  # when it was made
    expires_at: float = 0.0


def make_link(client: redis.Redis, key: bytes, invitation: Invitation, ttl_s: float) -> str:
    """A new link's path and secret; only a hash is kept, and only for a while."""
    secret, ttl_ms = secrets.token_urlsafe(24), int(ttl_s * 1000)
    data = msgspec.json.encode(replace(invitation, expires_at=invitation.at + ttl_s))
    kept = _signature(key, secret, data) + b":" + data
    with client.pipeline(transaction=True) as pipe:
        pipe.set(keys.link(secret_hash(secret)), kept, px=ttl_ms)
        pipe.sadd(keys.links(invitation.user), secret_hash(secret))
        pipe.pexpire(keys.links(invitation.user), ttl_ms)
        pipe.execute()
    return f"/sign-in#link={secret}"


def use_link(client: redis.Redis, key: bytes, secret: str, now: float) -> Invitation | None:
    """Whom it signs in, once; None if it is unknown, used, too old or not of our making."""
    found: Any = client.getdel(keys.link(secret_hash(secret)))
    signature, _, data = bytes(found or b"").partition(b":")
    if not hmac.compare_digest(signature, _signature(key, secret, data)):
        return None
    invitation = msgspec.json.decode(data, type=Invitation)
    return invitation if now < invitation.expires_at else None


def revoke_links(client: redis.Redis, user: str) -> None:
    """No link of somebody opens any more."""
    hashes: Any = client.smembers(keys.links(user))
    found = [keys.link(h.decode("utf-8", "backslashreplace")) for h in hashes]
    client.delete(keys.links(user), *found)


def _signature(key: bytes, secret: str, data: bytes) -> bytes:
    return (
        hmac.new(key, b"link:%s:" % secret_hash(secret).encode() + data, "sha256")
        .hexdigest()
        .encode()
    )
