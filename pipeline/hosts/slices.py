"""Which slices the operators of a host have, as last read from the store."""

from collections.abc import Iterator, Mapping

from weir.controllers.engine.ports import Slicings
from weir.controllers.model.slicing import Slicing, sliced_operator
from weir.pipeline.hosts.operator import Operator


class Slices:
    """The slices of declared operators; an operator without a key has none and runs as it is."""

    def __init__(self, store: Slicings, operators: Mapping[str, Operator]) -> None:
        self._store = store
        self._operators = operators
        self._slicings: dict[str, Slicing] = {}

    def begin(self) -> None:
        """Give those their first slices that have a key and none yet."""
        for operator in self._operators.values():
            if not operator.unsliced:
                first = Slicing.even(operator.name, operator.slices, operator.groups)
                self._store.slice_if(first, seen=None)
        self.read()

    def read(self) -> None:
        """Look what the store says now."""
        found = self._store.slicings()
        self._slicings = {n: s for n, s in found.items() if n in self._operators}

    def names(self) -> Iterator[str]:
        """Every slice there is."""
        for slicing in self._slicings.values():
            yield from slicing.slices

    def operator(self, name: str) -> Operator:
        """A slice as an operator of its own."""
        slicing = self._slicings[sliced_operator(name)]
        return self._operators[slicing.operator].slice(slicing, name)

    def named(self, name: str) -> tuple[str, ...]:
        """What a name refers to: an operator, all of its slices, or one slice; nothing if unknown."""
        operator = self._operators.get(name)
        if operator is not None:
            return (name,) if operator.unsliced else self._slicings[name].slices
        return (name,) if self.exists(name) else ()

    def exists(self, name: str) -> bool:
        """Whether there is a slice of that name."""
        slicing = self._slicings.get(sliced_operator(name))
        return slicing is not None and name in slicing.owners

    def current(self, operator: Operator) -> bool:
        """Whether it is a slice as it is now, and may run; what is not sliced always may."""
        if operator.share is None:
            return True
        slicing = self._slicings.get(operator.share.operator)
        if slicing is None or operator.name in slicing.held:
            return False
        return slicing.born.get(operator.name, 1) == operator.share.born and bool(
            slicing.groups_of(operator.name)
        )
