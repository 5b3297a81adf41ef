"""A small closed loop for scaler tests, and the snapshots of the checks."""

from collections.abc import Callable
from typing import Any

from weir.controllers.checks.scaler import PERIOD_S, odd_snapshots, operator, snapshot
from weir.controllers.model.decision import Decision, Scale
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scaler

__all__ = ["PERIOD_S", "World", "odd_snapshots", "operator", "snapshot"]


class World:
    """A cluster with one operator that obeys its scaler at once: a fluid queue.

    Batches of one trigger interval; what does not fit waits. Deterministic.
    """

    def __init__(
        self,
        rate: Callable[[float], float],
        cost_s: float = 0.001,
        executors: int = 1,
        most: int = 16,
        cores: int = 1,
        trigger_s: float = PERIOD_S,
        overhead_s: float = 0.2,
    ) -> None:
        self.rate, self.cost_s, self.executors, self.most = rate, cost_s, executors, most
        self.cores, self.trigger_s, self.overhead_s = cores, trigger_s, overhead_s
        self.now, self.queue, self.batch = 0.0, 0.0, 0
        self.actions: list[tuple[float, int, int]] = []

    def step(self) -> Snapshot:
        """One period on."""
        arrived = self.rate(self.now) * PERIOD_S
        able = self.executors * self.cores / self.cost_s * PERIOD_S
        waiting = self.queue + arrived
        done = min(waiting, able)
        self.queue = waiting - done
        self.now += PERIOD_S
        self.batch += 1
        speed = self.executors * self.cores / self.cost_s
        one = operator(
            arrival_rows_per_s=arrived / PERIOD_S,
            processed_rows_per_s=done / PERIOD_S,
            cost_s_per_row=self.cost_s,
            load=arrived / PERIOD_S * self.cost_s,
            busy_cores=done / PERIOD_S * self.cost_s,
            queue_rows=int(self.queue),
            processing_s=self.overhead_s + done / speed,
            scheduling_s=self.queue / speed,
            batch_id=self.batch,
            batch_rows=int(done),
            trigger_s=self.trigger_s,
        )
        return snapshot(
            one, executors=self.executors, most=self.most, at=self.now, cores=self.cores
        )

    def run(self, scaler: Scaler[Any, Any], periods: int, memory: Any = None) -> list[Decision]:
        """Let the scaler rule; `actions` notes each change as (time, before, after)."""
        memory = scaler.fresh() if memory is None else memory
        decisions = []
        for _ in range(periods):
            decision, memory = scaler.decide(self.step(), memory, self.now)
            decisions.append(decision)
            if isinstance(decision, Scale):
                self.actions.append((self.now, self.executors, decision.executors))
                self.executors = decision.executors
        self.memory = memory
        return decisions
