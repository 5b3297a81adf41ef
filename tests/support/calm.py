"""Watching an inbox: what was proposed, what was withdrawn, and what stood side by side."""

from collections.abc import Iterable
from itertools import combinations

from weir.controllers.engine.propose.together import contradicts
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status

GONE = (Status.CANCELLED, Status.SUPERSEDED)


class Watch:
    """Every recommendation of the engine that was ever seen, as it was seen last."""

    def __init__(self) -> None:
        self.seen: dict[str, Recommendation] = {}
        self.contradictions: list[str] = []

    def look(self, recommendations: Iterable[Recommendation], now: float) -> None:
        """One look at what the inbox holds."""
        found = [r for r in recommendations if r.by == ENGINE]
        self.seen.update((r.id, r) for r in found)
        open_ = [r for r in found if r.status is Status.PROPOSED and r.rollback_of is None]
        self.contradictions += [
            f"{now:.0f}: {a.decision} beside {b.decision}"
            for a, b in combinations(open_, 2)
            if contradicts(a, b)
        ]

    @property
    def withdrawn(self) -> list[Recommendation]:
        """Proposals that the engine took back before anybody decided."""
        return [
            r
            for r in self.seen.values()
            if r.status in GONE and all(e.status is not Status.APPROVED for e in r.history)
        ]

    def told(self) -> list[str]:
        """What became of each, for a failed test."""
        return [
            f"{r.at:.0f} {r.kind} {r.clusters} {r.status}: {r.history[-1].why}"
            for r in sorted(self.seen.values(), key=lambda r: r.at)
        ]
