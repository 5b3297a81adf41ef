"""A moment of a run as a page, and as the message that brings a page to another moment.

The pages, their figures and their panels come from the same functions as live; only
the world is another one. What differs is said here once: links stay in the replay,
nothing acts, and the health in the header stays that of the present.
"""

from typing import Any

import msgspec
from dash.development.base_component import Component
from msgspec.structs import replace

from weir.components.live.delta import Cursor, delta, panels, start
from weir.components.live.world import World
from weir.components.pages.base import Page
from weir.components.pages.history import ids as own
from weir.components.pages.replay import child as replay_child
from weir.components.pages.replay import render_audit as replay_audit
from weir.components.pages.replay import render_settings as replay_settings
from weir.components.pages.replay.audit import trail_then
from weir.components.pages.replay.helper import Helper
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.settings import sections_then
from weir.components.pages.replay.tree import as_past, map_as_past, overview_as_past
from weir.components.pages.replay.view import (
    Past,
    with_recommendation,
    with_shadows,
    within,
    world_at,
)
from weir.components.ui import ids
from weir.components.ui.path import place
from weir.controllers.model.errors import Refused
from weir.metrics.runs.replay import RecordedRun

OWN = (ids.HEALTH, ids.PAUSE)
"""Panels that show the present, also during a replay."""
ANSWER_S = 90.0


def world_of_page(
    run: RecordedRun, helper: Helper, path: str, at: float, target_latency_s: float
) -> World:
    """The world at a moment, with what the page at this address needs of the engine."""
    where = place(path)
    if where.kind == "users":
        raise Refused("Users and tokens are of the present: a run does not record them.")
    world = world_at(run, at, target_latency_s)
    ask = helper.ask
    if where.kind == "balance":
        view = ask(ANSWER_S, replay_child.outlook_of, run.info.id, at)
        return replace(world, outlook=view)
    if where.kind == "scale":
        names = [where.name] if where.name in world.series else list(world.series)
        return with_shadows(world, ask(ANSWER_S, replay_child.shadows_of, run.info.id, names, at))
    if where.kind == "recommendation":
        return with_recommendation(world, run, where.name)
    return world


def first(
    library: Library, past: Past, at: float, target_latency_s: float
) -> tuple[dict[str, Any], World, Page]:
    """Everything that a page of a replay is drawn with."""
    run = library.run(past.run)
    at = within(run, at)
    world = world_of_page(run, library.helper, past.path, at, target_latency_s)
    data, page = start(world, past.path)
    data["map"] = map_as_past(data["map"], past.run, at)
    data["overview"] = overview_as_past(data["overview"], past.run, at)
    data["regions"] = _panels({**panels(world, page)[0], **_recorded(run, page, at)}, past, at)
    data["past"] = {
        "run": past.run,
        "path": past.path,
        "at": round(at * 1000),
        "page": page.structure,
        "seen": data["cursor"]["at"],
    }
    return data, world, page


def moment(
    library: Library,
    past: Past,
    at: float,
    have_ms: int,
    structure: str,
    target_latency_s: float,
    soon: bool = False,
) -> dict[str, Any]:
    """What changes on a page when it goes to another moment.

    `have_ms`: the page has the points up to there and wants only those after; 0: all.
    `soon`: of the page on which every scaler answers, which takes longer than to draw its
    series, only those; it asks again for the rest.
    """
    run = library.run(past.run)
    at = within(run, at)
    if soon and place(past.path).kind == "scale":
        return _series(run, past, at, structure, target_latency_s)
    world = world_of_page(run, library.helper, past.path, at, target_latency_s)
    cut = replace(world, series=_after(world, have_ms)) if have_ms else world
    data, page = start(cut, past.path, structure)
    message: dict[str, Any] = {"at": round(at * 1000), "page": page.structure}
    if page.structure != structure:
        return {**message, "redraw": True}
    seen = Cursor(path=past.path, page=page.structure, at=_newest(world, page))
    found, _ = delta(world, seen)
    regions = found.pop("regions", {})
    return {
        **{k: v for k, v in found.items() if k not in ("cursor", "points", "marks", "path", "now")},
        **message,
        "map": map_as_past(found.get("map"), past.run, at),
        "regions": _panels({**regions, **_recorded(run, page, at)}, past, at),
        "charts": {c["key"]: {"x": c["x"], "y": c["y"]} for c in data["charts"]},
        "seen": seen.at,
        "all": not have_ms or page.kind in ("balance", "scale"),
    }


def _series(
    run: RecordedRun, past: Past, at: float, structure: str, target_latency_s: float
) -> dict[str, Any]:
    """The series of a page at a moment, without anybody's answers."""
    world = world_at(run, at, target_latency_s)
    data, page = start(world, past.path, structure)
    charts = {c["key"]: {"x": c["x"], "y": c["y"]} for c in data["charts"] if c["x"]}
    return {
        "at": round(at * 1000),
        "page": structure,
        "charts": charts,
        "seen": _newest(world, page),
        "all": True,
        "more": True,
    }


def drawn(content: Component, past: Past, at: float) -> Component:
    """A page's content as one of the past."""
    found: Component = as_past(content, past.run, at)
    return found


def live_cursor(path: str, structure: str) -> dict[str, Any]:
    """What the live feed is told of a page of the past: it brings only the header's panels."""
    found: dict[str, Any] = msgspec.to_builtins(Cursor(path=path, page=structure))
    return found


def _recorded(run: RecordedRun, page: Page, at: float) -> dict[str, Any]:
    """Panels of pages that are not drawn from a world: live, callbacks fill them from the store."""
    match page.kind:
        case "audit":
            return {own.REPLAY_AUDIT: replay_audit.panel(trail_then(run, at))}
        case "settings":
            then = sections_then(run, at, page.place.name)
            return {own.REPLAY_SETTINGS: replay_settings.panel(then)}
    return {}


def _panels(trees: dict[str, Any], past: Past, at: float) -> dict[str, Any]:
    return {k: as_past(v, past.run, at) for k, v in trees.items() if k not in OWN}


def _after(world: World, have_ms: int) -> dict[str, Any]:
    return {
        name: [s for s in samples if round(s.at * 1000) > have_ms]
        for name, samples in world.series.items()
    }


def _newest(world: World, page: Page) -> dict[str, int]:
    found = {c: round(s.at * 1000) for c in page.clusters if (s := world.newest(c))}
    if page.kind == "balance" and world.outlook:
        found["/distance"] = round(world.outlook.at * 1000)
    return found
