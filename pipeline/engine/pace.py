"""How often the engine does what costs time."""

SHARE = 0.2
"""Of a core, for all scalers and planners together: what costs more is asked less often."""


class Pace:
    """Spaces out something costly so that it takes only a small share of the time."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._next_at = 0.0

    def due(self, now: float) -> bool:
        """Whether it is time again."""
        return now >= self._next_at

    def done(self, now: float, cpu_s: float) -> None:
        """Note that it was done now, and the CPU time it took."""
        self._next_at = now + max(self._every_s, cpu_s / SHARE)
