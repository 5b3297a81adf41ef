"""What was done in a run: commands, rebalances, recommendations and audit entries.

Each version of each is one row, at the moment from which it held: so a replay shows
a command as pending, then running, then done, as the page did at the time.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
from msgspec import Struct

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Rebalance, Store
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.command import Command, CommandResult, CommandStatus

SCHEMA = pa.schema(
    [("at", pa.float64()), ("kind", pa.string()), ("id", pa.string()), ("data", pa.string())]
)
READ_AT_FIRST = 50
SETTINGS = "settings"  # the kind of what people set, see run_settings
_TYPES: dict[str, Any] = {
    "command": tuple[Command, CommandResult],
    "rebalance": Rebalance,
    "recommendation": Recommendation,
    "audit": AuditEntry,
}
Key = tuple[str, str]  # kind, id
T = TypeVar("T")


class RecordedAction(Struct, frozen=True, kw_only=True):
    """One version of one thing that was done; `data` is its JSON."""

    at: float
    kind: str
    id: str
    data: str


def actions_of(
    store: Store,
    known: Collection[Key] = (),
    unfinished: Collection[Key] = (),
    since: float = float("-inf"),
) -> list[RecordedAction]:
    """The present version of all that was done in the store since a moment, oldest first.

    The newest are read, as far back as there are some that are not known, and those that
    were unfinished when last read, however old.
    """

    def new(kind: str, id: str, at: float) -> bool:
        return at >= since and (kind, id) not in known

    def missing_columns(kind: str, read: Collection[str]) -> list[str]:
        return [id for k, id in unfinished if k == kind and id not in read]

    commands = {
        c.id: (c, r)
        for c, r in _newest(
            store.recent_commands, lambda pair: new("command", pair[0].id, pair[0].issued_at)
        )
    }
    for id in missing_columns("command", commands):
        if (pair := store.command(id)) is not None:
            commands[id] = pair
    found = [_action("command", max(c.issued_at, r.at), c.id, (c, r)) for c, r in commands.values()]
    for r in store.rebalances():
        found.append(_action("rebalance", max([r.at, *(m.since for m in r.moves)]), r.id, r))
    proposed = {
        item.id: item
        for item in _newest(
            store.recommendations, lambda item: new("recommendation", item.id, item.at)
        )
    }
    for id in missing_columns("recommendation", proposed):
        if (item := store.recommendation(id)) is not None:
            proposed[id] = item
    for item in proposed.values():
        at = max([item.at, *(entry.at for entry in item.history)])
        found.append(_action("recommendation", at, item.id, item))
    for entry in _newest(store.audit, lambda e: new("audit", str(e.number), e.at)):
        found.append(_action("audit", entry.at, str(entry.number), entry))
    return sorted(found, key=lambda a: a.at)


def is_open(action: RecordedAction, at: float) -> bool:
    """Whether it was still unfinished at a moment.

    >>> is_open(_action("rebalance", 5.0, "r", Rebalance(id="r", at=5.0, moves=())), 6.0)
    False
    """
    if action.kind not in ("command", "rebalance", "recommendation"):
        return False
    thing = msgspec.json.decode(action.data, type=_TYPES[action.kind])
    if isinstance(thing, Rebalance):
        return not thing.final
    if isinstance(thing, Recommendation):
        return not thing.status.final
    command, result = thing
    late = result.status is CommandStatus.PENDING and at > command.expires_at
    return not result.status.final and not late


def as_of(actions: Iterable[RecordedAction], kind: str, at: float) -> list[Any]:
    """Everything of a kind as it stood at a moment, newest first.

    >>> rebalance = Rebalance(id="r", at=5.0, moves=())
    >>> rows = [_action("rebalance", 5.0, "r", rebalance)]
    >>> as_of(rows, "rebalance", 4.0), as_of(rows, "rebalance", 5.0) == [rebalance]
    ([], True)
    """
    newest: dict[str, RecordedAction] = {}
    first: dict[str, float] = {}
    for action in actions:
        if action.kind == kind and action.at <= at:
            first.setdefault(action.id, action.at)
            known = newest.get(action.id)
            if known is None or action.at >= known.at:
                newest[action.id] = action
    order = sorted(newest, key=lambda i: first[i], reverse=True)
    return [msgspec.json.decode(newest[i].data, type=_TYPES[kind]) for i in order]


def read_actions(folder: Path) -> list[RecordedAction]:
    """All versions of all actions of a run, oldest first."""
    if not (folder / "actions").is_dir():
        return []
    rows = ds.dataset(folder / "actions", schema=SCHEMA, format="parquet").to_table()
    return [RecordedAction(**row) for row in rows.sort_by("at").to_pylist()]


def rows_of(actions: Sequence[RecordedAction]) -> list[tuple[Any, ...]]:
    """Rows of the table."""
    return [(a.at, a.kind, a.id, a.data) for a in actions]


def _action(kind: str, at: float, id: str, thing: object) -> RecordedAction:
    return RecordedAction(at=at, kind=kind, id=id, data=msgspec.json.encode(thing).decode())


def _newest(read: Callable[[int], list[T]], new: Callable[[T], bool]) -> list[T]:
    """The newest of a list, newest first, until one is not new or there are no more."""
    limit = READ_AT_FIRST
    while len(found := read(limit)) >= limit and new(found[limit - 1]):
        limit *= 4
    return found
