"""Addresses of the pages. All of a page's state stands in its address."""

from collections.abc import Mapping
from urllib.parse import quote, unquote

from msgspec import Struct

CONTROL_ROOM = "/"
BALANCE = "/balance"
SCALE = "/scale"
AUDIT = "/audit"
SETTINGS = "/settings"
HISTORY = "/history"
TRENDS = "/trends"
USERS = "/users"
LAB = "/lab"
REPLAY = "/replay/"


class Place(Struct, frozen=True):
    """Which page, and of what."""

    kind: str
    name: str = ""


def place(path: str | None, addresses: Mapping[str, str]) -> Place:
    """The page behind an address, by `addresses`: pattern -> kind.

    In a pattern `{name}` stands for one step and `*` at its end for any number of them.

    >>> known = {"/": "room", "/cluster/{name}": "cluster", "/history/*": "history"}
    >>> place("/", known), place("/cluster/wide%20one", known)
    (Place(kind='room', name=''), Place(kind='cluster', name='wide one'))
    >>> place("/history/a/b", known).kind, place("/nowhere", known).kind
    ('history', 'lost')
    """
    given = _steps(path or "/")
    for pattern, kind in addresses.items():
        steps = _steps(pattern)
        rest = steps[-1:] == ["*"]
        if rest:
            steps.pop()
        if len(given) < len(steps) or (len(given) > len(steps) and not rest):
            continue
        if all(step in ("{name}", said) for step, said in zip(steps, given, strict=False)):
            if rest:
                return Place(kind, path or "/")
            named = [g for s, g in zip(steps, given, strict=True) if s == "{name}"]
            return Place(kind, *named)
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


def replay_path(run: str, path: str = "/", at: float | None = None) -> str:
    """The address of a page in a replay, with its moment in ms.

    >>> replay_path("live-1", "/cluster/wide", 12.5)
    '/replay/live-1/cluster/wide?at=12500'
    >>> replay_path("live-1")
    '/replay/live-1'
    """
    address = f"{REPLAY}{quote(run, safe='')}" + (path if path != "/" else "")
    return address if at is None else f"{address}?at={round(at * 1000)}"


def trends_path(metric: str, cluster: str) -> str:
    """A figure of one cluster over the last hour, from where other ranges are a click away.

    >>> trends_path("load", "wide one")
    '/trends/load/1h/wide%20one'
    """
    return f"{TRENDS}/{metric}/1h/{quote(cluster, safe='')}"


def _steps(path: str) -> list[str]:
    return [unquote(step) for step in path.split("/") if step]
