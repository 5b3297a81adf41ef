"""Where Weir's own files are, and which Redis the commands of this folder talk to.

    .weir/            or the folder that WEIR_HOME names
      key             see keyring.py
      redis           URL of the Redis that `weir demo` runs, while it runs; its owner reads it alone
      users.json      see users.py

A URL may hold a password. It is taken from WEIR_REDIS_URL or that file rather than from a command's
arguments, which everybody on the machine can see.
"""

import contextlib
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
REDIS_URL = "WEIR_REDIS_URL"


def home(env: Mapping[str, str] = os.environ) -> Path:
    """The folder of Weir's own files."""
    return Path(env.get("WEIR_HOME") or ".weir")


def redis_url(env: Mapping[str, str] = os.environ) -> str:
    """The Redis of whoever was told of none."""
    return env.get(REDIS_URL) or kept_url(env) or DEFAULT_REDIS


def kept_url(env: Mapping[str, str] = os.environ) -> str:
    """The Redis of the demo that runs in this folder; empty if none does."""
    try:
        url = (home(env) / "redis").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return url if _answers(url) else ""


def keep_url(url: str, env: Mapping[str, str] = os.environ) -> bool:
    """Let the commands of this folder find a Redis; False if another one is found already."""
    if kept_url(env):
        return False
    file = home(env) / "redis"
    file.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        file.unlink()  # what was left by one that was killed
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        out.write(url + "\n")
    return True


def forget_url(url: str, env: Mapping[str, str] = os.environ) -> None:
    """It has stopped; another one's stays."""
    file = home(env) / "redis"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if file.read_text().strip() == url:
            file.unlink()


def _answers(url: str) -> bool:
    try:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname or "", parts.port or 6379), 0.5):
            return True
    except (OSError, ValueError):
        return False


def shown_url(url: str) -> str:
    """A URL without its password, for people and logs.

    >>> shown_url("redis://:secret@db:6379/0"), shown_url("rediss://weir:x@db/1"), shown_url("nonsense")
    ('redis://db:6379/0', 'rediss://weir@db/1', 'nonsense')
    """
    try:
        parts = urlsplit(url)
        _, at, place = parts.netloc.rpartition("@")
    except ValueError:
        return "an address that cannot be read"
    user = f"{parts.username}@" if at and parts.username else ""
    return parts._replace(netloc=user + place).geturl() if at else url
