"""Messages that are the same for all tabs of one worker, made and serialised once.

Tabs that show the same page and have drawn the same of it get the same text. A tab that is
behind shares the page and differs in what it lacks.
"""

import time

import msgspec
from dash.development.base_component import Component
from msgspec import Raw, Struct
from msgspec.structs import replace

from weir.components.live.built import PANELS_EVERY_S, Built, Panels, Recent
from weir.components.live.delta import Cursor, delta
from weir.components.live.page import Pages
from weir.components.live.world import World, once
from weir.components.ui.trees import as_json
from weir.controllers.engine.recommendation import ENGINE

TEXTS_KEPT = 50


class Sent(Struct, frozen=True, kw_only=True):
    """A message as it goes out."""

    text: str  # JSON
    after: Cursor  # what the tab will have once that is drawn
    quiet: bool  # there is nothing new in it
    large: bool  # it is for a page of very many clusters


class Shared:
    """What was made of the present world; the next world starts over."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.cost_s = 0.0
        """Of a core, for all messages of the present world."""
        self._world: World | None = None
        self._built: dict[tuple[str, str], Built] = {}
        self._kept: Panels | None = None
        self._sent: dict[bytes, Sent] = {}
        self._texts: dict[tuple[str, str], Raw] = {}
        self._recent = Recent()

    def message(self, world: World, seen: Cursor) -> Sent:
        """What a tab lacks that has drawn this much."""
        if world is not self._world:
            self._world, self._built, self._sent, self.cost_s = world, {}, {}, 0.0
        key = msgspec.json.encode(replace(seen, drawn=0, lost=0))
        if key not in self._sent:
            began = time.thread_time()
            built = self._page(world, seen)
            found, after = delta(self._pages, world, seen, built, self._recent)
            if "regions" in found:
                hashes = after.regions
                found["regions"] = {
                    region: self._text((region, hashes[region]), tree)
                    for region, tree in found["regions"].items()
                }
            self._sent[key] = Sent(
                text=as_json(found).decode(),
                after=after,
                quiet=len(found) <= 3,  # only now, path and cursor
                large=built.page.large,
            )
            self.cost_s += time.thread_time() - began
        return self._sent[key]

    def _page(self, world: World, seen: Cursor) -> Built:
        page, kept = (seen.path, seen.page), self._panels_for(world, seen)
        found = self._built.get(page)
        if found is None or found.kept is not kept:
            found = self._built[page] = Built(self._pages, world, *page, kept)
        return found

    def _panels_for(self, world: World, seen: Cursor) -> Panels:
        """Those of a moment ago, unless somebody did something or the tab was drawn since."""
        kept = self._kept
        if kept is None or (
            kept.world is not world and _is_outdated(kept.world, world, seen.drawn)
        ):
            kept = self._kept = Panels(world)
        return kept

    def _text(self, key: tuple[str, str], tree: Component) -> Raw:
        """A panel as text, by its hash; the same one goes to many tabs, at different times."""
        if key not in self._texts:
            if len(self._texts) >= TEXTS_KEPT:
                self._texts.clear()
            self._texts[key] = Raw(as_json(tree))
        return self._texts[key]


def _is_outdated(kept: World, world: World, drawn_ms: int) -> bool:
    return (
        world.at - kept.at >= PANELS_EVERY_S
        or round(kept.at * 1000) < drawn_ms
        or done_by_people(kept) != done_by_people(world)
    )


@once
def done_by_people(world: World) -> tuple[object, ...]:
    """What people decided or asked for of late: they are shown at once what comes of it."""
    decided = (r for r in world.control.recommendations if r.history and r.history[-1].by != ENGINE)
    asked = ((c, r) for c, r in world.commands if c.by != ENGINE)
    return (
        world.control.paused,
        tuple((r.id, r.version) for r in decided),
        tuple((command.id, result.status) for command, result in asked),
    )
