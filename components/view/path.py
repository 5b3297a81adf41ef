"""Addresses of the pages. All of a page's state stands in its address."""

from typing import Literal
from urllib.parse import quote, unquote

from msgspec import Struct

Kind = Literal["control_room", "balance", "cluster", "operator", "lost"]

CONTROL_ROOM = "/"
BALANCE = "/balance"


class Place(Struct, frozen=True):
    """Which page, and of what."""

    kind: Kind
    name: str = ""


def place(path: str | None) -> Place:
    """The page behind an address.

    >>> place("/")
    Place(kind='control_room', name='')
    >>> place("/cluster/wide%20one")
    Place(kind='cluster', name='wide one')
    >>> place("/nowhere").kind
    'lost'
    """
    steps = [unquote(step) for step in (path or "/").split("/") if step]
    match steps:
        case []:
            return Place("control_room")
        case ["balance"]:
            return Place("balance")
        case ["cluster", name]:
            return Place("cluster", name)
        case ["operator", name]:
            return Place("operator", name)
    return Place("lost", path or "")


def cluster_path(name: str) -> str:
    """The address of a cluster's page.

    >>> cluster_path("a/b")
    '/cluster/a%2Fb'
    """
    return f"/cluster/{quote(name, safe='')}"


def operator_path(name: str) -> str:
    """The address of an operator's page."""
    return f"/operator/{quote(name, safe='')}"
