"""The one problem that every planner solves: items on bins, flows, and a budget.

In this product a bin is a cluster (capacity in cores) and an item is an operator
or a slice of one (load in cores); the planners do not care. As JSON:

    {"bins":   [{"name", "capacity", "keep", "resources"}],
     "items":  [{"name", "load", "bin", "move_cost", "series", "resources", "pinned",
                 "allowed", "known", "operator"}],
     "flows":  [{"from", "to", "rate"}],
     "budget": {"moves", "cost"},
     "settings": {"max_distance": 5, "dodo": {"load_threshold": 0.2}}}

Only name, capacity, load and bin are required. `keep: false` asks for the bin to
be emptied. Without a budget moves are free. `resources` of an item is what it
uses besides load (a mapping or a plain list); of a bin, how much of each it has,
which is its capacity where nothing is said. `allowed` names the bins that an item
may be on, besides the one it is on; without it, all. `known: false` says that nobody
knows the item's load yet: then nothing is planned. `operator` is what the item is a
slice (key group) of: what it receives is compared with the mean over all slices of that
operator. `settings` are those that the planner declares; under a planner's name stand those
that only that one is to take.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

Resources = dict[str, float] | tuple[float, ...]


class Bin(Struct, frozen=True, kw_only=True):
    """A place for items; its capacity is in the unit of their load."""

    name: str
    capacity: float
    keep: bool = True
    resources: Resources | None = None


class Item(Struct, frozen=True, kw_only=True):
    """Something that loads the bin it is on and can be moved at a cost."""

    name: str
    load: float
    bin: str
    move_cost: float = 1.0
    series: tuple[float, ...] = ()  # load over the last periods, oldest first
    resources: Resources = {}
    pinned: bool = False
    allowed: tuple[str, ...] | None = None  # bins that it may be on; None: all
    known: bool = True  # False: what stands as its load is a guess
    operator: str = ""  # that it is a slice of; "": taken from the traffic, see `pairs`


class Flow(Struct, frozen=True, kw_only=True):
    """Traffic from one item to another."""

    source: str = field(name="from")
    target: str = field(name="to")
    rate: float


class Budget(Struct, frozen=True, kw_only=True):
    """The most that a plan may spend; None is no limit.

    >>> Budget(moves=2).allows(moves=2, cost=1e9), Budget(cost=3.0).allows(moves=1, cost=3.5)
    (True, False)
    """

    moves: int | None = None
    cost: float | None = None

    def allows(self, moves: int, cost: float) -> bool:
        """Whether that many moves of that cost together are within the budget."""
        return (self.moves is None or moves <= self.moves) and (
            self.cost is None or cost <= self.cost
        )


class PauseModel(Struct, frozen=True, kw_only=True):
    """How long a moved item stands still: a fixed part and one per unit of move cost."""

    base_s: float = 6.5
    s_per_cost: float = 0.0


class Problem(Struct, frozen=True, kw_only=True):
    """Bins, items on them, traffic between items, and what a plan may spend.

    >>> Problem(
    ...     bins=(Bin(name="a", capacity=2.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="count", load=1.5, bin="b"),),
    ... ).placement
    {'count': 'b'}
    """

    bins: tuple[Bin, ...]
    items: tuple[Item, ...]
    flows: tuple[Flow, ...] = ()
    budget: Budget = Budget()
    pause: PauseModel = PauseModel()
    settings: dict[str, Any] = {}  # of the planner, or by a planner's name

    @property
    def placement(self) -> dict[str, str]:
        """Where every item is now."""
        return {item.name: item.bin for item in self.items}

    def placed(self, placement: Mapping[str, str]) -> "Problem":
        """The same once a plan has been carried out."""
        return replace(self, items=tuple(replace(i, bin=placement[i.name]) for i in self.items))

    @property
    def unknown(self) -> list[str]:
        """The items whose load is not known yet."""
        return [item.name for item in self.items if not item.known]


def resource_map(resources: Resources | None) -> Mapping[str, float]:
    """Resources by name; those of a plain list are called by their position.

    >>> dict(resource_map((4.0, 1.0)))
    {'0': 4.0, '1': 1.0}
    """
    if resources is None:
        return {}
    if isinstance(resources, dict):
        return resources
    return {str(position): value for position, value in enumerate(resources)}
