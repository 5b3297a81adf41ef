"""Addresses of the pages. All of a page's state stands in its address."""

from typing import Literal
from urllib.parse import quote, unquote

from msgspec import Struct

Kind = Literal[
    "control_room",
    "balance",
    "scale",
    "cluster",
    "operator",
    "recommendation",
    "audit",
    "settings",
    "users",
    "history",
    "lost",
]

CONTROL_ROOM = "/"
BALANCE = "/balance"
SCALE = "/scale"
AUDIT = "/audit"
SETTINGS = "/settings"
HISTORY = "/history"
USERS = "/users"


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
        case ["scale", *name] if len(name) < 2:
            return Place("scale", *name)
        case ["cluster", name]:
            return Place("cluster", name)
        case ["operator", name]:
            return Place("operator", name)
        case ["recommendation", name]:
            return Place("recommendation", name)
        case ["users"]:
            return Place("users")
        case ["audit"]:
            return Place("audit")
        case ["settings"]:
            return Place("settings")
        case ["settings", name]:
            return Place("settings", name)
        case ["history" | "replay", *_]:
            return Place("history", path or "")
    return Place("lost", path or "")


def cluster_path(name: str) -> str:
    """The address of a cluster's page.

    >>> cluster_path("a/b")
    '/cluster/a%2Fb'
    """
    return f"/cluster/{quote(name, safe='')}"


def scale_path(name: str) -> str:
    """The address of the scaling of a cluster."""
    return f"{SCALE}/{quote(name, safe='')}"


def operator_path(name: str) -> str:
    """The address of an operator's page."""
    return f"/operator/{quote(name, safe='')}"


def recommendation_path(recommendation_id: str) -> str:
    """The address of a recommendation's page."""
    return f"/recommendation/{quote(recommendation_id, safe='')}"


def settings_path(cluster: str = "") -> str:
    """The address of the settings, of everything or of one cluster.

    >>> settings_path(), settings_path("wide")
    ('/settings', '/settings/wide')
    """
    return f"{SETTINGS}/{quote(cluster, safe='')}" if cluster else SETTINGS
