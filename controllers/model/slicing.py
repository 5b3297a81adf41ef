"""Which slice of an operator owns which of its key groups.

A key group is a fixed share of an operator's keys; their number never changes. A slice is
a query of its own that reads and keeps the state of the groups it owns, and to planners,
moves and pages an operator like any other. Every change is a new generation, so that a
compare-and-set on it tells who was first. A slice whose groups change begins a new
checkpoint, named after the generation in which it was born; the others keep theirs.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weir.controllers.model.errors import InvalidInput

GROUPS = 64
"""Key groups of an operator, unless it says otherwise."""
MOST_GROUPS = 4096
MOST_SLICES = 256

Count = Annotated[int, Meta(ge=0, le=10**12)]
Groups = tuple[int, ...]


def slice_name(operator: str, index: int) -> str:
    """What a slice is called.

    >>> slice_name("count", 3)
    'count.3'
    """
    return f"{operator}.{index}"


def sliced_operator(name: str) -> str:
    """The operator that a slice of this name belongs to; empty if it names no slice.

    >>> sliced_operator("count.3"), sliced_operator("count"), sliced_operator("count.x")
    ('count', '', '')
    """
    operator, _, index = name.rpartition(".")
    return operator if index.isascii() and index.isdigit() and len(index) <= 6 else ""


class InvalidSlicing(InvalidInput, ValueError):
    """Owners that leave a key group without one, or give it two."""


class Slicing(Struct, frozen=True, kw_only=True):
    """The slices of one operator at one generation; every key group has exactly one owner.

    >>> two = Slicing.even("count", 2, groups=8)
    >>> two.slice_of(5), two.groups_of("count.0")
    ('count.1', (0, 1, 2, 3))
    >>> after = two.handed((3,), "count.0", "count.1")
    >>> after.generation, after.groups_of("count.1"), after.changed(two)
    (2, (3, 4, 5, 6, 7), ('count.0', 'count.1'))
    >>> three = two.joined()
    >>> {s: len(g) for s, g in three.owners.items()}
    {'count.0': 3, 'count.1': 3, 'count.2': 2}
    """

    operator: str
    generation: Count = 1
    groups: Annotated[int, Meta(ge=1, le=MOST_GROUPS)] = GROUPS
    owners: dict[str, Groups]
    born: dict[str, Count] = {}  # slice -> generation in which its checkpoint began
    held: tuple[str, ...] = ()  # slices that must not run: their state is being rewritten

    def __post_init__(self) -> None:
        if wrong := self._flaw():
            raise InvalidSlicing(f"the slices of '{self.operator}': {wrong}", field=self.operator)

    def _flaw(self) -> str:
        if not 1 <= len(self.owners) <= MOST_SLICES:
            return f"there must be 1 to {MOST_SLICES} slices"
        for name, owned in self.owners.items():
            if sliced_operator(name) != self.operator:
                return f"'{name}' is no name for one of them"
            if not owned:
                return f"{name} owns no key group"
        found = sorted(group for owned in self.owners.values() for group in owned)
        if found != list(range(self.groups)):
            return f"each of the key groups 0 to {self.groups - 1} needs exactly one owner"
        if not set(self.held) <= set(self.owners):
            return "only a slice that is there can be held"
        return ""

    @classmethod
    def even(cls, operator: str, slices: int, groups: int = GROUPS) -> "Slicing":
        """The first generation: neighbouring groups, shared as evenly as can be."""
        if not 1 <= slices <= min(groups, MOST_SLICES):
            most = min(groups, MOST_SLICES)
            raise InvalidInput(f"operator '{operator}': 1 to {most} slices", field="slices")
        bounds = [groups * i // slices for i in range(slices + 1)]
        owners = {
            slice_name(operator, i): tuple(range(bounds[i], bounds[i + 1])) for i in range(slices)
        }
        return cls(operator=operator, groups=groups, owners=owners, born=dict.fromkeys(owners, 1))

    @property
    def slices(self) -> tuple[str, ...]:
        """Their names, by number."""
        return tuple(sorted(self.owners, key=_index))

    def groups_of(self, name: str) -> Groups:
        """The groups that a slice owns, none if there is no such slice."""
        return tuple(sorted(self.owners.get(name, ())))

    def slice_of(self, group: int) -> str:
        """The slice that owns a group."""
        for name, owned in self.owners.items():
            if group in owned:
                return name
        raise InvalidInput(f"'{self.operator}' has no key group {group}", field="group")

    def changed(self, before: "Slicing") -> tuple[str, ...]:
        """Slices that are there before or now and do not own the same groups in both."""
        names = {*self.owners, *before.owners}
        found = (n for n in names if set(self.owners.get(n, ())) != set(before.owners.get(n, ())))
        return tuple(sorted(found, key=_index))

    def moved_share(self, before: "Slicing") -> float:
        """Share of the key groups whose owner is another one now."""
        moved = sum(self.slice_of(g) != before.slice_of(g) for g in range(self.groups))
        return moved / self.groups

    def next_name(self) -> str:
        """What one more slice would be called: the lowest number that is free."""
        taken = {_index(name) for name in self.owners}
        return slice_name(self.operator, next(i for i in range(len(taken) + 1) if i not in taken))

    # -- what the next generation may look like

    def resliced(self, owners: Mapping[str, Iterable[int]]) -> "Slicing":
        """The next generation, with these owners; a slice that owns nothing is dropped."""
        kept = {name: tuple(sorted(owned)) for name, owned in owners.items()}
        kept = {name: kept[name] for name in sorted(kept, key=_index) if kept[name]}
        generation = self.generation + 1
        born = {
            name: self.born.get(name, 1)
            if set(owned) == set(self.owners.get(name, ()))
            else generation
            for name, owned in kept.items()
        }
        return replace(self, generation=generation, owners=kept, born=born, held=())

    def handed(self, groups: Iterable[int], source: str, target: str) -> "Slicing":
        """Groups of one slice handed to another, which may be a new one."""
        moving = set(groups)
        if not moving or not moving <= set(self.owners.get(source, ())):
            raise InvalidInput(f"{source} does not own all of these key groups", field="groups")
        owners = {name: set(owned) for name, owned in self.owners.items()}
        owners[source] -= moving
        owners[target] = owners.get(target, set()) | moving
        return self.resliced(owners)

    def split(self, name: str) -> "Slicing":
        """Half of a slice's groups, the upper ones, become a slice of their own."""
        owned = self.groups_of(name)
        if len(owned) < 2:
            raise InvalidInput(f"{name} has too few key groups to be split", field="slice")
        return self.handed(owned[len(owned) // 2 :], name, self.next_name())

    def merged(self, name: str, into: str) -> "Slicing":
        """A slice gives all it owns to another one and is dropped."""
        if name == into or into not in self.owners:
            raise InvalidInput(f"{name} cannot be merged into {into}", field="slice")
        return self.handed(self.groups_of(name), name, into)

    def joined(self) -> "Slicing":
        """One more slice, which takes its even share from those that own most."""
        fresh = self.next_name()
        owners = {name: list(self.groups_of(name)) for name in self.slices}
        taken = []
        for _ in range(self.groups // (len(owners) + 1)):
            giver = max(owners, key=lambda n: (len(owners[n]), _index(n)))
            taken.append(owners[giver].pop())
        return self.resliced({**owners, fresh: taken})

    def holding(self, names: Iterable[str]) -> "Slicing":
        """The next generation, in which these must not run, or none is held any more."""
        kept = tuple(sorted({*names} & {*self.owners}, key=_index))
        return replace(self, generation=self.generation + 1, held=kept)


def _index(name: str) -> int:
    return int(name.rpartition(".")[2])
