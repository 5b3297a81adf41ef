"""Even load by key groups: the fullest cluster's slice hands on as many as even the two out."""

from collections.abc import Mapping
from itertools import product
from math import fsum
from typing import Annotated, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import NoChange, Reason, Reslice
from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import brings, percent
from weir.controllers.placement.base import RingPlanner, RingProblem, nothing, reslice_decision
from weir.controllers.placement.reslicing import hand_over
from weir.controllers.placement.ring import Ring
from weir.controllers.placement.words import count


class EvenLoadSettings(Struct, frozen=True, kw_only=True):
    """When the load is uneven enough for a re-slice."""

    least_gain: Annotated[
        float, setting("Least gain in load distance that is worth a re-slice", unit="points", ge=1)
    ] = 4.0
    least_load: Annotated[
        float,
        setting(
            "Nothing is handed on while every cluster is below this", unit="load per core", ge=0
        ),
    ] = 0.5


class EvenLoad(RingPlanner):
    """The fullest cluster hands key groups to the emptiest, as many as even out the two.

    A whole slice is often too large a piece to even out the load; its key groups are small.
    One slice gives and one takes, both as they stand, so two slices pause and no other. Which
    two, and how many key groups: whatever leaves the least load distance.

    >>> from weir.controllers.placement.base import SliceFacts
    >>> from weir.controllers.placement.reslicing import first
    >>> busy, calm = SliceFacts(cluster="a", load=1.2), SliceFacts(cluster="b", load=0.4)
    >>> problem = RingProblem(slicing=first("c", 2, groups=12), slices={"c.0": busy, "c.1": calm},
    ...                       capacity={"a": 2.0, "b": 2.0})
    >>> decision = EvenLoad().plan(problem)
    >>> decision.owners
    {'c.0': (0, 1, 2, 3), 'c.1': (4, 5, 6, 7, 8, 9, 10, 11)}
    >>> {c: round(load, 3) for c, load in decision.prediction.load.items()}
    {'a': 0.4, 'b': 0.4}
    """

    name: ClassVar[str] = "even_load"
    label: ClassVar[str] = "Even load by key groups"
    Settings: ClassVar[type[Struct]] = EvenLoadSettings

    def decide(self, problem: RingProblem) -> Reslice | NoChange:
        """One hand-over between the fullest and the emptiest cluster, or nothing."""
        use: EvenLoadSettings = self.settings
        loads = problem.cluster_loads(problem.slicing)
        homes = {f.cluster for f in problem.slices.values()} & loads.keys()
        takers = homes & set(problem.open_clusters)
        if not takers or len(homes) < 2:
            return nothing(problem, "Its slices are in one cluster: there is nobody to hand on to.")
        fullest = max(sorted(homes), key=lambda c: loads[c])
        emptiest = min(sorted(takers), key=lambda c: loads[c])
        if loads[fullest] < use.least_load:
            return nothing(problem, f"Every cluster's load is below {percent(use.least_load)}.")
        before, found = _distance(problem, loads), self._evenest(problem, fullest, emptiest)
        if found is None or before - found.distance < use.least_gain:
            return nothing(
                problem,
                f"No hand-over lowers the load distance of {before:.1f} points by "
                f"{use.least_gain:g} or more.",
            )
        was, is_ = f"{before:.1f}", f"{found.distance:.1f}"
        text = (
            f"{problem.slicing.operator}: handing {count(found.groups)} from {found.giver} to "
            f"{found.taker} {brings('the load distance', was, is_)} points."
        )
        reason = Reason(
            text=text,
            rule="load_distance",
            numbers={"before": before, "after": found.distance, "groups": len(found.groups)},
        )
        return reslice_decision(problem, found.slicing(problem), reason)

    def _evenest(self, problem: RingProblem, fullest: str, emptiest: str) -> "_HandOver | None":
        """The hand-over from a slice of the one cluster to one of the other that leaves the least
        load distance, of equal ones that of the fewest key groups."""
        tried = []
        for giver, taker in product(_slices_in(problem, fullest), _slices_in(problem, emptiest)):
            groups = _to_hand_on(problem, giver, fullest, emptiest)
            if groups:
                one = _HandOver(giver=giver, taker=taker, groups=groups)
                distance = _distance(problem, problem.cluster_loads(one.slicing(problem)))
                tried.append(replace(one, distance=distance))
        return min(tried, key=lambda h: (round(h.distance, 6), len(h.groups)), default=None)


class _HandOver(Struct, frozen=True, kw_only=True):
    """Key groups from one slice to another, and the load distance that is left, in points."""

    giver: str
    taker: str
    groups: tuple[int, ...]
    distance: float = 0.0

    def slicing(self, problem: RingProblem) -> Slicing:
        """The ring after it."""
        return hand_over(problem.slicing, self.groups, self.taker)


def _slices_in(problem: RingProblem, cluster: str) -> list[str]:
    return [n for n in problem.slicing.owners if problem.slices[n].cluster == cluster]


def _to_hand_on(problem: RingProblem, source: str, giver: str, taker: str) -> tuple[int, ...]:
    """The key groups of a slice, from its clockwise end, that bring the two clusters level.

    One that is too heavy to help is passed over. At least one stays.
    """
    size = problem.capacity
    loads = problem.cluster_loads(problem.slicing)
    spare = (loads[giver] - loads[taker]) * size[giver] * size[taker] / (size[giver] + size[taker])
    cores = problem.group_loads()
    order = [g for arc in Ring(problem.slicing).arcs_of(source) for g in arc.key_groups]
    found: list[int] = []
    for group in reversed(order):
        if len(found) + 1 < len(order) and 0.0 < cores[group] < 2.0 * spare:
            found.append(group)
            spare -= cores[group]
    return tuple(found)


def _distance(problem: RingProblem, loads: Mapping[str, float]) -> float:
    """Load distance in points: the largest difference from the load of all clusters together."""
    cores = fsum(loads[c] * size for c, size in problem.capacity.items())
    mean = cores / max(fsum(problem.capacity.values()), 1e-9)
    return 100.0 * max((abs(load - mean) for load in loads.values()), default=0.0)
