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
from weir.components.live.page import Page, Pages
from weir.components.live.world import World
from weir.controllers.model.age import AHEAD_S
from weir.controllers.model.snapshot import stale_after_s


class Cursor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What a tab has: which page, drawn how, up to which report of each cluster."""

    path: str = "/"
    page: str = ""  # the page's structure: a hash, with the clusters in full of a large one
    drawn: int = 0  # when, in ms: the same page drawn again starts over too
    lost: int = 0  # when, in ms, the tab noticed last that a message had never come to it
    at: dict[str, int] = {}  # cluster -> ms
    regions: dict[str, str] = {}  # region -> hash
    live: str = ""  # hash of the figures
    drawings: dict[str, str] = {}  # name -> hash


def cursor_of(data: Any) -> Cursor:
    """Read what a browser says; whatever is wrong counts as nothing drawn yet."""
    try:
        return msgspec.convert(data or {}, Cursor)
    except msgspec.ValidationError:
        return Cursor()


def later(mine: Cursor, theirs: Cursor) -> Cursor:
    """What was sent or what was drawn, whichever is further; a new page starts over, and so
    does a tab that has lost a message.

    >>> later(Cursor(page="a", at={"x": 9}), Cursor(page="a", at={"x": 7})).at
    {'x': 9}
    >>> later(Cursor(page="a", at={"x": 9}), Cursor(page="b", at={"x": 7})).at
    {'x': 7}
    """
    if _drawing_of(mine) != _drawing_of(theirs):
        return theirs
    return mine if sum(mine.at.values()) >= sum(theirs.at.values()) else theirs


def _drawing_of(cursor: Cursor) -> tuple[str, str, int, int]:
    return cursor.path, cursor.page, cursor.drawn, cursor.lost


def delta(
    pages: Pages,
    world: World,
    seen: Cursor,
    built: Built | None = None,
    recent: Recent | None = None,
) -> tuple[dict[str, Any], Cursor]:
    """The message for a tab, and what it will have once that is drawn.

    `built` is the tab's page where it has been made already. Of figures and drawings that
    are in `recent` only what changed since is sent where that can be told; all else is sent whole when it changes.
    """
    built, recent = built or Built(pages, world, seen.path, seen.page), recent or Recent()
    page = built.page
    message: dict[str, Any] = {"now": round(world.at * 1000), "path": seen.path}
    if world.redis_down_since is not None:
        message["redisDownSince"] = round(world.redis_down_since * 1000)
    if page.structure != seen.page or _drew_ahead(world, page, seen):
        message["redraw"] = True
        return message, seen
    at = _new_points(world, page, seen, message)
    if built.live != seen.live:
        _figures(built, recent.get(seen.live), message)
        recent.keep(built.live, page.figures)
    regions = {region: found for region, (found, _) in built.regions.items()}
    for region, found in regions.items():
        if found != seen.regions.get(region):
            message.setdefault("regions", {})[region] = built.tree(region)
    for name, found in built.drawings.items():
        before = seen.drawings.get(name, "")
        if found != before:
            _drawing(name, page, recent.get(before), message)
        if name in page.changes:
            recent.keep(found, page.drawings[name])
    after = Cursor(
        path=seen.path,
        page=seen.page,
        at=at,
        regions=regions,
        live=built.live,
        drawings=built.drawings,
    )
    message["cursor"] = msgspec.to_builtins(after)
    return message, after


def _drew_ahead(world: World, page: Page, seen: Cursor) -> bool:
    """Whether a tab has drawn reports from before the clock was set back: none could follow."""
    newest = ((seen.at.get(name, 0), world.newest(name)) for name in page.clusters)
    return any(sample and at / 1000 > sample.at + AHEAD_S for at, sample in newest)


def start(pages: Pages, world: World, path: str, drawn: str = "") -> tuple[dict[str, Any], Page]:
    """The first points and everything else that a new page is drawn with.

    `drawn`: the structure that it was drawn with before, if it goes on from there.
    """
    page = pages.page(world, path, drawn)
    cursor = Cursor(
        path=path, page=page.structure, drawn=round(world.at * 1000), at=page.newest(world)
    )
    stale_after = {
        c: stale_after_s(s.period_s) for c in page.clusters if (s := world.newest(c))
    } | {name: source.old_after_s for name, source in page.sources.items()}
    return {
        "now": round(world.at * 1000),
        "charts": [{**spec, **first} for spec, first in page.first_points(world)],
        "staleAfter": {name: round(after_s * 1000) for name, after_s in stale_after.items()},
        **page.drawings,
        **page.first,
        "figures": msgspec.to_builtins(page.figures) if page.large else None,
        "span": [round(t * 1000) for t in page.span] if page.span else None,
        "cursor": msgspec.to_builtins(cursor),
    }, page


def panels(world: World, page: Page) -> tuple[dict[str, Any], dict[str, str]]:
    """The panels that a new page starts with, as components, and the hash of each."""
    found = page.regions(world)
    return (
        {region: page.tree(region, data) for region, data in found.items()},
        {region: digest(data) for region, data in found.items()},
    )


def _figures(built: Built, before: Mapping[str, Any] | None, message: dict[str, Any]) -> None:
    figures = built.page.figures
    if before is None:
        message["live"] = msgspec.to_builtins(figures)
    else:
        changed = {key: f for key, f in figures.items() if before.get(key) != f}
        message["liveChanges"] = msgspec.to_builtins(changed)


def _drawing(
    name: str, page: Page, before: Mapping[str, Any] | None, message: dict[str, Any]
) -> None:
    drawing = page.drawings[name]
    changes = page.changes[name](before, drawing) if name in page.changes and before else None
    if changes is None:
        message[name] = drawing
    else:
        message[f"{name}Changes"] = changes


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
    for name, source in page.sources.items():
        since = seen.at.get(name, 0)
        new = source.points(world, since)
        if new["x"]:
            mine = (chart.key for chart in page.charts if chart.cluster == name)
            message.setdefault("points", {}).update(dict.fromkeys(mine, new))
        at[name] = new["x"][-1] if new["x"] else since
    return at
