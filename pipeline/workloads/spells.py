"""From which row on a generator's keys had which skew: what it made can be made again."""

import logging
from typing import Any

import msgspec
import redis

from weir.metrics.store import keys

log = logging.getLogger(__name__)

_decoder = msgspec.json.Decoder(tuple[int, float])


class Spells:
    """The skews of one generator so far, each noted before the first row that has it."""

    def __init__(self, client: redis.Redis, name: str) -> None:
        self._client = client
        self._key = keys.spells(name)
        self._last: float | None = None

    def since(self, row: int, skew: float) -> float:
        """The skew of the rows from this one on, kept if it is another than before."""
        if skew != self._last:
            found = self.all()
            if not found or found[-1][1] != skew:
                self._client.rpush(self._key, msgspec.json.encode((row, skew)))
            self._last = skew
        return skew

    def all(self) -> list[tuple[int, float]]:
        """First row and skew of each; of two with the same first row the later holds."""
        found: Any = self._client.lrange(self._key, 0, -1)
        return [spell for entry in found if (spell := _read(entry)) is not None]


def _read(entry: bytes) -> tuple[int, float] | None:
    try:
        return _decoder.decode(entry)
    except msgspec.MsgspecError as error:
        log.warning("a skew that cannot be read is left out: %s", error)
        return None
