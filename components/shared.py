"""Messages that are the same for all tabs of one worker, made and serialised once.

Tabs that show the same page and have drawn the same of it get the same text. A tab that is
behind shares the page and differs in what it lacks.
"""

import time
from typing import Any

import msgspec
from dash.development.base_component import Component
from msgspec import Raw, Struct
from msgspec.structs import replace

from components.built import Built, Recent
from components.delta import Cursor, delta
from components.view.world import World

PANELS_KEPT = 100
_OF_DASH = ("available_properties", "available_wildcard_properties")  # what a component may have


class Sent(Struct, frozen=True, kw_only=True):
    """A message as it goes out."""

    text: str  # JSON
    after: Cursor  # what the tab will have once that is drawn
    quiet: bool  # there is nothing new in it
    large: bool  # it is for a page of very many clusters


class Shared:
    """What was made of the present world; the next world starts over."""

    def __init__(self) -> None:
        self.cost_s = 0.0
        """Of a core, for all messages of the present world."""
        self._world: World | None = None
        self._before: dict[tuple[str, str], Built] = {}
        self._built: dict[tuple[str, str], Built] = {}
        self._sent: dict[bytes, Sent] = {}
        self._panels: dict[int, tuple[Component, Raw]] = {}  # by identity
        self._recent = Recent()

    def message(self, world: World, seen: Cursor) -> Sent:
        """What a tab lacks that has drawn this much."""
        if world is not self._world:
            self._before, self._built = self._built, {}
            self._world, self._sent, self.cost_s = world, {}, 0.0
        key = msgspec.json.encode(replace(seen, drawn=0))
        if key not in self._sent:
            began = time.thread_time()
            page = seen.path, seen.page
            if page not in self._built:
                self._built[page] = Built(world, *page, before=self._before.get(page))
            built = self._built[page]
            found, after = delta(world, seen, built, self._recent)
            if "regions" in found:
                found["regions"] = {k: self._panel(v) for k, v in found["regions"].items()}
            self._sent[key] = Sent(
                text=_json(found).decode(),
                after=after,
                quiet=len(found) <= 3,  # only now, path and cursor
                large=built.page.overview is not None,
            )
            self.cost_s += time.thread_time() - began
        return self._sent[key]

    def _panel(self, tree: Component) -> Raw:
        """A panel as text; the same one goes to many tabs, at different times."""
        known = self._panels.get(id(tree))
        if known is None:
            if len(self._panels) >= PANELS_KEPT:
                self._panels.clear()
            known = self._panels[id(tree)] = tree, Raw(_json(tree))
        return known[1]


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """A component as `assets/regions.js` takes it, or a number of numpy's.

    >>> from dash import html
    >>> _plain(html.B("5", title="five"))
    {'type': 'B', 'props': {'children': '5', 'title': 'five'}}
    """
    if not isinstance(value, Component):
        return value.item()
    given = {k: v for k, v in vars(value).items() if v is not None and k[0] != "_"}
    for name in _OF_DASH:
        given.pop(name, None)
    return {"type": type(value).__name__, "props": given}
