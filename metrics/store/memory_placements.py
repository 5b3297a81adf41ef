"""The part of the store in memory that says where operators and their slices run."""

from collections.abc import Mapping, Sequence

from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.ports import Lease, Placement, Rebalance
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.model.slicing import Slicing
from weir.metrics.store.memory_control import MemoryControl


class MemoryPlacements(MemoryControl):
    """See `weir.controllers.engine.ports.Placements` and `Slicings`."""

    def __init__(self) -> None:
        super().__init__()
        self._placements: dict[str, Placement] = {}
        self._slicings: dict[str, Slicing] = {}
        self._outlook: Outlook | None = None
        self._commits: dict[str, float] = {}

    def place(self, placement: Placement) -> None:
        """Say where an operator should run."""
        self._placements[placement.operator] = placement

    def place_if(self, placement: Placement, seen: Placement | None) -> bool:
        """The same, unless somebody has changed it since it was read."""
        if self._placements.get(placement.operator) != seen:
            return False
        self.place(placement)
        return True

    def placements(self) -> dict[str, Placement]:
        """Where every operator should run."""
        return dict(self._placements)

    def save_rebalance(
        self,
        rebalance: Rebalance,
        changes: Sequence[Placement] = (),
        leader: Lease | None = None,
        seen: Mapping[str, Placement] | None = None,
    ) -> bool:
        """Keep a rebalance and the placements it changes, at once; False for an old leader,
        and if somebody has changed one of them since it was seen."""
        if leader is not None and self.lease(leader.name) != leader:
            return False
        known = seen or {}
        if any(self._placements.get(c.operator) != known.get(c.operator) for c in changes):
            return False
        self._rebalances[rebalance.id] = rebalance
        for placement in changes:
            self.place(placement)
        return True

    def rebalances(self) -> list[Rebalance]:
        """Every rebalance, newest first."""
        return sorted(self._rebalances.values(), key=lambda r: r.at, reverse=True)

    def slicings(self) -> dict[str, Slicing]:
        """The slices of every operator that has some."""
        return dict(self._slicings)

    def slice_if(self, after: Slicing, seen: Slicing | None) -> bool:
        """Give an operator other slices, unless somebody else has since they were seen."""
        if self._slicings.get(after.operator) != seen:
            return False
        self._slicings[after.operator] = after
        return True

    def save_reslicing(
        self,
        reslicing: Reslicing,
        leader: Lease | None = None,
        slicing: Slicing | None = None,
        seen: Slicing | None = None,
        place: Sequence[Placement] = (),
        unplace: Sequence[str] = (),
    ) -> bool:
        """Keep how far a re-slice has come, with the slices and placements that it changes;
        False for an old leader, and if somebody has changed the slices since they were seen."""
        if leader is not None and self.lease(leader.name) != leader:
            return False
        if slicing is not None and not self.slice_if(slicing, seen):
            return False
        self._reslicings[reslicing.id] = reslicing
        for placement in place:
            self.place(placement)
        for name in unplace:
            self._placements.pop(name, None)
        return True

    def reslicings(self) -> list[Reslicing]:
        """Every re-slice, newest first."""
        return sorted(self._reslicings.values(), key=lambda r: r.at, reverse=True)

    def save_outlook(self, outlook: Outlook) -> None:
        """Keep the engine's newest view of the balance."""
        self._outlook = outlook

    def outlook(self) -> Outlook | None:
        """The engine's newest view of the balance."""
        return self._outlook

    def set_last_commit(self, operator: str, at: float) -> None:
        """Record when an operator that has stopped committed its last batch."""
        self._commits[operator] = at

    def last_commit(self, operator: str) -> float | None:
        """When the operator's last run committed its last batch."""
        return self._commits.get(operator)
