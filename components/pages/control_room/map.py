"""The map of operators on clusters: where every box stands and what flows.

Ranks follow the data: a data set that nobody here writes is a source, an
operator stands one rank behind the farthest of its inputs. Clusters are boxes
around their operators, ordered by their first rank, so that data mostly flows
one way. Laid out twice: rightwards for a desk, downwards for a phone.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from weir.components.live.figures import idle
from weir.components.live.world import World, on_their_way
from weir.components.ui import text
from weir.components.ui.path import cluster_path, operator_path
from weir.components.ui.surface import address
from weir.controllers.model.sample import Operator
from weir.controllers.model.snapshot import Snapshot

NODE_W, NODE_H = 172, 74
SOURCE_W, SOURCE_H = 104, 40
GAP, LANE, PAD, HEAD = 24, 108, 16, 34


def ranks(snapshot: Snapshot) -> dict[str, int]:
    """How many steps each operator is from the sources; a loop ends where it began.

    >>> a = Operator(name="a", cluster="x", reads=("in",), writes=("mid",))
    >>> b = Operator(name="b", cluster="x", reads=("mid",))
    >>> from weir.controllers.model.sample import Cluster, ClusterSample
    >>> ranks(Snapshot.of(
    ...     [ClusterSample(at=1, period_s=1, cluster=Cluster(name="x"), operators=(a, b))], 1))
    {'a': 0, 'b': 1}
    """
    return dict(_ranks(Shape.of(snapshot)))


@lru_cache(maxsize=8)
def _ranks(shape: "Shape") -> dict[str, int]:
    names = {name for name, _ in shape.operators}
    inputs: dict[str, list[str]] = {name: [] for name in sorted(names)}
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
    return _order(Shape.of(snapshot))


def _order(shape: "Shape") -> list[str]:
    depth = _ranks(shape)
    first: dict[str, int] = {name: len(depth) for name in shape.clusters}
    for name, cluster in shape.operators:
        first[cluster] = min(first.get(cluster, len(depth)), depth[name])
    return sorted(first, key=lambda name: (first[name], name))


def flow_map(world: World) -> dict[str, Any]:
    """Boxes, operators, sources and edges, with both layouts."""
    snapshot = world.snapshot
    shape = Shape.of(snapshot)
    travelling = {name: state.move.target for name, state in on_their_way(world).items()}
    capacity = {c.name: c.capacity for c in snapshot.clusters}
    return {
        "wide": _layout(shape, downwards=False),
        "tall": _layout(shape, downwards=True),
        "clusters": {c.name: {"href": address(cluster_path(c.name))} for c in snapshot.clusters},
        "operators": {
            o.name: {
                "href": address(operator_path(o.name)),
                **_operator(o, capacity.get(o.cluster, 1), travelling.get(o.name, "")),
            }
            for o in snapshot.operators
        },
        "edges": [
            {
                "id": f"{edge.source}>{edge.target}>{edge.dataset}",
                "source": edge.source,
                "target": edge.target,
                "dataset": edge.dataset,
                "text": text.rate(edge.rows_per_s),
                "rate": round(edge.rows_per_s, 1),
            }
            for edge in snapshot.edges
        ],
    }


def map_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any] | None:
    """What differs between two maps of the same shape; None where the shape differs."""
    was, now = before["edges"], after["edges"]
    if [e["id"] for e in was] != [e["id"] for e in now]:
        return None
    if any(before[key] != after[key] for key in ("wide", "tall", "clusters")):
        return None
    known = before["operators"]
    return {
        "operators": {n: o for n, o in after["operators"].items() if known.get(n) != o},
        "edges": [edge for old, edge in zip(was, now, strict=True) if old != edge],
    }


@lru_cache(maxsize=4096)
def _operator(operator: Operator, capacity: int, moving: str) -> dict[str, Any]:
    share = operator.load / max(capacity, 1)
    return {
        "status": operator.status.value,
        "idle": idle(operator),
        "stateful": operator.stateful,
        "load": f"{operator.load:.2f} cores",
        "fill": round(min(share, 1.0), 3),
        "over": share > 1.0,
        "queue": f"queue {text.amount(operator.queue_rows)}",
        "moving": moving,
    }


class Shape(Struct, frozen=True):
    """All that the layout depends on; it stays the same from one report to the next."""

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


@lru_cache(maxsize=8)
def _layout(shape: Shape, *, downwards: bool) -> dict[str, Any]:
    """Positions; along the flow first, across it second, then turned if it goes down."""
    depth = _ranks(shape)
    along_size, across_size = (NODE_H, NODE_W) if downwards else (NODE_W, NODE_H)
    lane = GAP * 2 + 6 if downwards else LANE
    names = {name for name, _ in shape.operators}
    sources = sorted({source for source, _ in shape.edges if source not in names})
    here: dict[str, list[str]] = defaultdict(list)
    for name, cluster in shape.operators:
        here[cluster].append(name)
    nodes: dict[str, list[float]] = {}
    boxes: dict[str, list[float]] = {}
    source_along, source_across = (SOURCE_H, SOURCE_W) if downwards else (SOURCE_W, SOURCE_H)
    along = float(source_along + lane) if sources else 0.0
    before, after = (HEAD, PAD) if downwards else (PAD, PAD)
    left, right = (PAD, PAD) if downwards else (HEAD, PAD)
    across_most = 0.0
    for cluster in _order(shape):
        members = here[cluster]
        steps = sorted({depth[name] for name in members}) or [0]
        start = along
        along += before
        widest = 0.0
        for step in steps:
            column = sorted(name for name in members if depth[name] == step)
            for row, name in enumerate(column):
                nodes[name] = [along, left + row * (across_size + GAP)]
            widest = max(widest, len(column) * (across_size + GAP) - GAP, across_size)
            along += along_size + (lane if step != steps[-1] else 0)
        along += after
        boxes[cluster] = [start, 0.0, along - start, left + widest + right]
        across_most = max(across_most, left + widest + right)
        along += lane
    for box_name, box in boxes.items():
        shift = (across_most - box[3]) / 2
        box[1] += shift
        for name in here[box_name]:
            if name in nodes:
                nodes[name][1] += shift
    height = len(sources) * (source_across + GAP) - GAP
    middle = (left + across_most - right) / 2  # of the operators, not of the boxes
    for row, name in enumerate(sources):
        nodes[name] = [0.0, max(middle - height / 2, 0.0) + row * (source_across + GAP)]
    size = [max(along - lane, 0.0), max(across_most, height, 0.0)]
    if downwards:
        nodes = {name: [y, x] for name, (x, y) in nodes.items()}
        boxes = {name: [y, x, h, w] for name, (x, y, w, h) in boxes.items()}
        size.reverse()
    return {
        "size": size,
        "nodes": {
            name: [*at, SOURCE_W, SOURCE_H] if name in sources else [*at, NODE_W, NODE_H]
            for name, at in nodes.items()
        },
        "boxes": boxes,
        "down": downwards,
    }
