"""What the Scale page needs beyond all others, read only while somebody looks at it.

The memories of the scalers and the engine's outlooks are by far the largest things that the
store holds of a cluster, and no other page shows them.
"""

import logging
from typing import Any

import msgspec

from weir.controllers.engine.ports import Store

log = logging.getLogger(__name__)

LOOKED_AT_S = 30.0
"""So long after the last tab asked for it, a cluster is still read."""


class ScaleReader:
    """Knows which clusters are looked at, and reads of those."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}  # cluster, "" for the choice of one -> when
        self._read: frozenset[str] = frozenset()  # of which there are facts

    def look(self, name: str, now: float) -> bool:
        """A tab shows the page of this cluster; True while what it needs has not been read."""
        self._seen[name] = now
        return name not in self._read

    def read(self, store: Store, now: float) -> dict[str, Any]:
        """Everything of the clusters that are looked at; nothing where nobody looks."""
        self._seen = {name: at for name, at in self._seen.items() if now - at < LOOKED_AT_S}
        names = frozenset(self._seen)
        if not names:
            self._read = names
            return {}
        try:
            outlooks = store.scale_outlooks()
        except msgspec.DecodeError as error:  # written by another version
            log.warning("scale outlooks: %s", error)
            outlooks = {}
        groups = store.all_settings()
        found = {
            "scale_outlooks": outlooks,
            "scale_settings": {g: v for g, v in groups.items() if g.startswith("scale:")},
            "memories": {name: store.memories(name) for name in names if name},
        }
        self._read = names
        return found
