"""The table of Q-values with visits: plain data that can be exported and imported."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import InvalidInput

Row = tuple[float, float, float]
"""Values of one state, by action: in, none, out."""
Visits = tuple[int, int, int]


class QTable(Struct, frozen=True):
    """Q-values and visits by state; rows alternate falling and rising, bin by bin.

    >>> table = QTable.of([(0.0, 0.0, 0.0)] * 4, width_s=10.0)
    >>> table.learned(3, 2, 0.5).values[3]
    (0.0, 0.0, 0.5)
    >>> table.learned(3, 2, 0.5).visits[3]
    (0, 0, 1)
    """

    width_s: float
    values: tuple[Row, ...]
    visits: tuple[Visits, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], width_s: float) -> "QTable":
        """A table that was never visited."""
        return cls(width_s, tuple(rows), ((0, 0, 0),) * len(rows))

    def learned(self, state: int, action: int, value: float) -> "QTable":
        """With one value replaced and its visit counted."""
        row, seen = list(self.values[state]), list(self.visits[state])
        row[action] = value
        seen[action] += 1
        return QTable(
            self.width_s,
            (*self.values[:state], (row[0], row[1], row[2]), *self.values[state + 1 :]),
            (*self.visits[:state], (seen[0], seen[1], seen[2]), *self.visits[state + 1 :]),
        )


def export_table(table: QTable) -> dict[str, Any]:
    """The table as plain data, for a file or a page."""
    plain: dict[str, Any] = msgspec.to_builtins(table)
    return plain


def import_table(plain: Any, like: QTable) -> QTable:
    """A table from plain data, if it fits the bins of `like`.

    >>> one = QTable.of([(0.1, 0.2, 0.3)] * 2, width_s=10.0)
    >>> import_table(export_table(one), like=one) == one
    True
    >>> import_table({"width_s": 5.0, "values": [], "visits": []}, like=one)
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: the table has 0 states of 5 s, but 2 of 10 s are set
    """
    try:
        table = msgspec.convert(plain, QTable)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"the table cannot be read: {error}", field="table") from None
    if len(table.values) != len(like.values) or table.width_s != like.width_s:
        raise InvalidInput(
            f"the table has {len(table.values)} states of {table.width_s:g} s, "
            f"but {len(like.values)} of {like.width_s:g} s are set",
            field="table",
        )
    if len(table.visits) != len(table.values):
        raise InvalidInput("the table's visits do not match its values", field="visits")
    if not all(isfinite(v) for row in table.values for v in row):
        raise InvalidInput("the table holds a value that is not a number", field="values")
    return table
