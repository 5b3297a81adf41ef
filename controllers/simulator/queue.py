"""Rows that wait at an operator: a line of parcels that know when their rows came to be.

Rows are a fluid: a parcel holds so many of them, evenly spread between two moments.
A batch takes from the front and so knows the moments of its first and its median row,
from which the live sampler measures latency.
"""

from collections import deque

from msgspec import Struct

_NOTHING = 1e-9


class Taken(Struct, frozen=True):
    """Rows of one batch, and when they came to be."""

    rows: float
    first_at: float
    median_at: float
    last_at: float


class Queue:
    """First in, first out.

    >>> queue = Queue()
    >>> queue.push(10.0, 0.0, 1.0); queue.push(10.0, 1.0, 3.0)
    >>> queue.take(15.0)
    Taken(rows=15.0, first_at=0.0, median_at=0.75, last_at=2.0)
    >>> round(queue.rows, 6), queue.oldest_at
    (5.0, 2.0)
    """

    __slots__ = ("_parcels", "rows")

    def __init__(self) -> None:
        self.rows = 0.0
        self._parcels: deque[tuple[float, float, float]] = deque()

    @property
    def oldest_at(self) -> float | None:
        """When the first row came to be."""
        return self._parcels[0][1] if self._parcels else None

    def push(self, rows: float, since: float, until: float) -> None:
        """Rows that came to be between two moments join the line."""
        if rows > 0.0:
            self._parcels.append((rows, since, until))
            self.rows += rows

    def take(self, most: float | None = None) -> Taken | None:
        """All rows, or the first so many; None where nothing waits."""
        parcels = self._parcels
        left = self.rows if most is None or most >= self.rows else most
        if left <= _NOTHING or not parcels:
            return None
        total, half = left, left / 2.0
        first = parcels[0][1]
        median = end = first
        found = False
        while left > _NOTHING and parcels:
            rows, since, until = parcels[0]
            if rows <= left + _NOTHING:
                parcels.popleft()
                used, end = rows, until
            else:
                used, end = left, since + (until - since) * left / rows
                parcels[0] = (rows - left, end, until)
            if not found:
                if half <= used:
                    median, found = since + (end - since) * half / used, True
                else:
                    half -= used
            left -= used
        self.rows = max(0.0, self.rows - total) if parcels else 0.0
        return Taken(total, first, median if found else end, end)
