"""What a ring planner is: facts about an operator's slices in, a re-slice or no change out.

Planners of `weir.controllers.balancing` say where slices run; a ring planner says which key
groups they own. One is a class in a module of this package with a `name`; nothing has to be
registered.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from math import fsum
from typing import Any, ClassVar

from msgspec import Struct

import weir.controllers.placement as package
from weir.controllers.model.decision import NoChange, Prediction, Reason, Reslice
from weir.controllers.model.errors import NotFound
from weir.controllers.model.slicing import Slicing
from weir.controllers.placement.ring import owner_by_group


class SliceFacts(Struct, frozen=True, kw_only=True):
    """One slice over one period. None means: not measured."""

    cluster: str
    load: float = 0.0  # busy cores that its arrivals need
    queue_s: float | None = None  # how many seconds of its arrivals wait
    queue_rows: float | None = None
    rows_per_s: float = 0.0
    state_bytes: float | None = None
    latency_s: float | None = None
    group_rows_per_s: dict[int, float] = {}  # by key group; empty: not measured


class PausePerByte(Struct, frozen=True, kw_only=True):
    """How long a re-slice pauses the slices that it changes."""

    base_s: float = 8.0
    s_per_byte: float = 0.0


class RingProblem(Struct, frozen=True, kw_only=True):
    """An operator's slices, and the clusters that they run in or could run in."""

    slicing: Slicing
    slices: dict[str, SliceFacts]
    capacity: dict[str, float]  # cores, by cluster
    other_load: dict[str, float] = {}  # cores that others need there
    closed: tuple[str, ...] = ()  # clusters that no new slice may join
    pause: PausePerByte = PausePerByte()

    @property
    def open_clusters(self) -> list[str]:
        """Clusters in which a new slice may run."""
        return sorted(c for c in self.capacity if c not in self.closed)

    @property
    def measured(self) -> bool:
        """Whether it is known how much arrives in each key group."""
        return any(rate > 0.0 for f in self.slices.values() for rate in f.group_rows_per_s.values())

    def group_loads(self) -> dict[int, float]:
        """Cores that each key group needs: its slice's load by rows, or else in equal parts."""
        found: dict[int, float] = {}
        for name, owned in self.slicing.owners.items():
            facts = self.slices.get(name)
            load = facts.load if facts else 0.0
            rates = {
                g: max(0.0, facts.group_rows_per_s.get(g, 0.0)) if facts else 0.0 for g in owned
            }
            total = fsum(rates.values())
            for group in owned:
                share = rates[group] / total if total > 0.0 else 1.0 / len(owned)
                found[group] = load * share
        return found

    def group_bytes(self) -> dict[int, float]:
        """State of each key group, in equal parts of its slice's."""
        found: dict[int, float] = {}
        for name, owned in self.slicing.owners.items():
            facts = self.slices.get(name)
            size = (facts.state_bytes or 0.0) if facts else 0.0
            found |= dict.fromkeys(owned, size / max(len(owned), 1))
        return found

    def slice_loads(self, slicing: Slicing) -> dict[str, float]:
        """Cores that each slice needs under that slicing."""
        cores = self.group_loads()
        return {name: fsum(cores[g] for g in owned) for name, owned in slicing.owners.items()}

    def cluster_loads(
        self, slicing: Slicing, where: Mapping[str, str] | None = None
    ) -> dict[str, float]:
        """Load per core of every cluster under that slicing; `where` new slices run."""
        cores = {name: self.other_load.get(name, 0.0) for name in self.capacity}
        for name, load in self.slice_loads(slicing).items():
            facts = self.slices.get(name)
            cluster = facts.cluster if facts else (where or {}).get(name, "")
            if cluster in cores:
                cores[cluster] += load
        return {name: cores[name] / max(self.capacity[name], 1e-9) for name in cores}


class NoSettings(Struct, frozen=True):
    """A ring planner without any setting."""


class RingPlanner(ABC):
    """Base of all ring planners: the same facts give the same answer."""

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""  # as shown to people
    Settings: ClassVar[type[Struct]] = NoSettings

    def __init__(self, settings: Struct | None = None) -> None:
        self.settings: Any = settings if settings is not None else self.Settings()

    def plan(self, problem: RingProblem) -> Reslice | NoChange:
        """What should be done with the operator's key groups, if anything."""
        known = [n for n in problem.slicing.owners if n in problem.slices]
        if len(known) < len(problem.slicing.owners):
            missing = next(n for n in problem.slicing.owners if n not in problem.slices)
            return nothing(problem, f"There are no figures of {missing} yet.")
        decision = self.decide(problem)
        if isinstance(decision, Reslice):
            owner_by_group(problem.slicing.resliced(decision.owners))
        return decision

    @abstractmethod
    def decide(self, problem: RingProblem) -> Reslice | NoChange:
        """The algorithm."""


def reslice_decision(
    problem: RingProblem,
    after: Slicing,
    reason: Reason,
    where: Mapping[str, str] | None = None,
) -> Reslice:
    """The decision that brings about `after`, with what it should bring; `where` new slices run."""
    return Reslice(
        operator=problem.slicing.operator,
        slices=len(after.owners),
        before=len(problem.slicing.owners),
        was=dict(problem.slicing.owners),
        owners=dict(after.owners),
        clusters=clusters_after(problem, after, where),
        left={
            name: facts.cluster
            for name, facts in problem.slices.items()
            if name not in after.owners
        },
        touches=clusters_touched(problem, after, where),
        reason=reason,
        prediction=predict(problem, after, where),
    )


def clusters_after(
    problem: RingProblem, after: Slicing, where: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Where slices that are new will run: as asked, or with the slice that gives them most."""
    old = owner_by_group(problem.slicing)
    found = {name: cluster for name, cluster in (where or {}).items() if cluster}
    for name, owned in after.owners.items():
        if name in problem.slicing.owners or name in found:
            continue
        givers = [old[g] for g in owned]
        giver = max(sorted(set(givers)), key=givers.count)
        facts = problem.slices.get(giver)
        found[name] = facts.cluster if facts else ""
    return {name: cluster for name, cluster in found.items() if cluster}


def clusters_touched(
    problem: RingProblem, after: Slicing, where: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The clusters whose slices change."""
    new = clusters_after(problem, after, where)
    found = [
        problem.slices[name].cluster if name in problem.slices else new.get(name, "")
        for name in after.changed(problem.slicing)
    ]
    return tuple(dict.fromkeys(c for c in found if c))


def predict(
    problem: RingProblem, after: Slicing, where: Mapping[str, str] | None = None
) -> Prediction:
    """Load by slice and cluster, share of keys that move, state on the way, and the pause."""
    changed = set(after.changed(problem.slicing))
    size = problem.group_bytes()
    rewritten = fsum(size[g] for n in changed for g in problem.slicing.owners.get(n, ()))
    old, new = owner_by_group(problem.slicing), owner_by_group(after)
    moved = [g for g in range(after.groups) if old[g] != new[g]]
    return Prediction(
        load=problem.cluster_loads(after, clusters_after(problem, after, where)),
        slice_load=problem.slice_loads(after),
        moved_share=len(moved) / after.groups,
        pause_s=problem.pause.base_s + problem.pause.s_per_byte * rewritten if moved else 0.0,
        cost=fsum(size[g] for g in moved),
    )


def nothing(problem: RingProblem, text: str, rule: str = "") -> NoChange:
    """No change, and why."""
    end = "" if text.endswith(".") else "."
    return NoChange(reason=Reason(text=f"{problem.slicing.operator}: {text}{end}", rule=rule))


@cache
def ring_planners() -> dict[str, type[RingPlanner]]:
    """Every ring planner by name, in alphabetical order."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted((kind.name, kind) for kind in RingPlanner.__subclasses__() if kind.name))


def ring_planner(name: str, settings: Struct | None = None) -> RingPlanner:
    """The ring planner of that name.

    >>> ring_planner("no_reslice").label
    'No re-slicing'
    """
    known = ring_planners()
    if name not in known:
        raise NotFound(f"there is no ring planner '{name}'; known: {', '.join(known)}")
    return known[name](settings)
