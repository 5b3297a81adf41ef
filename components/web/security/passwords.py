"""Passwords: what is strong enough, and argon2 hashes of them.

Reference: RFC 9106 (argon2id, second recommended option, the library's default);
NIST SP 800-63B for length instead of rules about characters.
"""

import functools
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from weir.controllers.model.errors import InvalidInput

SHORTEST, LONGEST = 12, 256
_AT_ONCE = threading.BoundedSemaphore(2)
"""Each hash takes 64 MiB and a tenth of a second: a flood of sign-ins must not take it all."""
_COMMON = ("password", "passwort", "123456", "qwerty", "letmein", "admin", "weir", "welcome")


def check_password(password: str, name: str = "") -> str:
    """The password, if it is strong enough.

    >>> check_password("short")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: a password has at least 12 characters
    """
    if len(password) < SHORTEST:
        raise InvalidInput(f"a password has at least {SHORTEST} characters", field="password")
    if len(password) > LONGEST:
        raise InvalidInput(f"a password has at most {LONGEST} characters", field="password")
    rest = password.lower()
    for word in (*_COMMON, name.lower()):
        rest = rest.replace(word, "") if word else rest
    if len(set(rest)) < 5:
        raise InvalidInput(
            "this password is too easy to guess; take several words or a generated one",
            field="password",
        )
    return password


def hash_password(password: str) -> str:
    """What is kept of a password."""
    with _AT_ONCE:
        return PasswordHasher().hash(password)


def fits(password: str, kept: str) -> bool:
    """Whether a password is the right one; takes as long when there is none to compare with."""
    with _AT_ONCE:
        try:
            PasswordHasher().verify(kept or _decoy(), password[: LONGEST + 1])
        except (VerificationError, InvalidHashError):
            return False
    return bool(kept)


@functools.cache
def _decoy() -> str:
    """A hash that no password fits, so that unknown names cost what known ones do."""
    return PasswordHasher().hash("nobody's password, never accepted")
