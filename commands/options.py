"""Options that several commands share, and how they are read."""

from typing import TYPE_CHECKING, Annotated

import typer

from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.where import REDIS_URL

if TYPE_CHECKING:  # only what a command needs is loaded
    from weir.metrics.store.redis_store import RedisStore

Redis = Annotated[
    str, typer.Option("--redis", envvar=REDIS_URL, help="URL of Redis or Valkey, 6.2 or later")
]


def store_at(redis: str) -> "RedisStore":
    """The store at a URL."""
    from weir.metrics.store.redis_store import RedisStore

    return RedisStore.at(redis)


def pairs_of(items: list[str]) -> dict[str, str]:
    """Texts of the form key=value.

    >>> pairs_of(["rows=5"])
    {'rows': '5'}
    """
    for item in items:
        if "=" not in item:
            raise InvalidInput(f"'{item}' is not of the form key=value", field="set")
    return dict(item.split("=", 1) for item in items)
