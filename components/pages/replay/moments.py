"""A moment of a run as a page, and as the message that brings a page to another moment.

The pages, their figures and their panels come from the same functions as live; only the world
and the surface that they are drawn on are others. The health in the header stays that of the
present.
"""

from typing import Any

from dash.development.base_component import Component
from msgspec.structs import replace

from weir.components.live.delta import Cursor, delta, panels, start
from weir.components.live.page import HEADER
from weir.components.live.world import World
from weir.components.pages.base import Registry
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.view import PastPage, within, world_at
from weir.components.ui.surface import Surface, draw_on


def world_of_page(
    pages: Registry, library: Library, past: PastPage, at: float, target_latency_s: float
) -> World:
    """The world at a moment, with what the page at this address needs of the engine."""
    world = world_at(library.run(past.run), at, target_latency_s)
    kind = pages.kind(past.path)
    if kind is None or kind.then is None:
        return world
    return kind.then(world, pages.place(past.path), library)


def first(
    pages: Registry, library: Library, past: PastPage, at: float, target_latency_s: float
) -> tuple[dict[str, Any], Component]:
    """A page of a replay, and everything that it is drawn with."""
    at = within(library.run(past.run), at)
    world = world_of_page(pages, library, past, at, target_latency_s)
    with draw_on(Surface(past.run, at)):
        data, page = start(pages, world, past.path)
        data["regions"] = _own(panels(world, page)[0])
        content = page.draw(world, page)
    data["past"] = {
        "run": past.run,
        "path": past.path,
        "at": round(at * 1000),
        "page": page.structure,
        "seen": data["cursor"]["at"],
    }
    return data, content


def moment(
    pages: Registry,
    library: Library,
    past: PastPage,
    at: float,
    have_ms: int,
    structure: str,
    target_latency_s: float,
    soon: bool = False,
) -> dict[str, Any]:
    """What changes on a page when it goes to another moment.

    `have_ms`: the page has the points up to there and wants only those after; 0: all.
    `soon`: of a page that takes longer to answer than to draw its series, only those; it asks
    again for the rest.
    """
    at = within(library.run(past.run), at)
    kind = pages.kind(past.path)
    with draw_on(Surface(past.run, at)):
        if soon and kind is not None and kind.slow_then:
            return _series(pages, library, past, at, structure, target_latency_s)
        world = world_of_page(pages, library, past, at, target_latency_s)
        cut = replace(world, series=_after(world, have_ms)) if have_ms else world
        data, page = start(pages, cut, past.path, structure)
        message: dict[str, Any] = {"at": round(at * 1000), "page": page.structure}
        if page.structure != structure:
            return {**message, "redraw": True}
        seen = Cursor(path=past.path, page=page.structure, at=page.newest(world))
        found, _ = delta(pages, world, seen)
    regions = found.pop("regions", {})
    return {
        **{k: v for k, v in found.items() if k not in ("cursor", "points", "marks", "path", "now")},
        **message,
        "regions": _own(regions),
        "charts": {c["key"]: {"x": c["x"], "y": c["y"]} for c in data["charts"]},
        "seen": seen.at,
        "all": not have_ms or (kind is not None and kind.whole_then),
    }


def _series(
    pages: Registry,
    library: Library,
    past: PastPage,
    at: float,
    structure: str,
    target_latency_s: float,
) -> dict[str, Any]:
    """The series of a page at a moment, without anybody's answers."""
    world = world_at(library.run(past.run), at, target_latency_s)
    data, page = start(pages, world, past.path, structure)
    charts = {c["key"]: {"x": c["x"], "y": c["y"]} for c in data["charts"] if c["x"]}
    return {
        "at": round(at * 1000),
        "page": structure,
        "charts": charts,
        "seen": page.newest(world),
        "all": True,
        "more": True,
    }


def _own(trees: dict[str, Any]) -> dict[str, Any]:
    """Without the panels of the header."""
    return {region: tree for region, tree in trees.items() if region not in HEADER}


def _after(world: World, have_ms: int) -> dict[str, Any]:
    return {
        name: [s for s in samples if round(s.at * 1000) > have_ms]
        for name, samples in world.series.items()
    }
