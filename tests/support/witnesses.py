"""What parts of the system say of themselves when a test has failed."""

import time
from collections.abc import Callable

from redis.exceptions import RedisError

from weir.metrics.store.redis_store import RedisStore

Witness = Callable[[str, Callable[[], str]], None]
"""Names a part that can say how it stands."""


class Witnesses:
    """Parts that are there now, each with a way to ask how it stands."""

    def __init__(self) -> None:
        self._says: dict[str, Callable[[], str]] = {}

    def add(self, part: str, says: Callable[[], str]) -> None:
        self._says[part] = says

    def remove(self, part: str) -> None:
        self._says.pop(part, None)

    def statements(self) -> list[tuple[str, str]]:
        """A heading and a text of each; one that fails to answer says so."""
        return [(part, _asked(says)) for part, says in self._says.items()]


def _asked(says: Callable[[], str]) -> str:
    try:
        return says()
    except Exception as error:  # a report must not hide the failure that it is about
        return f"cannot be asked: {type(error).__name__}: {error}"


def store_state(store: RedisStore) -> str:
    """Parts, clusters with their operators, open recommendations and moves, a line each."""
    try:
        return "\n".join(_lines(store, time.time()))
    except RedisError as error:
        return f"Redis does not answer: {error}"


def _lines(store: RedisStore, now: float) -> list[str]:
    parts = [f"{p.id} {now - p.at:.0f} s ago" for p in store.parts()]
    lines = [f"signs of life: {', '.join(parts) or 'none'}"]
    for sample in store.latest():
        cluster = sample.cluster
        lines.append(
            f"cluster {cluster.name}: reported {now - sample.at:.0f} s ago, executors"
            f" {cluster.executors} of {cluster.executors_wanted} wanted {cluster.message}"
        )
        lines.extend(
            f"  {o.name}: {o.status}, batch {o.batch_id}, queue {o.queue_rows},"
            f" load {o.load:.2f} {o.message}"
            for o in sample.operators
        )
    lines.extend(f"modes: {name} {mode}" for name, mode in store.modes().items())
    lines.extend(
        f"recommendation {r.id}: {r.kind} of {', '.join(r.clusters)} {r.status} by {r.by}"
        for r in store.recommendations()
        if not r.status.final
    )
    lines.extend(
        f"move {m.move.operator} {m.move.source} to {m.move.target}: {m.step} {m.message}"
        for rebalance in store.rebalances()
        for m in rebalance.moves
        if not m.step.final
    )
    return lines
