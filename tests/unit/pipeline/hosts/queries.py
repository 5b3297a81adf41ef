"""Streaming queries and operators as a runner sees them, without Spark."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from weir.pipeline.hosts.operator import Operator


class Query:
    """A query as Spark has it: it writes until its batch is over or it is stopped."""

    def __init__(self, now: Callable[[], float], batch_s: float = 0.0) -> None:
        self.id = "q"
        self._now = now
        self._batch_s = batch_s
        self._until = float("inf")  # of its last batch, once it is to end
        self.stopped = False
        self.progress: dict[str, Any] | None = None
        self._jsq = SimpleNamespace(
            streamingQuery=lambda: SimpleNamespace(state=lambda: self),
            lastProgress=lambda: (
                self.progress and SimpleNamespace(json=lambda: json.dumps(self.progress))
            ),
        )

    @property
    def writes(self) -> bool:
        return not self.stopped and self._now() < self._until

    @property
    def isActive(self) -> bool:
        return self._until == float("inf") and not self.stopped

    @property
    def status(self) -> dict[str, bool]:
        return {"isTriggerActive": self._batch_s > 0 and self.writes}

    def set(self, terminated: object) -> None:
        self._until = self._now() + self._batch_s

    def awaitTermination(self, timeout: float) -> bool:
        assert timeout <= 1.0, "nobody may wait for a batch here"
        return not self.isActive  # as Spark answers when the time is up

    def stop(self) -> None:
        self.stopped = True

    def exception(self) -> None:
        return None

    def trigger(self, at: float, *, batch: bool = True) -> None:
        took = {"triggerExecution": 500, **({"addBatch": 400} if batch else {})}
        stamp = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
        self.progress = {
            "id": "q", "runId": "r", "timestamp": stamp, "batchId": 1, "durationMs": took,
        }  # fmt: skip


class Fake(Operator):
    """An operator whose queries are all kept."""

    queries: list[Query]
    make: Callable[[], Query]

    def __init__(self, name: str, now: Callable[[], float], batch_s: float = 0.0) -> None:
        super().__init__(name, lambda *_: None)
        object.__setattr__(self, "queries", [])
        object.__setattr__(self, "make", lambda: Query(now, batch_s))

    def start(self, *_: object) -> Query:
        self.queries.append(self.make())
        return self.queries[-1]
