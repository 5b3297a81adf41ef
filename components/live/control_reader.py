"""Reads from the store what the inbox, the modes and the header show."""

import logging

import msgspec

from weir.components.live.control import Control
from weir.controllers.engine.facts import LOOK_BACK
from weir.controllers.engine.judge.verification import TrackRecord, track_records
from weir.controllers.engine.ports import Memories, Recommendations, Store
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.stored import engine_settings
from weir.controllers.service import find_pause

log = logging.getLogger(__name__)

KEPT = 60
SELDOM_S = 5.0
"""Outlooks and track records are large and change every few seconds: no need to look more often."""


class ControlReader:
    """Small facts each time, the scalers' reasons and the track records now and then."""

    def __init__(self) -> None:
        self._waits: dict[str, str] = {}
        self._tracks: dict[str, TrackRecord] = {}
        self._seldom_at = float("-inf")

    def read(self, store: Store, now: float) -> Control:
        """All that is known of the control of the clusters now."""
        if not 0 <= now - self._seldom_at < SELDOM_S:
            self._waits, self._tracks = _waits(store), track_records(store.record(LOOK_BACK))
            self._seldom_at = now
        settings = engine_settings(store)
        return Control(
            recommendations=_read_known(store),
            modes=store.modes(),
            settings=settings,
            paused=find_pause(store),
            tracks=self._tracks,
            waits=self._waits,
        )


def _read_known(store: Recommendations) -> tuple[Recommendation, ...]:
    """The newest, and the newest of those that count: many that came to nothing must not
    take the place of what was done."""
    found = {r.id: r for r in (*store.record(KEPT), *store.recommendations(KEPT))}
    return tuple(sorted(found.values(), key=lambda r: (r.at, r.id), reverse=True))


def _waits(store: Memories) -> dict[str, str]:
    try:
        return store.scale_waits()
    except msgspec.DecodeError as error:  # written by another version
        log.warning("scale outlooks: %s", error)
        return {}
