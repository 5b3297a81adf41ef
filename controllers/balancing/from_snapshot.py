"""The balancing problem of this moment: clusters as bins, operators as items."""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from weir.controllers.balancing.explain import explain
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, PauseModel, Problem
from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.slicing import sliced_operator
from weir.controllers.model.snapshot import Snapshot

__all__ = ["explain", "problem_of"]

_PLENTY = 1e18  # bytes, where no limit is known


def problem_of(
    snapshot: Snapshot,
    series: Mapping[str, LoadSeries],
    budget: Budget | None = None,
    *,
    pinned: Collection[str] = (),
    draining: Collection[str] = (),
    unknown: Collection[str] = (),
    pause: PauseModel | None = None,
    memory: Mapping[str, float] = {},
    network: float = 0.0,
) -> Problem:
    """Load in cores, capacity = executors x cores, move cost = state bytes.

    Where an operator has a load series its load is the mean of it, else the
    newest figure. Left out are clusters without executors, which have no capacity,
    those that Weir does not host, where it cannot start or stop anything, and those
    that are gone, with their operators; and operators that are stopped or failed. `unknown` are operators
    whose load nobody knows yet.

    State held in memory and traffic are resources where there is a limit: bytes of `memory` by
    cluster, and bytes per second of `network` that a cluster may take and give.

    >>> from weir.controllers.model.sample import Cluster
    >>> snapshot = Snapshot(
    ...     at=0.0, period_s=2.0,
    ...     clusters=(Cluster(name="a", executors=2, cores_per_executor=2, hosted=True),),
    ...     operators=(OperatorSample(name="count", cluster="a", load=1.5, state_bytes=100),),
    ... )
    >>> problem = problem_of(snapshot, {"count": LoadSeries((1.0, 2.0))})
    >>> problem.bins[0].capacity, problem.items[0].load, problem.items[0].move_cost
    (4.0, 1.5, 100.0)
    """
    clusters = {
        c.name: c
        for c in snapshot.clusters
        if c.capacity > 0 and c.hosted and not snapshot.gone(c.name)
    }
    operators = [
        o
        for o in snapshot.operators
        if o.cluster in clusters and o.status not in (OperatorStatus.STOPPED, OperatorStatus.FAILED)
    ]
    names = {o.name for o in operators}
    declared = {c.name: None if c.declared is None else set(c.declared) for c in clusters.values()}
    limited = any(known is not None for known in declared.values())
    traffic = _traffic(snapshot)
    return Problem(
        bins=tuple(
            Bin(
                name=c.name,
                capacity=float(c.capacity),
                keep=c.name not in draining,
                resources=_limits(memory.get(c.name, 0.0), network) if memory or network else None,
            )
            for c in clusters.values()
        ),
        items=tuple(
            replace(
                _item(o, series.get(o.name, LoadSeries())),
                pinned=o.name in pinned,
                allowed=_allowed_clusters(o.name, declared) if limited else None,
                known=o.name not in unknown,
                resources=_used(o, bool(memory), traffic if network else {}),
            )
            for o in operators
        ),
        flows=tuple(
            Flow(
                source=e.source,
                target=e.target,
                rate=max(0.0, e.rows_per_s if e.bytes_per_s is None else e.bytes_per_s),
            )
            for e in snapshot.edges
            if e.source in names and e.target in names
        ),
        budget=budget or Budget(),
        pause=pause or PauseModel(),
    )


def _limits(memory: float, network: float) -> dict[str, float]:
    """What a cluster has of each resource; who states nothing has any amount."""
    return {"memory": memory or _PLENTY, "network": network or _PLENTY}


def _used(operator: OperatorSample, memory: bool, traffic: Mapping[str, float]) -> dict[str, float]:
    """What an operator uses of the resources that count."""
    used = {"network": traffic[operator.name]} if operator.name in traffic else {}
    if memory and operator.state_bytes:
        used["memory"] = float(operator.state_bytes)
    return used


def _traffic(snapshot: Snapshot) -> dict[str, float]:
    """Bytes per second that each operator takes and gives, where rows' sizes are measured."""
    found: dict[str, float] = {}
    for edge in snapshot.edges:
        for name in (edge.source, edge.target):
            found[name] = found.get(name, 0.0) + max(0.0, edge.bytes_per_s or 0.0)
    return found


def _allowed_clusters(name: str, declared: Mapping[str, set[str] | None]) -> tuple[str, ...] | None:
    """The clusters that can run it, by what each declares; None where that is all of them. Who
    declares an operator can run each of its slices.

    >>> _allowed_clusters("count.2", {"a": {"count"}, "b": {"top"}}), _allowed_clusters("top", {"b": {"top"}})
    (('a',), None)
    """
    names = {name, sliced_operator(name)}
    found = tuple(c for c, known in declared.items() if known is None or names & known)
    return None if len(found) == len(declared) else found


def _item(operator: OperatorSample, series: LoadSeries) -> Item:
    load = series.mean if series.values else operator.load
    return Item(
        name=operator.name,
        load=max(0.0, load),
        bin=operator.cluster,
        move_cost=float(operator.state_bytes or 0),
        series=tuple(max(0.0, v) for v in series.values),
    )
