"""How old something is, when clocks may disagree."""

from typing import Annotated

from msgspec import Meta

AHEAD_S = 5.0
"""How far the clocks of two machines may be apart; what is dated further ahead is not believed."""
DISTRUSTED_S = 3600.0

Time = Annotated[float, Meta(ge=0, le=1e11)]
"""Seconds since the epoch; what lies outside cannot be a date."""


def ahead(at: float, now: float) -> bool:
    """Whether a time is further ahead than clocks are apart."""
    return at > now + AHEAD_S


class ClockWatch:
    """Notices that the clock was set.

    Set back, what somebody remembers by time is from a time to come, and would count as fresh,
    or as done already, until that time is there again. Set ahead, whoever gave a sign of life a
    moment ago seems to have been silent for long, and all leases of a Redis on the same machine
    have run out.

    >>> watch = ClockWatch()
    >>> [watch.set_back(now) for now in (100.0, 3700.0, 3699.0, 130.0, 131.0)]
    [False, False, False, True, False]
    >>> [watch.set_ahead(*times) for times in ((100.0, 1.0), (3700.0, 2.0), (3800.0, 102.0))]
    [False, True, False]
    """

    def __init__(self) -> None:
        self._last = 0.0
        self._offset: float | None = None

    def set_ahead(self, now: float, monotonic: float) -> bool:
        """Whether it was, since the last look, by a clock that nobody sets."""
        before, self._offset = self._offset, now - monotonic
        return before is not None and ahead(self._offset, before)

    def set_back(self, now: float) -> bool:
        """Whether it was, since the last look."""
        back = ahead(self._last, now)
        self._last = now
        return back


def age_s(at: float, now: float) -> float:
    """Seconds since a time. One that lies ahead says nothing: it counts as an hour old at least.

    >>> age_s(10.0, now=12.0), age_s(10.0, now=9.0), age_s(20.0, now=10.0)
    (2.0, 0.0, 3600.0)
    """
    return max(DISTRUSTED_S, at - now) if ahead(at, now) else max(0.0, now - at)
