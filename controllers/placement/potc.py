"""The power of two choices: every row goes to the less loaded of its key's two nodes."""

from collections.abc import Mapping, Sequence

from weir.controllers.model.errors import InvalidInput
from weir.controllers.placement.hashing import stable_hash


class Potc:
    """A router with two hash functions; it keeps account of what it sent where.

    Needs no moves, as the state of a key is on both of its nodes; instead both
    parts have to be merged before a result is right, all the time.

    >>> router = Potc(["a", "b", "c"])
    >>> for _ in range(100):
    ...     _ = router.route("hot key")
    >>> sorted(router.sent.values())
    [0.0, 50.0, 50.0]

    Nasir et al., The power of both choices, ICDE 2015.
    """

    def __init__(self, nodes: Sequence[str]) -> None:
        if not nodes:
            raise InvalidInput("there must be at least one node", field="nodes")
        self.nodes = tuple(nodes)
        self.sent = dict.fromkeys(self.nodes, 0.0)

    def choices(self, key: str) -> tuple[str, str]:
        """The two nodes of a key; different ones where there are two."""
        count = len(self.nodes)
        first = stable_hash(key, seed=1) % count
        step = 1 + stable_hash(key, seed=2) % (count - 1) if count > 1 else 0
        return self.nodes[first], self.nodes[(first + step) % count]

    def route(self, key: str, load: float = 1.0) -> str:
        """The node for the next rows of this key, with the load that they make."""
        first, second = self.choices(key)
        node = first if self.sent[first] <= self.sent[second] else second
        self.sent[node] += load
        return node


def potc_loads(
    loads: Mapping[str, float], nodes: Sequence[str], *, pieces: int = 20, merge: float = 0.0
) -> dict[str, float]:
    """Load per node when every key's load is routed in pieces, round by round.

    `merge` is the cost of merging the two partial states, as a share of a key's
    load; it falls on the key's first node, as merging cannot be balanced.

    >>> loads = potc_loads({f"k{i}": 1.0 for i in range(100)}, ["a", "b"], merge=0.1)
    >>> round(sum(loads.values()), 6)
    110.0
    """
    router = Potc(nodes)
    for _ in range(pieces):
        for key, load in loads.items():
            router.route(key, load / pieces)
    result = dict(router.sent)
    for key, load in loads.items():
        result[router.choices(key)[0]] += merge * load
    return result
