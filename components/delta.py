"""What has changed for one tab since it last drew: the one message of both feeds.

The browser says what it has drawn (`Cursor`), the answer is what it lacks. The
same function serves push and polling, so they cannot disagree.
"""

from typing import Any

import msgspec
from msgspec import Struct

from components import ids
from components.cards.balance_note import balance_note
from components.cards.commands import commands_list
from components.cards.executors import executors_table
from components.cards.health import health_bar
from components.cards.rebalances import rebalances_list
from components.pages import Page, page_of
from components.view import balance
from components.view.charts import points
from components.view.digest import digest
from components.view.path import place
from components.view.world import World, stale_after_s


class Cursor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What a tab has: which page, drawn how, up to which report of each cluster."""

    path: str = "/"
    page: str = ""  # hash of the page's structure
    at: dict[str, int] = {}  # cluster -> ms
    regions: dict[str, str] = {}  # region -> hash
    live: str = ""  # hash of the figures
    map: str = ""
    balance: str = ""


def cursor_of(data: Any) -> Cursor:
    """Read what a browser says; whatever is wrong counts as nothing drawn yet."""
    try:
        return msgspec.convert(data or {}, Cursor)
    except msgspec.ValidationError:
        return Cursor()


def later(mine: Cursor, theirs: Cursor) -> Cursor:
    """What was sent or what was drawn, whichever is further; a new page starts over.

    >>> later(Cursor(page="a", at={"x": 9}), Cursor(page="a", at={"x": 7})).at
    {'x': 9}
    >>> later(Cursor(page="a", at={"x": 9}), Cursor(page="b", at={"x": 7})).at
    {'x': 7}
    """
    if mine.page != theirs.page or mine.path != theirs.path:
        return theirs
    return mine if sum(mine.at.values()) >= sum(theirs.at.values()) else theirs


def delta(world: World, seen: Cursor) -> tuple[dict[str, Any], Cursor]:
    """The message for a tab, and what it will have once that is drawn."""
    page = page_of(world, place(seen.path))
    message: dict[str, Any] = {"now": round(world.at * 1000), "path": seen.path}
    if world.redis_down_since is not None:
        message["redisDownSince"] = round(world.redis_down_since * 1000)
    if page.structure != seen.page:
        message["redraw"] = True
        return message, seen
    at = _new_points(world, page, seen, message)
    live = digest(page.figures)
    if live != seen.live:
        message["live"] = msgspec.to_builtins(page.figures)
    regions = {}
    for region, data in page.regions(world).items():
        regions[region] = digest(data)
        if regions[region] != seen.regions.get(region):
            message.setdefault("regions", {})[region] = _TREES[region](data)
    drawings = {}
    for name, drawing in (("map", page.map), ("balance", page.balance)):
        drawings[name] = digest(drawing) if drawing is not None else ""
        if drawing is not None and drawings[name] != getattr(seen, name):
            message[name] = drawing
    after = Cursor(path=seen.path, page=seen.page, at=at, regions=regions, live=live, **drawings)
    message["cursor"] = msgspec.to_builtins(after)
    return message, after


def start(world: World, path: str) -> tuple[dict[str, Any], Page]:
    """The first points and everything else that a new page is drawn with."""
    page = page_of(world, place(path))
    at = {c: round(s.at * 1000) for c in page.clusters if (s := world.newest(c))}
    if page.kind == "balance" and world.outlook:
        at[balance.DISTANCE] = round(world.outlook.at * 1000)
    cursor = Cursor(path=path, page=page.structure, at=at)
    return {
        "now": round(world.at * 1000),
        "charts": [{**spec, **first} for spec, first in page.first_points(world)],
        "staleAfter": {
            c: round(stale_after_s(s.period_s) * 1000)
            for c in page.clusters
            if (s := world.newest(c))
        }
        | {balance.DISTANCE: round(balance.OLD_AFTER_S * 1000)},
        "map": page.map,
        "balance": page.balance,
        "cursor": msgspec.to_builtins(cursor),
    }, page


_TREES = {
    ids.HEALTH: health_bar,
    ids.COMMANDS: commands_list,
    ids.EXECUTORS: executors_table,
    ids.REBALANCES: rebalances_list,
    ids.BALANCE_NOTE: balance_note,
}


def _new_points(world: World, page: Page, seen: Cursor, message: dict[str, Any]) -> dict[str, int]:
    fresh: dict[str, list[Any]] = {}
    at: dict[str, int] = {}
    marks = []
    for cluster in page.clusters:
        since = seen.at.get(cluster, 0)
        samples = world.series.get(cluster, ())
        index = len(samples)
        while index and round(samples[index - 1].at * 1000) > since:
            index -= 1
        fresh[cluster] = list(samples[index:])
        at[cluster] = round(samples[-1].at * 1000) if samples else since
        for sample in fresh[cluster]:
            commits = [o.batch_at for o in sample.operators if o.batch_at is not None]
            marks.append(
                {"cluster": cluster, "at": sample.at, "batch_at": max(commits, default=None)}
            )
    if marks:
        message["marks"] = marks
        message["points"] = {
            chart.key: points(chart, fresh[chart.cluster])
            for chart in page.charts
            if fresh.get(chart.cluster)
        }
    if page.kind == "balance":
        at[balance.DISTANCE] = _new_distance(world, seen, message)
    return at


def _new_distance(world: World, seen: Cursor, message: dict[str, Any]) -> int:
    """The load distance comes with the engine's outlook, not with a cluster's report."""
    since = seen.at.get(balance.DISTANCE, 0)
    fresh = balance.distance_points(world.outlook, since)
    if fresh["x"]:
        message["points"] = {balance.CHART.key: fresh}
    return fresh["x"][-1] if fresh["x"] else since
