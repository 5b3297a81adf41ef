"""`weir user` and `weir token`: who may use Weir.

A password is asked for twice, or read as one line from a pipe; it is never an argument,
because those can be seen by everybody on the machine and stay in the shell's history.
"""

import contextlib
import getpass
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.commands.options import Redis
from weir.commands.trail import auditing, me, note
from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.users import Role, UsersFile
from weir.metrics.store.where import DEFAULT_REDIS

if TYPE_CHECKING:
    from weir.components.pages.sign_in.service import SignIn

DEFAULT_USERS = Path(".weir/users.json")
DEFAULT_ADDRESS = "http://127.0.0.1:8050"

user = typer.Typer(help="Add, change and remove the people who may sign in.", no_args_is_help=True)
token = typer.Typer(help="Make and revoke the tokens of the HTTP API.", no_args_is_help=True)

Users = Annotated[
    Path, typer.Option("--users", envvar="WEIR_USERS", help="File of users and tokens")
]
Address = Annotated[str, typer.Option(help="Address of the pages, for the link")]
Name = Annotated[str, typer.Argument(help="Name of the user")]
Needed = Annotated[Role, typer.Option(help="What they may do")]


@user.command("add")
def add(
    name: Name,
    role: Needed = Role.VIEWER,
    link: Annotated[bool, typer.Option(help="Print a one-time link, ask no password")] = False,
    users: Users = DEFAULT_USERS,
    redis: Redis = DEFAULT_REDIS,
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Add a user, with a password or by a one-time link."""
    from weir.components.web.security.passwords import hash_password

    password = "" if link else hash_password(_new_password(name))
    UsersFile(users).add(name, role, time.time(), password)
    note(redis, "user.added", name, role)
    print(f"{name} is a user now, as {role}.")
    if link:
        with auditing(redis):
            print(address + _service(users, redis).link(name, me(), ""))


@user.command("link")
def link(
    name: Name,
    users: Users = DEFAULT_USERS,
    redis: Redis = DEFAULT_REDIS,
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Print a one-time link that signs a user in, e.g. after a forgotten password."""
    from weir.components.pages.sign_in.service import admin_link
    from weir.controllers.model.errors import NotFound

    service, known = _service(users, redis), UsersFile(users).content().users
    if name not in known and (known or name != "admin"):
        raise NotFound(f"there is no user {name}")
    with auditing(redis):
        print(address + (service.link(name, me(), "") if known else admin_link(service, me())))


@user.command("passwd")
def passwd(name: Name, users: Users = DEFAULT_USERS, redis: Redis = DEFAULT_REDIS) -> None:
    """Set a password; sessions that began before end."""
    from weir.components.web.security.passwords import hash_password
    from weir.controllers.model.errors import NotFound

    if UsersFile(users).user(name) is None:
        raise NotFound(f"there is no user {name}")
    UsersFile(users).set_password(name, hash_password(_new_password(name)), time.time())
    _forget(name, users, redis)
    note(redis, "password.changed", name)
    print(f"{name} has a new password.")


@user.command("role")
def role(
    name: Name,
    role: Annotated[Role, typer.Argument()],
    users: Users = DEFAULT_USERS,
    redis: Redis = DEFAULT_REDIS,
) -> None:
    """Change what a user may do; holds at once."""
    UsersFile(users).set_role(name, role)
    note(redis, "user.role", name, role)
    print(f"{name} is {role} now.")


@user.command("remove")
def remove(name: Name, users: Users = DEFAULT_USERS, redis: Redis = DEFAULT_REDIS) -> None:
    """Remove a user; their sessions end at once."""
    UsersFile(users).remove(name)
    _forget(name, users, redis)
    note(redis, "user.removed", name)
    print(f"{name} is gone.")


@user.command("list")
def list_users(users: Users = DEFAULT_USERS) -> None:
    """List the users."""
    for found in sorted(UsersFile(users).content().users.values(), key=lambda u: u.name):
        print(f"{found.name:24} {found.role:10} {'password' if found.password else 'link'}")


@token.command("add")
def add_token(
    name: Annotated[str, typer.Argument(help="What the token is for")],
    role: Needed = Role.VIEWER,
    days: Annotated[float | None, typer.Option(min=0, help="Valid for so many days")] = None,
    users: Users = DEFAULT_USERS,
    redis: Redis = DEFAULT_REDIS,
) -> None:
    """Make a token and print it; it cannot be shown again."""
    from weir.components.web.security.tokens import new_token

    text, kept = new_token(name, role, time.time(), days, me())
    UsersFile(users).add_token(kept)
    note(redis, "token.made", kept.name, kept.role)
    print(text)


@token.command("list")
def list_tokens(users: Users = DEFAULT_USERS) -> None:
    """List the tokens, without their secrets."""
    for found in sorted(UsersFile(users).content().tokens.values(), key=lambda t: t.created_at):
        print(f"{found.id:10} {found.name:24} {found.role:10} {_until(found.expires_at)}")


@token.command("revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(help="The id, as `token list` shows it")],
    users: Users = DEFAULT_USERS,
    redis: Redis = DEFAULT_REDIS,
) -> None:
    """End a token at once."""
    revoked = UsersFile(users).revoke_token(token_id)
    note(redis, "token.revoked", revoked.name)
    print(f"{revoked.name} is revoked.")


def _new_password(name: str) -> str:
    from weir.components.web.security.passwords import check_password

    if not sys.stdin.isatty():
        return check_password(sys.stdin.readline().rstrip("\r\n"), name)
    password = check_password(getpass.getpass(f"Password for {name}: "), name)
    if getpass.getpass("Again: ") != password:
        raise InvalidInput("the two passwords are not the same", field="password")
    return password


def _service(users: Path, redis_url: str) -> "SignIn":
    from weir.components.pages.sign_in.service import SignIn
    from weir.components.web.security.settings import SignInSettings
    from weir.metrics.store.redis_store import connect

    return SignIn(connect(redis_url), UsersFile(users), SignInSettings(users=str(users)))


def _forget(name: str, users: Path, redis_url: str) -> None:
    """Sessions and links go from Redis too. The users' file alone ends them all, so where no
    Redis answers nothing is lost; `note` says that it does not."""
    from redis.exceptions import RedisError

    with contextlib.suppress(RedisError, OSError):
        _service(users, redis_url).forget(name)


def _until(expires_at: float | None) -> str:
    if expires_at is None:
        return "until revoked"
    return time.strftime("until %Y-%m-%d", time.localtime(expires_at))
