"""What Q-learning has learned in a cluster: taken out, put in, or begun anew."""

from typing import Any

import msgspec

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.settings import build
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.memory import QMemory, with_table
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import QSettings
from weir.controllers.scaling.qlearning.table import export_table, import_table
from weir.controllers.service.steering import reset_memory

NAME = "qlearning"


def exported(store: Store, cluster: str) -> dict[str, Any]:
    """The table as plain data."""
    return export_table(_memory(store, cluster, _scaler(store, cluster)).table)


def imported(
    store: Store,
    cluster: str,
    plain: Any,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
) -> None:
    """Put a table in the place of the learned one, if it fits the settings."""
    scaler = _scaler(store, cluster)
    table = import_table(plain, like=initial_table(scaler.settings))
    try:
        memory = _memory(store, cluster, scaler)
    except InvalidInput:  # nothing of it is needed
        memory = scaler.fresh()
    store.save_memories(cluster, {NAME: msgspec.json.encode(with_table(memory, table))})
    store.append_audit(
        AuditEntry(
            at=now, by=by, action="memory.imported", subject=cluster, address=address,
            why=comment, detail=NAME,
        )
    )  # fmt: skip


def reset(
    store: Store, cluster: str, *, by: str, now: float, comment: str = "", address: str = ""
) -> None:
    """Begin anew with the initial table of the settings."""
    reset_memory(store, cluster, NAME, by=by, now=now, comment=comment, address=address)


def _scaler(store: Store, cluster: str) -> QLearning:
    if cluster not in store.clusters():
        known = ", ".join(store.clusters()) or "none"
        raise NotFound(f"there is no cluster '{cluster}'; known: {known}")
    settings = build(QSettings, store.settings(scaler_group(cluster, NAME)))
    return QLearning(settings, Scope(cluster=cluster))


def _memory(store: Store, cluster: str, scaler: QLearning) -> QMemory:
    return scaler.remember(store.memories(cluster).get(NAME))
