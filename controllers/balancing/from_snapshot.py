"""The balancing problem of this moment: clusters as bins, operators as items."""

from collections.abc import Collection, Mapping

from controllers.balancing.explain import explain
from controllers.balancing.problem import Bin, Budget, Flow, Item, PauseModel, Problem
from controllers.model.series import LoadSeries
from controllers.model.snapshot import Operator, OperatorStatus, Snapshot

__all__ = ["explain", "problem_of"]


def problem_of(
    snapshot: Snapshot,
    series: Mapping[str, LoadSeries],
    budget: Budget | None = None,
    *,
    pinned: Collection[str] = (),
    draining: Collection[str] = (),
    pause: PauseModel | None = None,
) -> Problem:
    """Load in cores, capacity = executors x cores, move cost = state bytes.

    Where an operator has a load series its load is the mean of it, else the
    newest figure. Left out are clusters without executors, which have no capacity,
    and those that Weir does not host, where it cannot start or stop anything, with
    their operators; and operators that are stopped or failed.

    >>> from controllers.model.snapshot import Cluster
    >>> snapshot = Snapshot(
    ...     at=0.0, period_s=2.0,
    ...     clusters=(Cluster(name="a", executors=2, cores_per_executor=2, hosted=True),),
    ...     operators=(Operator(name="count", cluster="a", load=1.5, state_bytes=100),),
    ... )
    >>> problem = problem_of(snapshot, {"count": LoadSeries((1.0, 2.0))})
    >>> problem.bins[0].capacity, problem.items[0].load, problem.items[0].move_cost
    (4.0, 1.5, 100.0)
    """
    clusters = {c.name: c for c in snapshot.clusters if c.capacity > 0 and c.hosted}
    operators = [
        o
        for o in snapshot.operators
        if o.cluster in clusters and o.status not in (OperatorStatus.STOPPED, OperatorStatus.FAILED)
    ]
    names = {o.name for o in operators}
    return Problem(
        bins=tuple(
            Bin(name=c.name, capacity=float(c.capacity), keep=c.name not in draining)
            for c in clusters.values()
        ),
        items=tuple(
            _item(o, series.get(o.name, LoadSeries()), o.name in pinned) for o in operators
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


def _item(operator: Operator, series: LoadSeries, pinned: bool) -> Item:
    load = series.mean if series.values else operator.load
    return Item(
        name=operator.name,
        load=max(0.0, load),
        bin=operator.cluster,
        move_cost=float(operator.state_bytes or 0),
        series=tuple(max(0.0, v) for v in series.values),
        pinned=pinned,
    )
