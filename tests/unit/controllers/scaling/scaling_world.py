"""Snapshots for scaler tests: single ones, odd ones, and a small closed loop."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

from weir.controllers.model.decision import Decision, Scale
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scaler

PERIOD_S = 5.0


def operator(**given: Any) -> OperatorSample:
    """An operator of cluster "a" at a load of 0.5 cores."""
    figures: dict[str, Any] = {
        "name": "count",
        "cluster": "a",
        "reads": ("tweets",),
        "arrival_rows_per_s": 1000.0,
        "processed_rows_per_s": 1000.0,
        "cost_s_per_row": 0.0005,
        "load": 0.5,
        "busy_cores": 0.5,
        "queue_rows": 1000,
        "processing_s": 1.0,
        "scheduling_s": 0.5,
        "batch_id": 1,
        "batch_rows": 2000,
        "batches": 2,
        "trigger_s": 2.0,
    }
    return OperatorSample(**{**figures, **given})


def snapshot(
    *operators: OperatorSample,
    executors: int = 2,
    most: int = 8,
    least: int = 1,
    at: float = 0.0,
    cores: int = 1,
    **cluster: Any,
) -> Snapshot:
    """A snapshot of cluster "a"."""
    one = Cluster(
        name="a",
        executors=executors,
        cores_per_executor=cores,
        min_executors=least,
        max_executors=most,
        **cluster,
    )
    return Snapshot(at=at, period_s=PERIOD_S, clusters=(one,), operators=operators)


def odd_snapshots() -> dict[str, Snapshot]:
    """What a scaler may be handed on a bad day."""
    bad = dict.fromkeys(("arrival_rows_per_s", "processed_rows_per_s", "load", "busy_cores"), nan)
    missing = dict.fromkeys(
        (
            "cost_s_per_row",
            "queue_rows",
            "processing_s",
            "scheduling_s",
            "batch_id",
            "batch_rows",
            "latency_p50_s",
        ),
    )
    return {
        "empty": Snapshot(at=0.0, period_s=0.0),
        "no operators": snapshot(),
        "no executors": snapshot(operator(), executors=0),
        "single": snapshot(operator()),
        "nothing arrives": snapshot(
            operator(
                arrival_rows_per_s=0.0,
                processed_rows_per_s=0.0,
                load=0.0,
                busy_cores=0.0,
                queue_rows=0,
                batch_rows=0,
            )
        ),
        "not measured": snapshot(operator(**missing)),
        "NaN": snapshot(operator(**bad)),
        "NaN beside a good one": snapshot(operator(), operator(name="other", **bad)),
        "NaN latency": snapshot(operator(processing_s=nan, scheduling_s=nan, latency_p50_s=nan)),
        "infinite": snapshot(operator(load=inf, cost_s_per_row=inf, processing_s=inf)),
        "negative": snapshot(operator(load=-1.0, processing_s=-1.0, cost_s_per_row=-1.0)),
        "enormous": snapshot(operator(load=1e9, arrival_rows_per_s=1e12, processing_s=1e6)),
        "stopped": snapshot(operator(status=OperatorStatus.STOPPED)),
        "limits crossed": snapshot(operator(), least=9, most=3),
        "above the limit": snapshot(operator(), executors=20, most=8),
    }


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
