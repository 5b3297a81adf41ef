"""The part of a snapshot that concerns one cluster: what runs there and what feeds it.

Scalers follow rows through the graph of operators. Among hundreds of clusters, handing
each the whole graph makes a cycle cubic in their number; what is not upstream of a
cluster cannot change its answer.
"""

from collections import defaultdict

from msgspec.structs import replace

from weir.controllers.model.sample import Cluster, OperatorSample
from weir.controllers.model.snapshot import Edge, Snapshot
from weir.controllers.model.words import by_number


class Extracts:
    """Looks up the part of each cluster in one snapshot.

    >>> def op(name, cluster):
    ...     return OperatorSample(name=name, cluster=cluster)
    >>> flow = Edge(source="x", target="y", dataset="d", rows_per_s=1.0)
    >>> whole = Snapshot(
    ...     at=0.0, period_s=1.0, clusters=(Cluster(name="a"), Cluster(name="b")),
    ...     operators=(op("x", "a"), op("y", "b"), op("z", "a")), edges=(flow,),
    ... )
    >>> [o.name for o in Extracts(whole).of("b").operators]
    ['x', 'y']
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._operators: dict[str, OperatorSample] = {o.name: o for o in snapshot.operators}
        self._clusters: dict[str, Cluster] = {c.name: c for c in snapshot.clusters}
        self._here: dict[str, list[str]] = defaultdict(list)
        for operator in snapshot.operators:
            self._here[operator.cluster].append(operator.name)
        self._into: dict[str, list[Edge]] = defaultdict(list)
        for edge in snapshot.edges:
            self._into[edge.target].append(edge)

    def cluster(self, name: str) -> Cluster | None:
        """The cluster of that name."""
        return self._clusters.get(name)

    def of(self, cluster: str) -> Snapshot:
        """The cluster, its operators, all that is upstream of them, and what hosts that."""
        waiting = list(self._here.get(cluster, ()))
        seen: set[str] = set(waiting)
        edges: list[Edge] = []
        while waiting:
            for edge in self._into.get(waiting.pop(), ()):
                edges.append(edge)
                if edge.source in self._operators and edge.source not in seen:
                    seen.add(edge.source)
                    waiting.append(edge.source)
        hosts = {cluster} | {self._operators[name].cluster for name in seen}
        return replace(
            self._snapshot,
            clusters=tuple(
                self._clusters[h] for h in sorted(hosts, key=by_number) if h in self._clusters
            ),
            operators=tuple(self._operators[name] for name in sorted(seen, key=by_number)),
            edges=tuple(sorted(edges, key=lambda e: (e.target, e.dataset, e.source))),
        )
