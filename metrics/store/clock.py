"""The time as Redis has it: the one clock that all its readers and writers share."""

import time

import redis

ASKED_EVERY_S = 3.0


class StoreClock:
    """Asks Redis now and then and runs on its own in between."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._told: tuple[float, float] | None = None  # its time, and ours when it said so

    def now(self) -> float:
        """Seconds since the epoch."""
        ours = time.monotonic()
        told = self._told
        if told is None or ours - told[1] > ASKED_EVERY_S:
            seconds, micros = self._client.time()
            told = self._told = (seconds + micros / 1e6, time.monotonic())
        return told[0] + time.monotonic() - told[1]
