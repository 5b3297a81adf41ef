"""What Q-learning has learned in a cluster: export, import, reset."""

from typing import Any

import msgspec

from weir.controllers.engine.ports import Memories, Store
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.errors import UNREADABLE, InvalidInput
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.memory import QMemory, with_table
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import QSettings
from weir.controllers.scaling.qlearning.table import QTable, export_table, import_table
from weir.controllers.service.request import Request, require_cluster

NAME = "qlearning"


def qtable(store: Store, cluster: str) -> dict[str, Any]:
    """The table as plain data."""
    return export_table(_memory(store, cluster, _scaler(store, cluster)).table)


def import_qtable(
    store: Store, request: Request, cluster: str, data: bytes, name: str = ""
) -> QTable:
    """Replace the learned table with this one, if it fits the settings.

    `data` is JSON as exported, `name` says where it comes from.
    """
    scaler = _scaler(store, cluster)
    try:
        plain = msgspec.json.decode(data)
    except UNREADABLE as error:
        raise InvalidInput(f"The file is not JSON: {error}.", field="file") from None
    table = import_table(plain, like=initial_table(scaler.settings))
    try:
        memory = _memory(store, cluster, scaler)
    except InvalidInput:  # nothing of it is needed
        memory = scaler.fresh()
    kept = msgspec.json.encode(with_table(memory, table))
    detail = f"{NAME}: table of {name}" if name else NAME
    entry = request.entry("memory.imported", cluster, detail=detail)
    store.change_memory(cluster, NAME, kept, entry)
    return table


def reset_qtable(store: Store, request: Request, cluster: str) -> None:
    """Start over with the initial table of the settings."""
    require_cluster(store, cluster)
    store.change_memory(cluster, NAME, None, request.entry("memory.reset", cluster, detail=NAME))


def _scaler(store: Store, cluster: str) -> QLearning:
    require_cluster(store, cluster)
    settings = read_leniently(QSettings, store.settings(scaler_group(cluster, NAME)))
    return QLearning(settings, Scope(cluster=cluster))


def _memory(store: Memories, cluster: str, scaler: QLearning) -> QMemory:
    return scaler.remember(store.memories(cluster).get(NAME))
