"""The rings of sliced operators: what a ring planner looks at, what it says, and how to go back."""

from collections.abc import Collection, Iterable, Mapping
from statistics import median
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.model.decision import NoChange, Reason, Reslice
from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.placement.base import (
    PausePerByte,
    RingPlanner,
    RingProblem,
    SliceFacts,
    reslice_decision,
)
from weir.controllers.placement.words import is_reached

RESLICE = "reslice"  # the name of this group of settings
RECENT = 30


class ResliceSettings(Struct, frozen=True, kw_only=True):
    """How the engine re-slices operators; the clusters' modes say whether it acts by itself."""

    planner: Annotated[str, setting("Ring planner that the engine follows")] = "smr"
    hold_s: Annotated[
        float, setting("Wait after a re-slice of an operator before the next", unit="s", ge=0)
    ] = 60.0


class RingOutlook(Struct, frozen=True, kw_only=True):
    """One operator's ring at this moment, and what the followed planner would do with it."""

    problem: RingProblem
    planner: str = ""
    decision: Reslice | NoChange | None = None
    wait: str = ""  # why nothing is proposed now
    content_since: float | None = None  # the planner wants the ring to stay as it is

    @property
    def operator(self) -> str:
        """Whose ring it is."""
        return self.problem.slicing.operator


def ring_group(name: str) -> str:
    """Name of the settings of one ring planner."""
    return f"{RESLICE}:{name}"


def ring_problem(
    snapshot: Snapshot,
    slicing: Slicing,
    *,
    loads: Mapping[str, float] = {},
    draining: Collection[str] = (),
    pause: PausePerByte | None = None,
) -> RingProblem:
    """The slices of an operator as a ring planner sees them.

    `loads` are means over the window where they are known; else the newest figure counts. A
    slice that does not run or reports nothing has no figures.

    >>> from weir.controllers.model.sample import Cluster
    >>> two = Slicing.even("c", 2, groups=4)
    >>> one = OperatorSample(name="c.0", cluster="a", load=0.4, queue_rows=50, arrival_rows_per_s=10.0,
    ...                key_groups=(0, 1), group_rows_per_s=(4.0, 6.0))
    >>> found = ring_problem(Snapshot(at=0.0, period_s=2.0, operators=(one,), clusters=(
    ...     Cluster(name="a", executors=2, hosted=True),)), two)
    >>> found.slices["c.0"].queue_s, found.group_loads()[1], sorted(found.slices), found.capacity
    (5.0, 0.24, ['c.0'], {'a': 2.0})
    """
    running = {
        o.name: o
        for o in snapshot.operators
        if o.status not in (OperatorStatus.STOPPED, OperatorStatus.FAILED)
        and not snapshot.silent(o.cluster)
    }
    clusters = {
        c.name: c
        for c in snapshot.clusters
        if c.capacity > 0 and c.hosted and not snapshot.silent(c.name)
    }
    others = dict.fromkeys(clusters, 0.0)
    for operator in running.values():
        if operator.cluster in others and operator.name not in slicing.owners:
            others[operator.cluster] += loads.get(operator.name, operator.load)
    return RingProblem(
        slicing=slicing,
        slices={
            name: _facts(running[name], loads.get(name, running[name].load))
            for name in slicing.owners
            if name in running
        },
        capacity={name: float(c.capacity) for name, c in clusters.items()},
        other_load=others,
        closed=tuple(
            name
            for name, c in clusters.items()
            if name in draining or snapshot.stale(name) or c.unfit_for(slicing.next_name())
        ),
        pause=pause or PausePerByte(),
    )


def _facts(operator: OperatorSample, load: float) -> SliceFacts:
    rates = operator.group_rows_per_s
    return SliceFacts(
        cluster=operator.cluster,
        load=max(0.0, load),
        queue_s=_queue_s(operator),
        queue_rows=operator.queue_rows,
        rows_per_s=operator.arrival_rows_per_s,
        state_bytes=operator.state_bytes,
        latency_s=operator.own_latency_s,
        group_rows_per_s=dict(zip(operator.key_groups, rates, strict=False)) if rates else {},
    )


def _queue_s(operator: OperatorSample) -> float | None:
    """Seconds of its arrivals that wait; None if that cannot be said."""
    if operator.queue_rows is None:
        return None
    if not operator.queue_rows:
        return 0.0
    rate = operator.arrival_rows_per_s or operator.processed_rows_per_s
    return operator.queue_rows / rate if rate > 0.0 else None


def ring_outlook(
    problem: RingProblem, planner: RingPlanner, before: RingOutlook | None, now: float
) -> RingOutlook:
    """What the followed planner would do."""
    decision = planner.plan(problem)
    content: float | None = None
    if isinstance(decision, NoChange):
        content = now
        if before is not None and before.planner == planner.name:
            content = before.content_since or now
    return RingOutlook(
        problem=problem, planner=planner.name, decision=decision, content_since=content
    )


def reslice_pause(reslicings: Iterable[Reslicing]) -> PausePerByte:
    """How long a re-slice pauses what it changes: the median of those that were measured.

    >>> def done(paused_s):
    ...     return Reslicing(id="r", at=0.0, operator="c", was={}, owners={}, paused_s=paused_s,
    ...                      step=ResliceStep.DONE)
    >>> reslice_pause([done(4.0), done(9.0), done(5.0)]).base_s
    5.0
    """
    newest = sorted(reslicings, key=lambda r: r.at, reverse=True)
    took = [r.paused_s for r in newest if r.step is ResliceStep.DONE and r.paused_s is not None]
    return PausePerByte(base_s=median(took[:RECENT])) if took else PausePerByte()


def reslice_back(
    decision: Reslice, snapshot: Snapshot, slicing: Slicing | None, reason: Reason
) -> Reslice | None:
    """The re-slice that takes this one back; None if the slices are others by now."""
    if slicing is None or not is_reached(decision, slicing):
        return None
    problem = ring_problem(snapshot, slicing)
    before = slicing.resliced(decision.was)
    gone = {n: c for n, c in decision.left.items() if n not in slicing.owners}
    return replace(reslice_decision(problem, before, reason, gone), owners=dict(decision.was))
