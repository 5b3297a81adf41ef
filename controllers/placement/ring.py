"""The ring of an operator: its key groups as arcs of [0, 1), each with the slice that owns it.

    key -> token in [0, 1) -> key group -> slice

The key groups are equal arcs, and their number is fixed; who owns them is not. A token is
where an arc begins: its owner has all keys from there clockwise to the next token, so the
owner of a key is the one at the nearest token counter-clockwise.

Karger et al., STOC 1997; Wu: DoDo, appendix B; Kumbhare et al.: SMR, ring of reducers.
"""

from collections.abc import Mapping
from itertools import groupby
from math import fsum

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.slicing import Slicing


class Arc(Struct, frozen=True, kw_only=True):
    """Key groups that lie side by side and have one owner."""

    owner: str
    key_groups: tuple[int, ...]  # clockwise; they may pass the top of the ring
    token: float  # where it begins, in [0, 1)
    length: float  # its share of the ring


class Ring:
    """Who owns what, and who is next to whom.

    >>> ring = Ring(Slicing(operator="c", groups=8, owners={
    ...     "c.0": (0, 1, 7), "c.1": (2, 3), "c.2": (4, 5, 6)}))
    >>> [(a.owner, a.key_groups, a.token) for a in ring.arcs]
    [('c.0', (7, 0, 1), 0.875), ('c.1', (2, 3), 0.25), ('c.2', (4, 5, 6), 0.5)]
    >>> ring.neighbour("c.2")
    'c.0'
    """

    def __init__(self, slicing: Slicing) -> None:
        self.slicing = slicing
        self.owner = owner_by_group(slicing)
        self.arcs = _arcs(self.owner)

    def arcs_of(self, name: str) -> tuple[Arc, ...]:
        """The arcs of a slice, clockwise."""
        return tuple(a for a in self.arcs if a.owner == name)

    def main_arc(self, name: str) -> Arc | None:
        """The longest arc of a slice, of equal ones the first; None if it owns nothing."""
        return max(self.arcs_of(name), key=lambda a: a.length, default=None)

    def neighbour(self, name: str) -> str | None:
        """The next slice clockwise of its longest arc; None if there is no other."""
        arc = self.main_arc(name)
        if arc is None or len(self.arcs) < 2:
            return None
        return self.arcs[(self.arcs.index(arc) + 1) % len(self.arcs)].owner

    def shares(self, weight: Mapping[int, float] | None = None) -> dict[str, float]:
        """The share of the keys, or of what each key group weighs, that every slice has."""
        groups = self.slicing.groups
        weights = [max(0.0, (weight or {}).get(g, 0.0)) for g in range(groups)]
        total = fsum(weights)
        if total <= 0.0:  # nothing measured: keys fall evenly
            weights, total = [1.0] * groups, float(groups)
        return {
            name: fsum(weights[g] for g in owned) / total
            for name, owned in self.slicing.owners.items()
        }


def owner_by_group(slicing: Slicing) -> tuple[str, ...]:
    """The owner of every key group; refused if one has none or two."""
    found: dict[int, str] = {}
    for name, owned in slicing.owners.items():
        for group in owned:
            if not 0 <= group < slicing.groups or group in found:
                raise InvalidInput(
                    f"key group {group} of {slicing.operator} is owned twice or does not exist",
                    field="owners",
                )
            found[group] = name
    if len(found) != slicing.groups:
        missing = next(g for g in range(slicing.groups) if g not in found)
        raise InvalidInput(f"nobody owns key group {missing} of {slicing.operator}", field="owners")
    return tuple(found[g] for g in range(slicing.groups))


def _arcs(owner: tuple[str, ...]) -> tuple[Arc, ...]:
    runs = [
        (name, tuple(g for g, _ in run))
        for name, run in groupby(enumerate(owner), key=lambda pair: pair[1])
    ]
    if len(runs) > 1 and runs[0][0] == runs[-1][0]:  # one arc passes the top
        name, last = runs.pop()
        runs[0] = (name, last + runs[0][1])
    groups = len(owner)
    return tuple(
        Arc(owner=name, key_groups=some, token=some[0] / groups, length=len(some) / groups)
        for name, some in runs
    )
