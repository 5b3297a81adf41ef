"""DoDo, appendix B: how many keys move when a node is added, on its hash ring and by modulo.

The ring is the printed one: 200 points per node, a key belongs to the next point clockwise.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from weir.controllers.model.words import percent
from weir.controllers.placement.hashing import stable_hash
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work

POINTS = 200
NODES = (1, 2, 4, 8, 16, 32)


class HashRing:
    """Points of nodes on a ring; on a collision the node that was added first stays.

    >>> ring = HashRing(["a", "b"])
    >>> ring.node("tweets") in ("a", "b")
    True
    """

    def __init__(self, nodes: Sequence[str], points: int = POINTS) -> None:
        found: dict[int, str] = {}
        for node in nodes:
            for point in range(points):
                found.setdefault(stable_hash(f"{node}-{point}"), node)
        self._points = sorted(found)
        self._nodes = [found[p] for p in self._points]

    def node(self, key: str) -> str:
        """The owner of a key."""
        return self._nodes[bisect_left(self._points, stable_hash(key)) % len(self._nodes)]


def moved(nodes: int, keys: int) -> dict[str, float]:
    """Shares of the keys that change their node when one is added, and how even the ring is."""
    names = [f"node-{n}" for n in range(nodes + 1)]
    topics = [f"topic-{k}" for k in range(keys)]
    before, after = HashRing(names[:-1]), HashRing(names)
    owners = [before.node(t) for t in topics]
    ring = sum(a != after.node(t) for a, t in zip(owners, topics, strict=True))
    hashes = [stable_hash(t) for t in topics]
    modulo = sum(h % nodes != h % (nodes + 1) for h in hashes)
    fullest = max(owners.count(n) for n in names[:-1])
    return {
        "nodes": nodes,
        "ring": ring / keys,
        "modulo": modulo / keys,
        "fullest": fullest * nodes / keys,
    }


def parts(quick: bool) -> list[Step]:
    """One for each number of nodes."""
    keys = 5_000 if quick else 200_000

    def part(nodes: int) -> Step:
        def run(_: Bench) -> Any:
            return moved(nodes, keys)

        return Step(f"nodes-{nodes}", f"a ring of {nodes} and one more", run)

    return [part(n) for n in NODES]


def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """The ring moves K/(N+1), within a quarter of it."""
    rows = list(found.values())
    expected = [1 / (r["nodes"] + 1) for r in rows]
    close = all(abs(r["ring"] / e - 1) < 0.25 for r, e in zip(rows, expected, strict=True))
    at = next(r for r in rows if r["nodes"] == 16)
    return Conclusion(
        verdict=verdict_of(close),
        reason=(
            f"Adding a node to 16 moves {percent(at['ring'], 1)} of the keys on the ring and "
            f"{percent(at['modulo'])} by modulo. The ring is within a quarter of K/(N+1) for every "
            f"number of nodes; its fullest node has {max(r['fullest'] for r in rows):.2f} times "
            "the mean."
        ),
        numbers=(
            ComparedFigure(
                name="keys moved, 16 nodes and one more, ring", ours=100 * at["ring"], unit="%",
                published=f"K/(N+1) = {100 / 17:.1f} %",
            ),
            ComparedFigure(name="the same by modulo", ours=100 * at["modulo"], unit="%"),
        ),
        charts=(
            ResultChart(
                title="Keys that move when a node is added",
                x_title="nodes before", y_title="keys moved, %", x=tuple(float(n) for n in NODES),
                series=(
                    PlotSeries(name="K/(N+1), published", y=tuple(100 * e for e in expected), published=True),
                    PlotSeries(name="ring", y=tuple(100 * r["ring"] for r in rows)),
                    PlotSeries(name="modulo", y=tuple(100 * r["modulo"] for r in rows)),
                ),
            ),
        ),
        tables=(
            table(
                "Every number of nodes",
                ("nodes before", "ring, %", "K/(N+1), %", "modulo, %", "fullest node / mean"),
                [
                    (int(r["nodes"]), 100 * r["ring"], 100 * e, 100 * r["modulo"], r["fullest"])
                    for r, e in zip(rows, expected, strict=True)
                ],
            ),
        ),
    )  # fmt: skip


RING = Work(parts=parts, conclude=conclude)
