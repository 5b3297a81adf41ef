"""The ring rule of SMR: who is overloaded asks the next one clockwise to take half the way."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar

from msgspec import Struct

from weir.controllers.model.decision import NoChange, Reason, Reslice
from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import percent, span
from weir.controllers.placement.base import RingPlanner, RingProblem, nothing, reslice_decision
from weir.controllers.placement.reslicing import half_of, hand_over, take_over
from weir.controllers.placement.ring import Arc, Ring


class SmrSettings(Struct, frozen=True, kw_only=True):
    """When a slice counts as overloaded or idle, and how far the rule may go."""

    high_queue_s: Annotated[
        float, setting("Overloaded: this much of its arrivals waits, and", unit="s", ge=0.1)
    ] = 10.0
    high_load: Annotated[
        float, setting("... its cluster's load is at least this", unit="load per core", ge=0.05)
    ] = 0.9
    low_queue_s: Annotated[
        float,
        setting("Can take more: at most this much of its arrivals waits, and", unit="s", ge=0),
    ] = 4.0
    low_load: Annotated[
        float, setting("... its cluster's load is at most this", unit="load per core", ge=0)
    ] = 0.6
    by_rows: Annotated[
        bool, setting("Half the way by the rows that arrive, where measured, not by distance")
    ] = True
    most_slices: Annotated[int, setting("Most slices of an operator", ge=1)] = 8
    least_slices: Annotated[int, setting("Fewest slices of an operator", ge=1)] = 2
    scale_in: Annotated[
        bool, setting("Hand a token back when two neighbours are idle: fewer slices than declared")
    ] = False

    def __post_init__(self) -> None:
        if self.low_load >= self.high_load or self.low_queue_s >= self.high_queue_s:
            raise ValueError("low_load and low_queue_s must be below high_load and high_queue_s")


class Smr(RingPlanner):
    """Overloaded by queue and cpu: the clockwise neighbour takes half the distance.

    If the neighbour has no room, it first hands on to its own neighbour, and so on around
    the ring. If nobody has room, a new slice joins half-way, on a cluster with room. A slice
    that is idle beside an idle neighbour hands its token back.

    A taker never takes so much that its cluster would be overloaded then. The original does
    not look at that; without it a hot arc goes round the ring for ever.

    >>> from weir.controllers.placement.base import SliceFacts
    >>> from weir.controllers.placement.reslicing import first
    >>> hot = SliceFacts(cluster="a", load=2.0, queue_s=30.0)
    >>> calm = SliceFacts(cluster="b", load=0.2, queue_s=1.0)
    >>> problem = RingProblem(slicing=first("c", 2, groups=8), slices={"c.0": hot, "c.1": calm},
    ...                       capacity={"a": 2.0, "b": 2.0})
    >>> decision = Smr().plan(problem)
    >>> decision.owners
    {'c.0': (0, 1), 'c.1': (2, 3, 4, 5, 6, 7)}
    >>> decision.prediction.load
    {'a': 0.5, 'b': 0.6}

    Kumbhare et al.: Fault-tolerant and elastic streaming MapReduce with decentralized
    coordination, ICDCS 2015.
    """

    name: ClassVar[str] = "smr"
    label: ClassVar[str] = "SMR ring rule"
    Settings: ClassVar[type[Struct]] = SmrSettings

    def decide(self, problem: RingProblem) -> Reslice | NoChange:
        """One hand-over, one new slice, one slice fewer, or nothing."""
        use: SmrSettings = self.settings
        hot = sorted(
            (n for n in problem.slices if _is_overloaded(problem, n, use)),
            key=lambda n: (-(problem.slices[n].queue_s or 0.0), n),
        )
        for name in hot:
            found = self._pass_on(problem, name) or self._join(problem, name)
            if found is not None:
                return found
        if hot:
            what = f"{hot[0]} is overloaded, but nobody on the ring has room and no slice can join"
            return nothing(problem, what, rule="queue >= high and load >= high")
        return (self._hand_back(problem) if use.scale_in else None) or nothing(
            problem, "No slice is overloaded; the ring stays as it is."
        )

    def _pass_on(self, problem: RingProblem, name: str) -> Reslice | None:
        """The neighbour takes half, if need be after it has handed on to its own."""
        ring, chain = Ring(problem.slicing), [name]
        while True:
            taker = ring.neighbour(chain[-1])
            if taker is None or taker in chain:
                return None
            chain.append(taker)
            if self._light(problem, taker):
                break
        after = problem.slicing
        given: list[str] = []
        for giver, taker in reversed(list(pairwise(chain))):
            stepped = self._take_half(problem, after, giver, taker)
            if stepped is None:
                return None
            after = stepped
            given.append(f"{taker} takes half of {giver}'s arc")
        return reslice_decision(problem, after, self._reason(problem, name, ", then ".join(given)))

    def _take_half(
        self, problem: RingProblem, slicing: Slicing, giver: str, taker: str
    ) -> Slicing | None:
        """The taker moves its token back; None if even one key group is too much for it."""
        arc = Ring(slicing).main_arc(giver)
        if arc is None:
            return None
        here, there = problem.slices[giver].cluster, problem.slices[taker].cluster
        room = self.settings.high_load - 1e-9 - problem.cluster_loads(slicing)[there]
        cores = problem.group_loads()
        most = None if here == there else room * problem.capacity[there]
        taken = self._half(problem, arc, cores, most)
        if not taken or sum(cores[g] for g in taken) <= 0.0:
            return None
        return hand_over(slicing, taken, taker)

    def _half(
        self, problem: RingProblem, arc: Arc, cores: Mapping[int, float], most: float | None
    ) -> tuple[int, ...]:
        """The clockwise half of an arc, cut to what the taker has room for."""
        if self.settings.by_rows and problem.measured:
            return half_of(arc, cores, most=most)
        taken = half_of(arc)
        while taken and most is not None and sum(cores[g] for g in taken) > most:
            taken = taken[1:]
        return taken

    def _join(self, problem: RingProblem, name: str) -> Reslice | None:
        """A new slice joins half-way, where a cluster has room."""
        use: SmrSettings = self.settings
        arc = Ring(problem.slicing).main_arc(name)
        if arc is None or len(problem.slicing.owners) >= min(
            use.most_slices, problem.slicing.groups
        ):
            return None
        loads = problem.cluster_loads(problem.slicing)
        able = sorted(
            (c for c in problem.open_clusters if loads[c] <= use.low_load),
            key=lambda c: (loads[c], c),
        )
        cores = problem.group_loads()
        for cluster in able:
            most = (use.high_load - 1e-9 - loads[cluster]) * problem.capacity[cluster]
            taken = self._half(problem, arc, cores, most)
            if taken and sum(cores[g] for g in taken) > 0.0:
                new = problem.slicing.next_name()
                after = problem.slicing.handed(taken, name, new)
                words = f"{new} joins half-way, in {cluster}"
                return reslice_decision(
                    problem, after, self._reason(problem, name, words), {new: cluster}
                )
        return None

    def _hand_back(self, problem: RingProblem) -> Reslice | None:
        """An idle slice leaves its token to its idle neighbour, if that stays idle."""
        use: SmrSettings = self.settings
        if len(problem.slicing.owners) <= use.least_slices:
            return None
        ring = Ring(problem.slicing)
        for name in sorted(problem.slices, key=lambda n: (problem.slices[n].load, n)):
            taker = ring.neighbour(name)
            if taker is None or taker == name:
                continue
            if not (self._light(problem, name) and self._light(problem, taker)):
                continue
            after = take_over(problem.slicing, name)
            there = problem.slices[taker].cluster
            if problem.cluster_loads(after)[there] > use.low_load:
                continue
            reason = Reason(
                text=f"{name} and its neighbour {taker} are idle: {taker} takes over its token.",
                rule="queue <= low and load <= low, of both",
                numbers={"load": problem.slices[name].load, "low_load": use.low_load},
            )
            return reslice_decision(problem, after, reason)
        return None

    def _light(self, problem: RingProblem, name: str) -> bool:
        use: SmrSettings = self.settings
        facts = problem.slices.get(name)
        if facts is None or facts.queue_s is None or facts.cluster not in problem.capacity:
            return False
        load = problem.cluster_loads(problem.slicing)[facts.cluster]
        return facts.queue_s <= use.low_queue_s and load <= use.low_load

    def _reason(self, problem: RingProblem, name: str, what: str) -> Reason:
        facts = problem.slices[name]
        load = problem.cluster_loads(problem.slicing)[facts.cluster]
        return Reason(
            text=f"{name} is overloaded: rows of {span(facts.queue_s or 0.0)} wait and {facts.cluster} is "
            f"at {percent(load)}. So {what}.",
            rule="queue >= high and load >= high",
            numbers={
                "queue_s": facts.queue_s or 0.0,
                "high_queue_s": self.settings.high_queue_s,
                "load": load,
                "high_load": self.settings.high_load,
            },
        )


def _is_overloaded(problem: RingProblem, name: str, use: SmrSettings) -> bool:
    facts = problem.slices[name]
    if facts.queue_s is None or facts.cluster not in problem.capacity:
        return False
    load = problem.cluster_loads(problem.slicing)[facts.cluster]
    return facts.queue_s >= use.high_queue_s and load >= use.high_load
