"""The map of operators on clusters: what stands on it and what flows.

The browser folds, lays out and draws it (`assets/pages/control_room/map/`): what a person
unfolds is theirs alone. Here is what it is made of, each operator and each flow once.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from weir.components.live.figures import idle
from weir.components.live.world import World, on_their_way, stale
from weir.components.ui.path import cluster_path, operator_path
from weir.components.ui.surface import address, on_the_present
from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import by_number

MOST_CLUSTERS = 48
MOST_OPERATORS = 600
"""A map of more than one of these is not drawn: nobody could read it, however folded."""
SILENT = "no report"


def drawable(snapshot: Snapshot) -> bool:
    """Whether a map of all that could be read."""
    return len(snapshot.clusters) <= MOST_CLUSTERS and len(snapshot.operators) <= MOST_OPERATORS


def ranks(snapshot: Snapshot) -> dict[str, int]:
    """How many steps each operator is from the sources; a loop ends where it began.

    >>> a = OperatorSample(name="a", cluster="x", reads=("in",), writes=("mid",))
    >>> b = OperatorSample(name="b", cluster="x", reads=("mid",))
    >>> from weir.controllers.model.sample import Cluster, ClusterSample
    >>> ranks(Snapshot.of(
    ...     [ClusterSample(at=1, period_s=1, cluster=Cluster(name="x"), operators=(a, b))], 1))
    {'a': 0, 'b': 1}
    """
    return dict(_ranks(Shape.of(snapshot)))


@lru_cache(maxsize=8)
def _ranks(shape: "Shape") -> dict[str, int]:
    names = {name for name, _ in shape.operators}
    inputs: dict[str, list[str]] = {name: [] for name in sorted(names, key=by_number)}
    for source, target in shape.edges:
        if source in names and source != target:
            inputs[target].append(source)
    found: dict[str, int] = {}

    def rank(name: str, above: frozenset[str]) -> int:
        if name not in found:
            before = [rank(i, above | {name}) for i in inputs[name] if i not in above | {name}]
            found[name] = max(before) + 1 if before else 0
        return found[name]

    for name in inputs:
        rank(name, frozenset())
    return found


def flow_order(snapshot: Snapshot) -> list[str]:
    """The clusters in the order in which data reaches them; those without operators last."""
    shape = Shape.of(snapshot)
    depth = _ranks(shape)
    first: dict[str, int] = {name: len(depth) for name in shape.clusters}
    for name, cluster in shape.operators:
        first[cluster] = min(first.get(cluster, len(depth)), depth[name])
    return sorted(first, key=lambda name: (first[name], by_number(name)))


def flow_map(world: World) -> dict[str, Any]:
    """Clusters in the order of the flow, operators with their figures, and every flow."""
    snapshot = world.snapshot
    travelling = {name: state.move.target for name, state in on_their_way(world).items()}
    return {
        "clusters": {
            name: {
                "href": address(cluster_path(name)),
                # Nothing is moved in a replay.
                "takes": bool((c := snapshot.cluster(name)) and c.hosted) and on_the_present(),
            }
            for name in flow_order(snapshot)
        },
        "operators": {
            o.name: {
                "cluster": o.cluster,
                "of": o.slice_of,
                "href": address(operator_path(o.name)),
                **_figures(o, _capacity(snapshot, o.cluster), stale(world, o.cluster)),
                "moving": travelling.get(o.name, ""),
            }
            for o in snapshot.operators
        },
        "edges": [
            {
                "id": f"{edge.source}>{edge.target}>{edge.dataset}",
                "source": edge.source,
                "target": edge.target,
                "dataset": edge.dataset,
                "rate": _round(edge.rows_per_s),
            }
            for edge in snapshot.edges
        ],
    }


def map_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any] | None:
    """What differs between two maps of the same shape; None where the shape differs."""
    was, now = before["edges"], after["edges"]
    if [e["id"] for e in was] != [e["id"] for e in now]:
        return None
    if before["clusters"] != after["clusters"] or _places(before) != _places(after):
        return None
    known = before["operators"]
    return {
        "operators": {n: o for n, o in after["operators"].items() if known[n] != o},
        "edges": [edge for old, edge in zip(was, now, strict=True) if old != edge],
    }


def _places(drawn: Mapping[str, Any]) -> dict[str, str]:
    return {name: operator["cluster"] for name, operator in drawn["operators"].items()}


def _capacity(snapshot: Snapshot, cluster: str) -> int:
    found = snapshot.cluster(cluster)
    return max(found.capacity, 1) if found else 1


@lru_cache(maxsize=4096)
def _figures(operator: OperatorSample, capacity: int, silent: bool) -> dict[str, Any]:
    """Shares of its cluster's cores: busy with its work, and of work that came and waits.

    >>> found = _figures(OperatorSample(name="a", cluster="x", load=1.5, busy_cores=0.9), 2, False)
    >>> found["busy"], found["waiting"]
    (0.45, 0.3)
    """
    return {
        "status": SILENT if silent else operator.status.value,
        "idle": idle(operator),
        "busy": round(operator.busy_cores / capacity, 2),
        "waiting": round(max(operator.load - operator.busy_cores, 0.0) / capacity, 2),
        "queue": None if operator.queue_rows is None else _round(operator.queue_rows),
    }


def _round(value: float) -> float:
    """To three digits: what nobody sees change is not sent again."""
    return float(f"{value:.3g}")


class Shape(Struct, frozen=True):
    """What stands where and what flows; it stays the same from one report to the next."""

    operators: tuple[tuple[str, str], ...]  # name, cluster
    clusters: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Shape":
        """The shape of what is there now."""
        return cls(
            tuple((o.name, o.cluster) for o in snapshot.operators),
            tuple(c.name for c in snapshot.clusters),
            tuple((e.source, e.target) for e in snapshot.edges),
        )
