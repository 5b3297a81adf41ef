"""What is done before a command runs: which Redis it talks to, and no password for all to see."""

import os
import sys
from collections.abc import MutableMapping
from urllib.parse import urlsplit

from weir.metrics.store.where import REDIS_URL, home, kept_url

GIVEN = "WEIR_GIVEN_REDIS_URL"
"""The same for `demo`, which starts a Redis of its own unless one is named."""
REFUSED = (
    "Redis asks for a user or password that is right; give the URL with it, as in "
    "redis://:PASSWORD@HOST:PORT/0, in WEIR_REDIS_URL"
)


def settle(env: MutableMapping[str, str] = os.environ) -> None:
    """Let options that are not given find what belongs to this folder."""
    if env.get("WEIR_HOME"):
        env.setdefault("WEIR_USERS", str(home(env) / "users.json"))
    if not env.get(REDIS_URL) and (url := kept_url(env)):
        env[REDIS_URL] = url


def hide_passwords() -> None:
    """Begin again without a password among the arguments, which everybody on the machine can
    see; the environment is this user's alone."""
    words, url = without_password(sys.orig_argv)
    if url:
        os.environ[REDIS_URL] = os.environ[GIVEN] = url
        os.execv(sys.executable, words)


def without_password(words: list[str]) -> tuple[list[str], str]:
    """Arguments without `--redis URL` where that URL has a password, and the URL.

    >>> without_password(["weir", "status", "--redis", "redis://:x@db/0", "--json"])
    (['weir', 'status', '--json'], 'redis://:x@db/0')
    >>> without_password(["weir", "status", "--redis=redis://db/0"])
    (['weir', 'status', '--redis=redis://db/0'], '')
    """
    left, found, rest = [], "", list(words)
    while rest:
        word = rest.pop(0)
        if word == "--redis" and rest and _has_password(rest[0]):
            found = rest.pop(0)
        elif word.startswith("--redis=") and _has_password(word.partition("=")[2]):
            found = word.partition("=")[2]
        else:
            left.append(word)
    return left, found


def _has_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
