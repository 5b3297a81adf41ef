"""What has changed for one tab since it last drew: the one message of both feeds.

The browser says what it has drawn (`Cursor`), the answer is what it lacks. The
same function serves push and polling, so they cannot disagree.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.built import Built, Recent
from weir.components.live.charts import points
from weir.components.live.digest import digest
from weir.components.live.world import World
from weir.components.pages import Page, page_of
from weir.components.pages.balance import view as balance
from weir.components.pages.balance.render_note import balance_note
from weir.components.pages.balance.render_rebalances import rebalances_list
from weir.components.pages.cluster.render_executors import executors_table
from weir.components.pages.control_room.map import map_changes
from weir.components.pages.control_room.render_inbox import inbox_body
from weir.components.pages.recommendation.render_body import recommendation_body
from weir.components.pages.scale.render_answers import scale_note
from weir.components.pages.scale.render_qtable import learner_box
from weir.components.ui import ids
from weir.components.ui.commands_list import commands_list
from weir.components.ui.health_bar import health_bar
from weir.components.ui.modes import pause_box
from weir.components.ui.path import place
from weir.controllers.model.snapshot import stale_after_s


class Cursor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What a tab has: which page, drawn how, up to which report of each cluster."""

    path: str = "/"
    page: str = ""  # the page's structure: a hash, with the clusters in full of a large one
    drawn: int = 0  # when, in ms: the same page drawn again starts over too
    at: dict[str, int] = {}  # cluster -> ms
    regions: dict[str, str] = {}  # region -> hash
    live: str = ""  # hash of the figures
    map: str = ""
    balance: str = ""
    scale: str = ""
    events: str = ""


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
    if (mine.path, mine.page, mine.drawn) != (theirs.path, theirs.page, theirs.drawn):
        return theirs
    return mine if sum(mine.at.values()) >= sum(theirs.at.values()) else theirs


def delta(
    world: World, seen: Cursor, built: Built | None = None, recent: Recent | None = None
) -> tuple[dict[str, Any], Cursor]:
    """The message for a tab, and what it will have once that is drawn.

    `built` is the tab's page where it has been made already. Of figures and map that are in
    `recent` only what changed since is sent; all else is sent whole when it changes.
    """
    built, recent = built or Built(world, seen.path, seen.page), recent or Recent()
    page = built.page
    message: dict[str, Any] = {"now": round(world.at * 1000), "path": seen.path}
    if world.redis_down_since is not None:
        message["redisDownSince"] = round(world.redis_down_since * 1000)
    if page.structure != seen.page:
        message["redraw"] = True
        return message, seen
    at = _new_points(world, page, seen, message)
    if built.live != seen.live:
        _figures(built, recent.get(seen.live), message)
        recent.keep(built.live, page.figures)
    regions = {region: found for region, (found, _) in built.regions.items()}
    for region, found in regions.items():
        if found != seen.regions.get(region):
            message.setdefault("regions", {})[region] = built.tree(region, _TREES[region])
    for name, found in built.drawings.items():
        if found and found != getattr(seen, name):
            _drawing(name, built, recent.get(getattr(seen, name)), message)
    if page.map is not None:
        recent.keep(built.drawings["map"], page.map)
    after = Cursor(
        path=seen.path, page=seen.page, at=at, regions=regions, live=built.live, **built.drawings
    )
    message["cursor"] = msgspec.to_builtins(after)
    return message, after


def start(world: World, path: str, drawn: str = "") -> tuple[dict[str, Any], Page]:
    """The first points and everything else that a new page is drawn with.

    `drawn`: the structure that it was drawn with before, if it goes on from there.
    """
    page = page_of(world, place(path), drawn)
    at = {c: round(s.at * 1000) for c in page.clusters if (s := world.newest(c))}
    if page.kind == "balance" and world.outlook:
        at[balance.DISTANCE] = round(world.outlook.at * 1000)
    cursor = Cursor(path=path, page=page.structure, drawn=round(world.at * 1000), at=at)
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
        "overview": page.overview,
        "figures": msgspec.to_builtins(page.figures) if page.overview else None,
        "balance": page.balance,
        "scale": page.scale,
        "events": page.events,
        "span": [round(t * 1000) for t in page.span] if page.span else None,
        "cursor": msgspec.to_builtins(cursor),
    }, page


def panels(world: World, page: Page) -> tuple[dict[str, Any], dict[str, str]]:
    """The panels that a new page starts with, as components, and the hash of each."""
    found = page.regions(world)
    return (
        {region: _TREES[region](data) for region, data in found.items()},
        {region: digest(data) for region, data in found.items()},
    )


_TREES = {
    ids.HEALTH: health_bar,
    ids.COMMANDS: commands_list,
    ids.EXECUTORS: executors_table,
    ids.REBALANCES: rebalances_list,
    ids.BALANCE_NOTE: balance_note,
    ids.SCALE_NOTE: scale_note,
    ids.LEARNER: learner_box,
    ids.INBOX: inbox_body,
    ids.RECOMMENDATION: recommendation_body,
    ids.PAUSE: pause_box,
}


def _figures(built: Built, before: Mapping[str, Any] | None, message: dict[str, Any]) -> None:
    figures = built.page.figures
    if before is None:
        message["live"] = msgspec.to_builtins(figures)
    else:
        changed = {key: f for key, f in figures.items() if before.get(key) != f}
        message["liveChanges"] = msgspec.to_builtins(changed)


def _drawing(
    name: str, built: Built, before: Mapping[str, Any] | None, message: dict[str, Any]
) -> None:
    drawing = getattr(built.page, name)
    changes = map_changes(before, drawing) if name == "map" and before else None
    if changes is None:
        message[name] = drawing
    else:
        message["mapChanges"] = changes


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
