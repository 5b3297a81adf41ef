"""How often the engine does costly work."""

from collections.abc import Iterable, Sequence

SHARE = 0.2
"""Of a core, for all scalers in shadow and for all planners: what costs more is asked less often."""
MOST_SAVED_S = 2.0
"""CPU time that can be saved up for one turn."""


class Pace:
    """Spaces out something costly so that it takes only a share of the time."""

    def __init__(self, every_s: float, share: float = SHARE) -> None:
        self._every_s = every_s
        self._share = share
        self._next_at = 0.0

    def due(self, now: float) -> bool:
        """Whether it is time again."""
        return now >= self._next_at

    def note(self, now: float, cpu_s: float) -> None:
        """Note that it was done now, and the CPU time it took."""
        self._next_at = now + max(self._every_s, cpu_s / self._share)


class Turns:
    """Whose turn it is, where asking everybody each time would take more than a share of a core.

    >>> turns = Turns()
    >>> turns.take(["a", "b", "c"], now=0.0)  # what it costs is not known yet
    ['a', 'b', 'c']
    >>> turns.note(["a", "b", "c"], cpu_s=1.2)
    >>> turns.take(["a", "b", "c"], now=2.0), turns.take(["a", "b", "c"], now=4.0)
    (['a'], ['b'])
    >>> round(turns.every_s(3), 3)
    6.0
    """

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._cost_s = 0.0
        self._saved_s = 0.0
        self._looked_at: float | None = None
        self._had_at: dict[str, float] = {}

    def take(self, names: Sequence[str], now: float) -> list[str]:
        """Those of the names whose turn it is: who has waited longest, as many as time allows."""
        if self._looked_at is not None:
            gained = self._share * max(0.0, now - self._looked_at)
            self._saved_s = min(MOST_SAVED_S, self._saved_s + gained)
        self._looked_at = now
        room = int(self._saved_s / self._cost_s) if self._cost_s else len(names)
        turn = sorted(names, key=lambda name: self._had_at.get(name, 0.0))[:room]
        self._had_at.update(dict.fromkeys(turn, now))
        self._saved_s = max(0.0, self._saved_s - len(turn) * self._cost_s)
        return turn

    def note(self, names: Sequence[str], cpu_s: float) -> None:
        """Note what those whose turn it was have cost."""
        if names:
            cost_s = cpu_s / len(names)
            self._cost_s = 0.8 * self._cost_s + 0.2 * cost_s if self._cost_s else cost_s

    def keep(self, names: Iterable[str]) -> None:
        """Forget all others."""
        known = set(names)
        self._had_at = {name: at for name, at in self._had_at.items() if name in known}

    def every_s(self, count: int) -> float:
        """How long a round takes with this many, by what it costs."""
        return count * self._cost_s / self._share
