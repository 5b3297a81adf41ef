"""What every page is declared with, and the pages that there is nothing to show on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import unquote

from dash import Dash
from dash.development.base_component import Component
from fastapi import FastAPI
from msgspec import Struct

from weir.components.live.hub import Hub
from weir.components.live.page import Page, Reader, make_page
from weir.components.live.world import World
from weir.components.pages.replay.library import Library
from weir.components.pages.sign_in.service import SignIn
from weir.components.ui import states
from weir.components.ui.dialog import Dialog
from weir.components.ui.path import REPLAY, Place, place
from weir.components.web.security import Gate
from weir.components.web.security.workers import Workers
from weir.metrics.store.anchor import AnchorFile


class Site(Struct, frozen=True, kw_only=True):
    """What the pages of one web server work with."""

    pages: "Registry"
    hub: Hub
    library: Library
    people: SignIn
    gate: Gate
    anchor: AnchorFile
    dialog: Dialog
    target_latency_s: float
    visiting: Workers  # draw what somebody opens


class Visit(Struct, frozen=True, kw_only=True):
    """Somebody opens a page that is not drawn from the hub's world."""

    site: Site
    live: World
    place: Place
    path: str
    search: str | None  # of the address
    at_ms: float | None = None  # the moment that the page is drawn again for


Drawn = tuple[dict[str, Any], Component]
"""A page and the data that it starts from."""


class PageKind(Struct, frozen=True, kw_only=True):
    """One page: where it is, what it shows, and what it needs for that."""

    kind: str
    addresses: tuple[str, ...] = ()  # patterns, see `ui.path.place`
    title: str = ""  # in the header; without one it is reached from other pages
    of: Callable[[World, Place, str], Page] | None = None  # world, place, structure drawn before
    offline: bool = False  # needs neither Redis nor clusters
    visit: Callable[[Visit], Drawn] | None = None  # draws what `of` does not, in a thread
    fetch: Callable[[Hub, World, Place], Awaitable[World]] | None = None  # what the hub lacks
    reads: Callable[[], Reader] | None = None  # the hub reads it while somebody looks
    then: Callable[[World, Place, Library], World] | None = None  # what a replay's world lacks
    slow_then: bool = False  # that takes longer than to draw its series
    whole_then: bool = False  # all of its series is sent for each moment of a replay
    register: Callable[[Dash, Site], None] | None = None  # its callbacks
    routes: Callable[[FastAPI, Site], None] | None = None  # its own addresses beside the pages


class Registry:
    """The pages by kind and by address."""

    def __init__(self, kinds: Sequence[PageKind]) -> None:
        self.kinds = {kind.kind: kind for kind in kinds}
        found = [(address, kind.kind) for kind in kinds for address in kind.addresses]
        found.sort(key=lambda pair: pair[0].endswith("*"))  # what is exact comes first
        self._addresses = dict(found)

    def place(self, path: str | None) -> Place:
        """The page behind an address."""
        return place(path, self._addresses)

    def title(self, path: str) -> str:
        """What a tab is called: the page, and of what it is."""
        if path.startswith(REPLAY):
            run, _, rest = path[len(REPLAY) :].partition("/")
            return f"Replay {unquote(run)}: {self.title('/' + rest)}"
        shown, found = self.place(path), self.kind(path)
        if found is None:
            return "No such page"
        words = found.title or found.kind.replace("_", " ").capitalize()
        steps = shown.name.split("/")[2:] if shown.name.startswith("/") else [shown.name]
        return " ".join([words, *(unquote(step) for step in steps if step)])

    def kind(self, path: str | None) -> PageKind | None:
        """The declaration of the page behind an address; None where there is no page."""
        return self.kinds.get(self.place(path).kind)

    def page(self, world: World, path: str | None, drawn: str = "") -> Page:
        """What to show at an address; a world without Redis has pages of its own."""
        shown = self.place(path)
        found = self.kinds.get(shown.kind)
        if not world.ready and not (found and found.offline):
            kind = "unreachable" if world.redis_down_since is not None else "loading"
            return make_page(shown, kind, _STATES[kind], world.redis_address)
        if found is None or found.of is None:
            return make_page(shown, "lost", _STATES["lost"], shown.name)
        return found.of(world, shown, drawn)

    def readers(self) -> dict[str, Reader]:
        """New readers, by the kind of page that needs them."""
        return {name: kind.reads() for name, kind in self.kinds.items() if kind.reads}

    def navigation(self, *, replayed: bool = False) -> list[tuple[str, str]]:
        """Title and address of the pages in the header; of those that a replay shows too."""
        return [
            (kind.title, kind.addresses[0])
            for kind in self.kinds.values()
            if kind.title and not (replayed and kind.visit)
        ]


def empty(world: World, place: Place) -> Page:
    """Redis is there, but no cluster has reported."""
    names = [w.name for w in world.workloads]
    return make_page(place, "empty", _STATES["empty"], world.redis_address, names)


def unknown(world: World, place: Place) -> Page:
    """A cluster or operator that nobody reports."""
    clusters = [c.name for c in world.snapshot.clusters]
    operators = [o.name for o in world.snapshot.operators]
    return make_page(place, "unknown", _STATES["unknown"], (clusters, operators))


def recorded_page(world: World, place: Place, drawn: str) -> Page:
    """A page of what lies on disk: `visit` draws it, and the feed brings only the header."""
    return make_page(place, place.kind, _STATES["loading"])


def plain(draw: Callable[[World, Page], Component]) -> Callable[[World, Place, str], Page]:
    """A page of which only its frame is drawn from the world; callbacks fill it."""
    return lambda world, place, drawn: make_page(place, place.kind, draw)


def _unknown(world: World, page: Page) -> Component:
    names = [c.name for c in world.snapshot.clusters]
    return states.unknown(page.place, names, [o.name for o in world.snapshot.operators])


_STATES: dict[str, Callable[[World, Page], Component]] = {
    "empty": lambda world, page: states.empty(world.redis_address),
    "unreachable": lambda world, page: states.unreachable(world.redis_address),
    "loading": lambda world, page: states.loading(),
    "lost": lambda world, page: states.lost_page(page.place.name),
    "unknown": _unknown,
}
