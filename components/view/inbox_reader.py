"""Reads from the store what the inbox, the modes and the header show."""

import logging

import msgspec

from components.view.inbox_facts import Control, Pause
from controllers.engine.people import engine_settings
from controllers.engine.ports import Store
from controllers.engine.rules import ENGINE

log = logging.getLogger(__name__)

KEPT = 60
WAITS_EVERY_S = 5.0
"""Outlooks are large and the engine writes them every few seconds: no need to look more often."""
TRAIL = 100


class ControlReader:
    """Small facts each time, the scalers' reasons now and then."""

    def __init__(self) -> None:
        self._waits: dict[str, str] = {}
        self._waits_at = float("-inf")

    def read(self, store: Store, now: float) -> Control:
        """All that is known of the control of the clusters now."""
        if now - self._waits_at >= WAITS_EVERY_S:
            self._waits, self._waits_at = _waits(store), now
        settings = engine_settings(store)
        return Control(
            recommendations=tuple(store.recommendations(KEPT)),
            modes=store.modes(),
            settings=settings,
            paused=_pause(store) if settings.paused else None,
            waits=self._waits,
        )


def _waits(store: Store) -> dict[str, str]:
    try:
        return {name: view.wait for name, view in store.scale_outlooks().items()}
    except msgspec.DecodeError as error:  # written by another version
        log.warning("scale outlooks: %s", error)
        return {}


def _pause(store: Store) -> Pause:
    """Who paused, from the trail; else who last changed the engine's settings."""
    for entry in store.audit(TRAIL):
        if entry.action == "engine.paused":
            return Pause(at=entry.at, by=entry.by, why=entry.why)
    by, at = store.settings_changed(ENGINE) or ("", 0.0)
    return Pause(at=at, by=by)
