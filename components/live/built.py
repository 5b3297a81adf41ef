"""A page at one moment with the hashes of its parts, and what was shown of late.

Both are the same for all tabs of a worker, so they are made once (`weir.components.live.shared`).
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from weir.components.live.digest import digest
from weir.components.live.page import Page, Pages
from weir.components.live.world import World
from weir.components.ui.path import Place

PANELS_EVERY_S = 4.0
"""With very many clusters some panel always changes: how often all tabs are told."""


class Panels:
    """The panels of one world by address: the same for all tabs there, whatever else they show."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._found: dict[tuple[str, Place], dict[str, tuple[str, Any]]] = {}
        self._trees: dict[tuple[str, str], Any] = {}

    def of(self, page: Page) -> dict[str, tuple[str, Any]]:
        """Hash and data of each that a page has."""
        key = page.kind, page.place
        if key not in self._found:
            found = page.regions(self.world).items()
            self._found[key] = {name: (digest(data), data) for name, data in found}
        return self._found[key]

    def tree(self, page: Page, region: str) -> Any:
        """One of them as components."""
        found, data = self.of(page)[region]
        if (region, found) not in self._trees:
            self._trees[region, found] = page.tree(region, data)
        return self._trees[region, found]


class Built:
    """One page of one world; what is not asked for is not made."""

    def __init__(
        self, pages: Pages, world: World, path: str, drawn: str, kept: Panels | None = None
    ) -> None:
        """`kept` are panels of a moment ago; those of a large page are no newer."""
        self.page = pages.page(world, path, drawn)
        self.kept = kept
        self._panels = kept if kept is not None and self.page.large else Panels(world)

    @cached_property
    def live(self) -> str:
        """Hash of the figures."""
        return digest(self.page.figures)

    @cached_property
    def regions(self) -> dict[str, tuple[str, Any]]:
        """Hash and data of every panel that is sent whole."""
        return self._panels.of(self.page)

    @cached_property
    def drawings(self) -> dict[str, str]:
        """Hash of every drawing."""
        return {name: digest(data) for name, data in self.page.drawings.items()}

    def tree(self, region: str) -> Any:
        """A panel as components."""
        return self._panels.tree(self.page, region)


class Recent:
    """Data that tabs may have, by its hash, so that only what changed since has to be sent.

    >>> recent = Recent(most_entries=3)
    >>> recent.keep("x", {"a": 1, "b": 2})
    >>> recent.keep("y", {"a": 1, "b": 3})
    >>> recent.get("x"), recent.get("y")
    (None, {'a': 1, 'b': 3})
    """

    def __init__(self, most_entries: int = 50_000) -> None:
        self._most = most_entries
        self._entries = 0
        self._found: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def keep(self, name: str, data: Mapping[str, Any]) -> None:
        """Remember it for a while; the newest is always there."""
        if name in self._found:
            return
        self._found[name] = data
        self._entries += _size(data)
        while self._entries > self._most and len(self._found) > 1:
            _, oldest = self._found.popitem(last=False)
            self._entries -= _size(oldest)

    def get(self, name: str) -> Mapping[str, Any] | None:
        """What has that hash, if it was kept and is not too old."""
        return self._found.get(name)


def _size(data: Mapping[str, Any]) -> int:
    return 1 + sum(len(v) if isinstance(v, dict | list) else 1 for v in data.values())
