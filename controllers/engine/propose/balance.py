"""When and how to rebalance: data gate, plan, and what to do with it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.balancing.from_snapshot import problem_of
from weir.controllers.balancing.problem import Budget, Problem
from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.propose.loads import loads_of
from weir.controllers.engine.propose.pauses import pause_of
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.settings import setting
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import number_of, span

BALANCE = "balance"  # the name of this group of settings


class BalanceSettings(Struct, frozen=True, kw_only=True):
    """How the engine balances load; the clusters' modes say whether it acts by itself."""

    planner: Annotated[str, setting("Planner that the engine follows")] = "milp"
    window_s: Annotated[float, setting("Load series that plans look at", unit="s", ge=10)] = 60.0
    least_periods: Annotated[int, setting("Fresh periods needed before the first plan", ge=2)] = 8
    moves: Annotated[int, setting("Most moves of one rebalance", ge=1)] = 2
    most_state_bytes: Annotated[
        int, setting("Most state that one rebalance moves; 0: no limit", unit="bytes", ge=0)
    ] = 0
    memory_share: Annotated[
        float,
        setting(
            "Of its executors' memory, what a plan lets a cluster hold as state; 0: no limit",
            unit="share", ge=0, le=1,
        ),
    ] = 0.8  # fmt: skip
    most_traffic: Annotated[
        float,
        setting(
            "Most that a plan lets a cluster's operators take and give; 0: no limit",
            unit="bytes/s", ge=0,
        ),
    ] = 0.0  # fmt: skip
    draining_clusters: Annotated[
        str, setting("Clusters to be emptied, separated by commas; nothing is moved there")
    ] = ""
    pinned_operators: Annotated[
        str, setting("Operators that no plan moves, separated by commas")
    ] = ""
    least_gain: Annotated[
        float, setting("Least gain in load distance that is worth a move", unit="points", ge=0)
    ] = 2.0
    least_collocation_gain: Annotated[
        float,
        setting(
            "Least rise of the traffic that stays on its cluster that is worth a move",
            unit="share",
            ge=0.01,
            le=1,
        ),
    ] = 0.1
    most_distance: Annotated[
        float,
        setting("Load distance up to which such a rise may be bought", unit="points", ge=0),
    ] = 10.0
    least_load: Annotated[
        float,
        setting("Nothing is moved while every cluster is below this", unit="load per core", ge=0),
    ] = 0.5
    hold_s: Annotated[float, setting("Wait after a rebalance before the next", unit="s", ge=0)] = (
        60.0
    )


def problem_now(
    snapshot: Snapshot,
    samples: Mapping[str, Sequence[ClusterSample]],
    settings: BalanceSettings,
    rebalances: Iterable[Rebalance] = (),
    own: Mapping[str, Mapping[str, Any]] = {},
) -> Problem:
    """The problem that every planner is asked to solve at this moment; how long a move pauses
    its operator follows from the past `rebalances`. `own` are each planner's settings."""
    loads = loads_of(samples, snapshot)
    operators = tuple(replace(o, load=loads.now[o.name]) for o in snapshot.operators)
    problem = problem_of(
        replace(snapshot, operators=operators),
        loads.series,
        budget=Budget(moves=settings.moves, cost=settings.most_state_bytes or None),
        pinned=names_in(settings.pinned_operators),
        draining=names_in(settings.draining_clusters),
        unknown=loads.unknown,
        pause=pause_of(rebalances),
        memory=_memory(samples, settings.memory_share),
        network=settings.most_traffic,
    )
    return replace(problem, settings={name: dict(values) for name, values in own.items()})


def _memory(samples: Mapping[str, Sequence[ClusterSample]], share: float) -> dict[str, float]:
    """Bytes that the executors of each cluster may hold as state, where they tell."""
    newest = {name: some[-1] for name, some in samples.items() if some}
    found = {n: share * sum(e.memory_max_bytes for e in s.executors) for n, s in newest.items()}
    return {name: size for name, size in found.items() if size > 0.0}


def planner_group(name: str) -> str:
    """Name of the settings of one planner."""
    return f"{BALANCE}:{name}"


def why_wait(
    snapshot: Snapshot,
    problem: Problem,
    rebalances: Iterable[Rebalance],
    settings: BalanceSettings,
    now: float,
) -> str:
    """Why no plan is applied now; empty if one may be."""
    for rebalance in rebalances:
        if not rebalance.final:
            return "a rebalance is under way"
        left_s = _end_of(rebalance) + settings.hold_s - now
        if left_s > 0:
            return f"the last rebalance is to settle for {span(left_s)} more"
    return why_untold(snapshot, problem, settings)


def why_untold(snapshot: Snapshot, problem: Problem, settings: BalanceSettings) -> str:
    """Why the load of some operator cannot be told yet; empty once all have reported for long
    enough."""
    bins = {b.name for b in problem.bins}
    stale = [c.name for c in snapshot.clusters if c.name in bins and snapshot.stale(c.name)]
    if stale:
        return f"no fresh figures from {', '.join(stale)}"
    if problem.unknown:
        return f"the cost of {', '.join(problem.unknown)} is not known yet"
    short = [i.name for i in problem.items if len(i.series) < settings.least_periods]
    if short:
        return f"fewer than {number_of(settings.least_periods, 'period')} of {', '.join(short)}"
    return ""


def names_in(text: str) -> set[str]:
    """The names in a setting that lists some.

    >>> sorted(names_in("wide, narrow,"))
    ['narrow', 'wide']
    """
    return {name.strip() for name in text.split(",")} - {""}


def _end_of(rebalance: Rebalance) -> float:
    return max((m.since for m in rebalance.moves), default=rebalance.at)
