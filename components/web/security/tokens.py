"""Tokens of programs: shown once when they are made, kept only as a hash.

A token has 256 random bits, so a plain SHA-256 cannot be searched; it says its own id, so
looking it up compares nothing secret.
"""

import hashlib
import hmac
import secrets

from weir.metrics.store.users import Content, Role, Token

PREFIX = "weir"


def new_token(
    name: str, role: Role, now: float, days: float | None = None, by: str = ""
) -> tuple[str, Token]:
    """The text to hand out once, and what is kept of it.

    >>> text, token = new_token("ci", Role.VIEWER, now=0.0)
    >>> text.startswith(f"weir_{token.id}_"), text in str(token)
    (True, False)
    """
    token_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    kept = Token(
        id=token_id, name=name, role=role, secret_sha256=secret_hash(secret), created_at=now,
        expires_at=None if days is None else now + days * 86400, by=by,
    )  # fmt: skip
    return f"{PREFIX}_{token_id}_{secret}", kept


def token_of(text: str, content: Content, now: float) -> Token | None:
    """The token behind what a program sent; None if unknown, wrong or expired."""
    prefix, _, rest = text.partition("_")
    token_id, _, secret = rest.partition("_")
    found = content.tokens.get(token_id)
    right = hmac.compare_digest(
        secret_hash(secret), found.secret_sha256 if found else secret_hash("")
    )
    if prefix != PREFIX or found is None or not right:
        return None
    return None if found.expires_at is not None and now >= found.expires_at else found


def secret_hash(secret: str) -> str:
    """All that is kept of a secret: it is long and random, so a fast hash will do."""
    return hashlib.sha256(secret.encode()).hexdigest()
