"""What the Scale page needs beyond all others, read only while somebody looks at it.

The memories of the scalers and the engine's outlooks are by far the largest things that the
store holds of a cluster, and no other page shows them.
"""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.ui.path import place
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.scaling import ScaleOutlook

log = logging.getLogger(__name__)

LOOKED_AT_S = 30.0
"""So long after the last tab asked for it, a cluster is still read."""


class ScaleFacts(Struct, frozen=True, kw_only=True):
    """The part of a `World` that the Scale page is about."""

    scale_outlooks: Mapping[str, ScaleOutlook] = {}
    scale_settings: Mapping[str, Mapping[str, Any]] = {}
    memories: Mapping[str, Mapping[str, bytes]] = {}


class ScaleReader:
    """Knows which clusters are looked at, and reads of those."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}  # cluster, "" for the choice of one -> when
        self._read: frozenset[str] = frozenset()  # of which there are facts

    def look(self, path: str, now: float) -> bool:
        """A tab shows this address; True while what it needs has not been read.

        >>> reader = ScaleReader()
        >>> reader.look("/scale/wide", 1.0), reader.look("/", 2.0)
        (True, False)
        """
        found = place(path)
        if found.kind != "scale":
            return False
        self._seen[found.name] = now
        return found.name not in self._read

    def read(self, store: Store, now: float) -> ScaleFacts:
        """Everything of the clusters that are looked at; nothing where nobody looks."""
        self._seen = {name: at for name, at in self._seen.items() if now - at < LOOKED_AT_S}
        names = frozenset(self._seen)
        if not names:
            self._read = names
            return ScaleFacts()
        try:
            outlooks = store.scale_outlooks()
        except msgspec.DecodeError as error:  # written by another version
            log.warning("scale outlooks: %s", error)
            outlooks = {}
        groups = store.all_settings()
        found = ScaleFacts(
            scale_outlooks=outlooks,
            scale_settings={g: v for g, v in groups.items() if g.startswith("scale:")},
            memories={name: store.memories(name) for name in names if name},
        )
        self._read = names
        return found
