"""All clusters and operators at one moment.

An agent reports one `ClusterSample` per period. A `Snapshot` joins the newest
sample of every cluster; the live listener, an event log and the simulator all
go through `Snapshot.of`, so production, replay and what-if see the same thing.
"""

from collections.abc import Iterable
from functools import cached_property
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.age import age_s
from weir.controllers.model.sample import (
    Cluster,
    ClusterSample,
    OperatorSample,
    OperatorStatus,
    cluster_load,
)
from weir.controllers.model.words import by_number, span

STALE_S = 6.0
DOWN_S = 12.0
GONE_S = 60.0

MOST_EDGES = 20_000
"""Of a snapshot."""
# Two clusters may report an operator that is on its way: it is where it runs, else where
# it is about to.
_PRESENCE = {OperatorStatus.RUNNING: 2, OperatorStatus.STOPPED: 0}


class Edge(Struct, frozen=True, kw_only=True, gc=False):
    """Rows that flow from one operator to another through a data set."""

    source: str  # an operator, or the name of the data set if nobody here writes it
    target: str
    dataset: str
    rows_per_s: float
    bytes_per_s: float | None = None


class Snapshot(Struct, frozen=True, kw_only=True, dict=True):
    """All clusters and operators at one moment."""

    at: float
    period_s: float
    clusters: tuple[Cluster, ...] = ()
    operators: tuple[OperatorSample, ...] = ()
    edges: tuple[Edge, ...] = ()  # MOST_EDGES at most
    periods: dict[str, float] = {}  # seconds between two reports of each cluster
    dead: tuple[str, ...] = ()  # clusters without sign of life and leases, as the engine found

    @classmethod
    def of(cls, samples: Iterable[ClusterSample], at: float) -> "Snapshot":
        """Join the newest sample of each cluster into one picture.

        >>> a = OperatorSample(name="count", cluster="a", reads=("tweets",), load=0.5)
        >>> sample = ClusterSample(
        ...     at=8.0, period_s=2.0, cluster=Cluster(name="a", executors=1), operators=(a,)
        ... )
        >>> snapshot = Snapshot.of([sample], at=10.0)
        >>> snapshot.clusters[0].heartbeat_age_s, snapshot.load("a")
        (2.0, 0.5)
        """
        newest: dict[str, ClusterSample] = {}
        for sample in samples:
            known = newest.get(sample.cluster.name)
            if known is None or sample.at >= known.at:
                newest[sample.cluster.name] = sample
        clusters = []
        operators: dict[str, tuple[tuple[int, int, float], OperatorSample]] = {}
        for name in sorted(newest, key=by_number):
            sample = newest[name]
            clusters.append(replace(sample.cluster, heartbeat_age_s=age_s(sample.at, at)))
            for operator in sample.operators:
                # Who holds the newest lease has it, whatever one that fell silent said last.
                presence = _PRESENCE.get(operator.status, 1)
                rank = (operator.lease_token or 0, presence, sample.at)
                if operator.name not in operators or rank > operators[operator.name][0]:
                    operators[operator.name] = (rank, operator)
        found = tuple(operators[name][1] for name in sorted(operators, key=by_number))
        return cls(
            at=at,
            period_s=max((s.period_s for s in newest.values()), default=0.0),
            clusters=tuple(clusters),
            operators=found,
            edges=edges_between(found),
            periods={name: newest[name].period_s for name in sorted(newest, key=by_number)},
        )

    def cluster(self, name: str) -> Cluster | None:
        """The cluster of that name, or None."""
        return self._clusters.get(name)

    def stale(self, cluster: str) -> bool:
        """Its figures are too old to be called live or to decide on: three reports are missing."""
        return self._age_s(cluster) > self._stale_after_s(cluster)

    def silent(self, cluster: str) -> str:
        """Why nothing can be asked of it now; empty while it gives signs of life.

        >>> late = Cluster(name="a", heartbeat_age_s=30.0)
        >>> Snapshot(at=30.0, period_s=2.0, clusters=(late,)).silent("a")
        'a has given no sign of life for 30 s'
        """
        if self.cluster(cluster) is None:
            return f"there is no cluster {cluster} any more"
        if cluster in self.dead:
            return f"{cluster} has died"
        if self._age_s(cluster) <= max(DOWN_S, self._stale_after_s(cluster)):
            return ""
        return f"{cluster} has given no sign of life for {span(self._age_s(cluster))}"

    def gone(self, cluster: str) -> bool:
        """Dead, or silent for so long that it is not counted on; until then plans wait for it."""
        if cluster in self.dead:
            return True
        return self._age_s(cluster) > max(GONE_S, self._stale_after_s(cluster))

    def _age_s(self, cluster: str) -> float:
        found = self.cluster(cluster)
        return found.heartbeat_age_s if found else inf

    def _stale_after_s(self, cluster: str) -> float:
        return stale_after_s(self.periods.get(cluster, self.period_s))

    def operator(self, name: str) -> OperatorSample | None:
        """The operator of that name, or None."""
        return self._operators.get(name)

    def with_operators(self, operators: tuple[OperatorSample, ...]) -> "Snapshot":
        """The same moment with other figures of the operators, and the flows that follow."""
        return replace(self, operators=operators, edges=edges_between(operators))

    def operators_of(self, cluster: str) -> tuple[OperatorSample, ...]:
        """The operators that run in that cluster."""
        return self._hosted.get(cluster, ())

    def load(self, cluster: str) -> float:
        """Load per core of that cluster; 1.0 means every core has work all the time."""
        found = self.cluster(cluster)
        return cluster_load(found, self.operators_of(cluster)) if found else 0.0

    # Looked up by name hundreds of times per page and cycle; not part of the data.

    @cached_property
    def _clusters(self) -> dict[str, Cluster]:
        return {c.name: c for c in reversed(self.clusters)}

    @cached_property
    def _operators(self) -> dict[str, OperatorSample]:
        return {o.name: o for o in reversed(self.operators)}

    @cached_property
    def _hosted(self) -> dict[str, tuple[OperatorSample, ...]]:
        found: dict[str, list[OperatorSample]] = {}
        for operator in self.operators:
            found.setdefault(operator.cluster, []).append(operator)
        return {name: tuple(operators) for name, operators in found.items()}


def stale_after_s(period_s: float) -> float:
    """From this age on, a cluster's figures count as missing: three periods, not less than 6 s.

    >>> stale_after_s(2.0), stale_after_s(10.0)
    (6.0, 30.0)
    """
    return max(STALE_S, 3 * period_s)


def edges_between(operators: tuple[OperatorSample, ...]) -> tuple[Edge, ...]:
    """Match what is written with what is read, by the data sets' names.

    Many writers and readers of one data set make edges by the square; those above
    `MOST_EDGES` are left out.
    """
    writers: dict[str, list[str]] = {}
    for operator in operators:
        for dataset in operator.writes:
            writers.setdefault(dataset, []).append(operator.name)
    edges: list[Edge] = []
    shares = {dataset: _shares(dataset, names, operators) for dataset, names in writers.items()}
    for operator in operators:
        for dataset in operator.reads:
            # An operator reports one arrival rate over all its inputs: share it evenly.
            arrives = operator.arrival_rows_per_s / len(operator.reads)
            sources = shares.get(dataset) or {dataset: 1.0}
            for source, share in list(sources.items())[: MOST_EDGES - len(edges)]:
                rate = arrives * share
                edges.append(
                    Edge(
                        source=source,
                        target=operator.name,
                        dataset=dataset,
                        rows_per_s=rate,
                        bytes_per_s=None
                        if operator.row_bytes is None
                        else rate * operator.row_bytes,
                    )
                )
    return tuple(edges)


def _shares(
    dataset: str, writers: list[str], operators: tuple[OperatorSample, ...]
) -> dict[str, float]:
    """What share of a data set comes from whom: slices of one operator by the rows that each
    processed, others evenly, as what an operator writes is not measured."""
    if len(writers) > 1:
        names = set(writers)
        found = [o for o in operators if o.name in names and dataset in o.writes]
        total = sum(o.processed_rows_per_s for o in found)
        if found[0].slice_of and len({o.slice_of for o in found}) == 1 and total > 0.0:
            return {o.name: o.processed_rows_per_s / total for o in found}
    return dict.fromkeys(writers, 1.0 / len(writers))
