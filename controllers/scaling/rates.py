"""Rates that operators will have to meet, propagated along the graph.

What arrives at an operator today may be held back by a slow one before it. The rate
to plan for starts at the sources and is passed on by what each operator sends per row
that it processes, over all clusters. Rate-based scaling and balancing both go by it.
"""

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.drs.network import arrival_rates
from weir.controllers.scaling.facts import usable_of


class Demand(Struct, frozen=True):
    """What one operator will have to meet."""

    rows_per_s: float  # steady
    lag_rows: float  # its own queue beyond what a batch holds anyway
    catch_up_rows_per_s: float  # to work off the queues here and before it in the time set


def lag_of(operator: OperatorSample) -> float:
    """Rows waiting beyond one batch's worth, which a batch engine always has.

    >>> lag_of(OperatorSample(name="a", cluster="c", queue_rows=500, batch_rows=200))
    300.0
    """
    normal = max(operator.batch_rows or 0, operator.arrival_rows_per_s * operator.trigger_s)
    return float(max(0.0, (operator.queue_rows or 0) - normal))


def demands(snapshot: Snapshot, catch_up_s: float = 60.0) -> dict[str, Demand]:
    """What every operator of the snapshot will have to meet.

    >>> a = OperatorSample(name="a", cluster="c", reads=("in",), writes=("mid",),
    ...              arrival_rows_per_s=100.0, processed_rows_per_s=50.0)
    >>> b = OperatorSample(name="b", cluster="c", reads=("mid",), arrival_rows_per_s=25.0)
    >>> from weir.controllers.model.sample import Cluster, ClusterSample
    >>> sample = ClusterSample(at=0.0, period_s=1.0, cluster=Cluster(name="c"), operators=(a, b))
    >>> demands(Snapshot.of([sample], at=0.0), 60.0)["b"].rows_per_s
    50.0
    """
    operators = {o.name: o for o in usable_of(snapshot.operators)}
    lags = {n: lag_of(o) for n, o in operators.items()}
    if not any(e.source in operators and e.target in operators for e in snapshot.edges):
        return {
            n: Demand(o.arrival_rows_per_s, lags[n], lags[n] / catch_up_s)
            for n, o in operators.items()
        }
    names = list(operators)
    external = {n: o.arrival_rows_per_s for n, o in operators.items()}
    routing: dict[tuple[str, str], float] = {}
    for edge in snapshot.edges:
        source, target = operators.get(edge.source), operators.get(edge.target)
        if source is None or target is None or not source.processed_rows_per_s > 0:
            continue
        if not 0 < edge.rows_per_s < float("inf"):
            continue
        key = (edge.source, edge.target)
        routing[key] = routing.get(key, 0.0) + edge.rows_per_s / source.processed_rows_per_s
        external[edge.target] = max(0.0, external[edge.target] - edge.rows_per_s)
    behind = {n: lag / catch_up_s for n, lag in lags.items()}
    try:
        steady = arrival_rates(names, external, routing)
        extra = arrival_rates(names, behind, routing)
    except InvalidInput:  # a loop that grows at this moment: go by what arrives
        steady = {n: o.arrival_rows_per_s for n, o in operators.items()}
        extra = behind
    # A loop that nothing enters solves to 0 though rows go round: then as measured.
    return {
        n: Demand(steady[n] or o.arrival_rows_per_s, lags[n], extra[n])
        for n, o in operators.items()
    }
