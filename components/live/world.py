"""Everything that the pages show, at one moment.

A live worker builds it from Redis; a test (and later a replay) builds it from
anything else. View functions take a `World` and return plain data.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weir.components.live.control import Control
from weir.controllers.engine.apply.moves import MoveState
from weir.controllers.engine.ports import Part, Rebalance, Workload
from weir.controllers.engine.propose.balance import BalanceSettings
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.skipped import Skipped
from weir.controllers.model.command import Command, CommandResult
from weir.controllers.model.failover import Death
from weir.controllers.model.sample import ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.model.shares import ShareSettings
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import by_number
from weir.controllers.scaling.drs.shares import ShareAdvice
from weir.metrics.runs.replay import RecordedRun

T = TypeVar("T")


class ClusterShares(Struct, frozen=True, kw_only=True):
    """How the operators of a cluster share its cores, and what the engine says of it."""

    settings: ShareSettings = ShareSettings()
    advice: ShareAdvice | None = None
    wait: str = ""


class World(Struct, frozen=True, kw_only=True, dict=True):
    """What is known, and whether Redis still answers."""

    at: float
    ready: bool = True  # Redis has answered at least once
    redis_address: str = ""  # for people: without user and password
    redis_down_since: float | None = None
    reader_down_since: float | None = None  # this worker's own reader of Redis
    skipped: Sequence[Skipped] = ()  # values in Redis that this worker could not read
    target_latency_s: float = 5.0
    series: Mapping[str, Sequence[ClusterSample]] = {}
    snapshot: Snapshot = Snapshot(at=0.0, period_s=0.0)
    parts: Sequence[Part] = ()
    deaths: Sequence[Death] = ()  # clusters that are dead, as the engine noted
    workloads: Sequence[Workload] = ()
    commands: Sequence[tuple[Command, CommandResult]] = ()
    outlook: Outlook | None = None  # the engine's, on the balance of load
    rebalances: Sequence[Rebalance] = ()  # newest first
    balance: BalanceSettings = BalanceSettings()
    scale_outlooks: Mapping[str, ScaleOutlook] = {}  # by cluster
    scale_settings: Mapping[str, Mapping[str, Any]] = {}  # group -> as people gave them
    memories: Mapping[str, Mapping[str, bytes]] = {}  # cluster -> scaler -> what it remembers
    shares: Mapping[str, ClusterShares] = {}  # by cluster
    control: Control = Control()  # recommendations, modes, pause-all
    run: RecordedRun | None = None  # of which this is a moment; None for the present

    def newest(self, cluster: str) -> ClusterSample | None:
        """The last report of a cluster."""
        found = self.series.get(cluster)
        return found[-1] if found else None


def once(view: Callable[[World], T]) -> Callable[[World], T]:
    """A view that many tabs show, each on a page of its own: made once of each world.

    >>> calls = []
    >>> @once
    ... def counted(world):
    ...     calls.append(world.at)
    ...     return len(calls)
    >>> world = World(at=1.0)
    >>> counted(world), counted(world), counted(World(at=2.0)), calls
    (1, 1, 2, [1.0, 2.0])
    """

    @wraps(view)
    def know(world: World) -> T:
        made: dict[Any, T] = world.__dict__  # beside the data, not part of it
        if view not in made:
            made[view] = view(world)
        return made[view]

    return know


def world_of(series: Mapping[str, Sequence[ClusterSample]], at: float, **others: object) -> World:
    """A world whose snapshot is made of the newest report of every cluster.

    >>> world_of({}, at=1.0).snapshot.clusters
    ()
    """
    snapshot = Snapshot.of((s[-1] for s in series.values() if s), at)
    world = World(at=at, series=series, snapshot=snapshot, **others)  # type: ignore[arg-type]
    dead = tuple(death.cluster for death in world.deaths)
    return replace(world, snapshot=replace(_with_travellers(world), dead=dead))


def on_their_way(world: World) -> dict[str, MoveState]:
    """The operators that are between two clusters now, each with its move."""
    return {
        state.move.operator: state
        for rebalance in reversed(world.rebalances)
        for state in rebalance.moves
        if state.step.paused
    }


def stale(world: World, cluster: str) -> bool:
    """Whether the data of a cluster is too old to be called live."""
    return world.snapshot.stale(cluster)


def samples_of_operator(world: World, operator: str) -> list[ClusterSample]:
    """The reports that tell of an operator, oldest first, wherever it ran at the time.

    After a move two clusters may report it; the one where it runs counts.
    """
    chosen: dict[float, tuple[bool, ClusterSample]] = {}
    for samples in world.series.values():
        for sample in samples:
            for found in sample.operators:
                if found.name == operator:
                    runs = found.status is OperatorStatus.RUNNING
                    if sample.at not in chosen or runs > chosen[sample.at][0]:
                        chosen[sample.at] = (runs, sample)
    present = world.snapshot.operator(operator)
    return [
        sample
        for _, (runs, sample) in sorted(chosen.items(), key=lambda item: item[0])
        if runs or (present is not None and sample.cluster.name == present.cluster)
    ]


def _with_travellers(world: World) -> Snapshot:
    """An operator between two clusters may be reported by neither: it stays where it was seen."""
    snapshot = world.snapshot
    known = {o.name for o in snapshot.operators}
    lost = (_last_seen(world, name) for name in on_their_way(world) if name not in known)
    found = [o for o in lost if o is not None]
    if not found:
        return snapshot
    operators = sorted((*snapshot.operators, *found), key=lambda o: by_number(o.name))
    return snapshot.with_operators(tuple(operators))


def _last_seen(world: World, operator: str) -> OperatorSample | None:
    samples = samples_of_operator(world, operator)
    if not samples:
        return None
    last = next(o for o in samples[-1].operators if o.name == operator)
    return replace(last, status=OperatorStatus.STARTING, processed_rows_per_s=0.0)
