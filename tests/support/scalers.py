"""Asks the scalers of fed clusters, as the engine does, and makes a Q-learning scaler's past."""

import math
import random
from collections.abc import Mapping

import msgspec

from weir.controllers.engine.propose.scaling import (
    ScaleOutlook,
    ScaleSettings,
    ask_scalers,
    scale_group,
    scaler_group,
)
from weir.controllers.model.sample import Cluster, OperatorSample
from weir.controllers.model.settings import build
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.facts import Scope
from weir.controllers.scaling.qlearning.memory import QMemory
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.registry import scalers
from weir.metrics.store.redis_store import RedisStore


class Asker:
    """One look at every cluster each second."""

    EVERY_S = 1.0

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._before: Mapping[str, ScaleOutlook] = {}
        self._at = 0.0

    def step(self, now: float) -> None:
        """Every scaler's answer and memory, kept in the store."""
        if now - self._at < self.EVERY_S:
            return
        self._at = now
        lease = self._store.acquire("asker", "asker", 60.0)  # it writes as a leader does
        snapshot = Snapshot.of(self._store.latest(), now)
        self._before = self._before or self._store.scale_outlooks()
        after = {}
        for cluster in snapshot.clusters:
            name = cluster.name
            settings = build(ScaleSettings, self._store.settings(scale_group(name)))
            own = {s: self._store.settings(scaler_group(name, s)) for s in scalers()}
            after[name], memories = ask_scalers(
                snapshot,
                cluster,
                settings,
                own,
                self._store.memories(name),
                now,
                before=self._before.get(name),
            )
            self._store.save_memories(name, memories, lease)
            self._store.save_scale_outlook(after[name])
        self._before = after


def learned(
    decisions: int = 80, *, ends_at: float = 0.0, settings: QSettings | None = None, seed: int = 5
) -> QMemory:
    """What the scaler remembers after so many decisions on a workload that rises and falls.

    >>> memory = learned(30)
    >>> len(memory.rewards), memory.draws
    (29, 29)
    """
    settings = settings or QSettings(
        policy=ExplorationPolicy.DECREASING_EPSILON, epsilon=0.6, window_s=1.0
    )
    scaler = QLearning(settings, Scope(cluster="narrow", max_executors=6))
    memory, rng, executors, queue = scaler.fresh(), random.Random(seed), 2, 0.0
    for i in range(decisions):
        at = ends_at - (decisions - 1 - i) * settings.decision_interval_s
        rows = 400 + 300 * math.sin(i / 6) + rng.uniform(-20, 20)
        queue = max(0.0, queue + rows - executors * 170)
        latency = 2.0 + 9.0 * rows / (executors * 170) + queue / 40
        operator = OperatorSample(
            name="count", cluster="narrow", arrival_rows_per_s=rows, processed_rows_per_s=rows,
            load=rows / 170, processing_s=latency, queue_rows=int(queue), batch_rows=int(rows),
        )  # fmt: skip
        cluster = Cluster(
            name="narrow", executors=executors, executors_wanted=executors, max_executors=6
        )
        snapshot = Snapshot(at=at, period_s=1.0, clusters=(cluster,), operators=(operator,))
        decision, memory = scaler.decide(snapshot, memory, at)
        executors = getattr(decision, "executors", executors)
    return memory


def remembered(memory: QMemory) -> dict[str, bytes]:
    """As it stands in the store."""
    return {"qlearning": msgspec.json.encode(memory)}
