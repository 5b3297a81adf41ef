"""`weir web`: the pages and the HTTP API."""

import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from weir.metrics.store.users import UsersFile

from weir.metrics.store.where import DEFAULT_REDIS, REDIS_URL


def web(
    redis: Annotated[
        str, typer.Option("--redis", envvar=REDIS_URL, help="URL of Redis or Valkey, 6.2 or later")
    ] = DEFAULT_REDIS,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on")] = 8050,
    workers: Annotated[int, typer.Option(help="Web processes")] = 2,
    target_latency: Annotated[
        float, typer.Option(min=0, help="Latency to stay below, in seconds")
    ] = 5.0,
    runs: Annotated[Path, typer.Option(help="Folder of recorded and imported runs")] = Path("runs"),
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name that people may use for this server")
    ] = None,
    users: Annotated[
        Path, typer.Option(envvar="WEIR_USERS", help="File of users and tokens")
    ] = Path(".weir/users.json"),
    trust_header: Annotated[
        str, typer.Option(help="Header in which an authenticating proxy names the user")
    ] = "",
    trusted_proxy: Annotated[
        list[str] | None, typer.Option(help="Address or network of a proxy to believe")
    ] = None,
    trust_role: Annotated[
        str, typer.Option(help="Role of users whom only the proxy knows; without: refused")
    ] = "",
    session_idle: Annotated[
        float, typer.Option(min=1, help="Seconds without a request until a session ends")
    ] = 12 * 3600,
    session_max: Annotated[float, typer.Option(min=1, help="Seconds until every session ends")] = 7
    * 86400,
) -> None:
    """Serve the pages and the HTTP API; without users, print a link for the first admin."""
    from weir.components.web.app import gunicorn_argv, web_env
    from weir.components.web.security.settings import SignInSettings

    settings = SignInSettings(
        users=str(users.resolve()), trust_header=trust_header, trust_role=trust_role,
        trusted_proxies=",".join(trusted_proxy or ()),
        session_idle_s=session_idle, session_max_s=session_max,
    )  # fmt: skip
    print_first_link(redis, settings, f"http://{name_of(host, allow_host or ())}:{port}")
    argv = gunicorn_argv(host, port, workers)
    env = web_env(
        redis, target_latency_s=target_latency, allowed_hosts=allow_host or (), runs_dir=runs,
        sign_in=settings,
    )  # fmt: skip
    os.execve(argv[0], argv, {**os.environ, **env})


def name_of(host: str, allowed: Sequence[str]) -> str:
    """What people call this server: the name it was given, else what it listens on.

    >>> name_of("0.0.0.0", ["weir.example"]), name_of("127.0.0.1", [])
    ('weir.example', '127.0.0.1')
    """
    if allowed:
        return allowed[0]
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def refuse_other_users(redis_url: str, users: "UsersFile") -> None:
    """Two web servers of one Redis share their users; else people would be known to only one."""
    from redis.exceptions import RedisError

    from weir.components.web.presence import others
    from weir.controllers.model.errors import Refused
    from weir.metrics.store.redis_store import RedisStore

    try:
        found = others(RedisStore.at(redis_url), users, time.time())
    except (RedisError, OSError):
        return
    if found:
        raise Refused(
            f"the web server {found[0]} serves the same Redis with other users: give this one "
            "that server's file with --users"
        )


def print_first_link(redis_url: str, settings, address: str) -> None:  # type: ignore[no-untyped-def]
    """While nobody can sign in yet, say how to."""
    from redis.exceptions import RedisError

    from weir.commands.trail import auditing, me
    from weir.components.pages.sign_in.service import SignIn, admin_link
    from weir.metrics.store.redis_store import connect
    from weir.metrics.store.users import UsersFile

    users = UsersFile(settings.users)
    users.key()  # made before the web processes start, so that they need not agree on it
    refuse_other_users(redis_url, users)
    if users.content().users or settings.trust_header:
        return
    try:
        with connect(redis_url) as client, auditing(redis_url):
            path = admin_link(SignIn(client, users, settings), me())
    except (RedisError, OSError):
        print("There are no users yet, and Redis cannot be reached. When it is there, get a link")
        print("for the first admin with: weir user link admin", flush=True)
        return
    print("There are no users yet. Open this once to sign in as admin, within a day:")
    print(f"    {address}{path}", flush=True)
    sys.stdout.flush()
