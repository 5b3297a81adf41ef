"""Consistent hashing: adding a node moves about K / (N + 1) of K keys."""

from bisect import bisect_left, insort

from weir.controllers.model.errors import InvalidInput
from weir.controllers.placement.hashing import stable_hash

POINTS = 200


class HashRing:
    """Nodes and keys on one ring; a key belongs to the first node point at or after it.

    A node of weight w has 200 w points, so it gets w times the keys of a node of
    weight 1. Where two points fall on the same spot, the node that was added
    first keeps it.

    >>> ring = HashRing(["a", "b"])
    >>> before = {f"k{i}": ring.node_of(f"k{i}") for i in range(900)}
    >>> ring.add("c")
    >>> moved = [k for k, node in before.items() if ring.node_of(k) != node]
    >>> {ring.node_of(k) for k in moved}, 200 < len(moved) < 400
    ({'c'}, True)

    Karger et al., STOC 1997; Wu: DoDo, appendix B.
    """

    def __init__(self, nodes: list[str] | None = None, points: int = POINTS) -> None:
        if points < 1:
            raise InvalidInput("points must be at least 1", field="points")
        self.points = points
        self._spots: list[int] = []
        self._owners: dict[int, list[str]] = {}  # in order of insertion; the first one owns it
        self._weights: dict[str, float] = {}
        for node in nodes or []:
            self.add(node)

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes in the order in which they were added."""
        return tuple(self._weights)

    def add(self, node: str, weight: float = 1.0) -> None:
        """Put a node on the ring; one that is there gets the new weight."""
        count = round(self.points * weight)
        if not 0 < count < 10_000_000:
            raise InvalidInput(f"the weight of {node} must be above 0", field="weight")
        if node in self._weights:
            self.remove(node)
        self._weights[node] = weight
        for number in range(count):
            spot = stable_hash(f"{node}#{number}")
            owners = self._owners.setdefault(spot, [])
            if not owners:
                insort(self._spots, spot)
            owners.append(node)

    def remove(self, node: str) -> None:
        """Take a node off the ring; its keys go to the next nodes."""
        if self._weights.pop(node, None) is None:
            return
        for spot in [s for s, owners in self._owners.items() if node in owners]:
            self._owners[spot] = [o for o in self._owners[spot] if o != node]
            if not self._owners[spot]:
                del self._owners[spot]
                del self._spots[bisect_left(self._spots, spot)]

    def node_of(self, key: str) -> str:
        """The node that a key belongs to."""
        if not self._spots:
            raise InvalidInput("the ring has no nodes", field="nodes")
        at = bisect_left(self._spots, stable_hash(key))
        return self._owners[self._spots[at % len(self._spots)]][0]
