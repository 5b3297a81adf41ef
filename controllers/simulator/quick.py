"""A world of one operator on one cluster, which is what a trace is: `world`, only quicker.

It answers as `SimulatedWorld` does, to the last figure that matters; a test holds them against
each other. What is compiled is in `kernel`.
"""

from collections import deque
from math import exp
from random import Random
from typing import Any

import numpy as np

from weir.controllers.model.sample import Cluster, Mode, OperatorSample
from weir.controllers.model.snapshot import Snapshot, edges_between
from weir.controllers.simulator import kernel as k
from weir.controllers.simulator.executors import ExecutorPool
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.run_types import (
    OperatorRun,
    SimulatedAction,
    SimulatedSeries,
    SimulationOutcome,
)
from weir.controllers.simulator.sampling import ARRIVAL_S

_CHUNK = 4096


def fits(model: WorldModel) -> bool:
    """Whether a model is simple enough: one operator that stays on one cluster."""
    return (
        len(model.clusters) == len(model.operators) == 1
        and not model.operators[0].place
        and not model.operators[0].upstream
        and model.periods > 0
    )


class QuickWorld:
    """Stepped period by period; see `SimulatedWorld`."""

    def __init__(self, model: WorldModel, seed: int = 0) -> None:
        o = model.operators[0]
        self.model, self.now, self.period = model, model.begin, 0
        self.fleet = ExecutorPool(model.clusters[0])
        self._operator = o
        self._facts = np.array(
            [
                o.trigger_s,
                o.overhead_s,
                o.batch_work_s,
                o.stretch,
                o.parallelism or 0,
                o.max_rows or 0,
                o.latency_offset_s,
            ],
            dtype=float,
        )
        self.state = np.zeros(k.FIGURES)
        self.state[[k.AT, k.BEGAN, k.SINCE, k.FED]] = model.begin
        self.state[[k.BATCH, k.BATCH_ID]] = -1.0
        self._queue = np.zeros((model.periods + 4, 4))
        if o.queue_rows > 0.0:
            self._queue[0] = (o.queue_rows, model.begin, model.begin, -1.0)
            self.state[k.TAIL] = 1.0
            self.state[k.QUEUED] = self.state[k.ARRIVED] = o.queue_rows
        self._commits = np.zeros((_CHUNK, 4))
        self._committed: list[np.ndarray[Any, Any]] = []
        self._chance = Random(f"world {seed}")
        self._factors = np.ones(_CHUNK)
        self._draw()
        self._arrivals: deque[tuple[float, float]] = deque([(model.begin, o.queue_rows)])
        self._rows: list[tuple[float, float | None, float | None, float, int, float, float]] = []
        self.actions: list[SimulatedAction] = []

    def scale(self, executors: int) -> None:
        """Ask for a number of executors, from now on."""
        before = self.fleet.wanted
        self.fleet.ask(executors, self.now)
        self._share()
        if self.fleet.wanted != before:
            self.actions.append(SimulatedAction(self.now, before, self.fleet.wanted))

    def put(self, executors: int) -> None:
        """Set the number of executors that are there."""
        self.fleet.put(executors)
        self._share()

    def step(self) -> Snapshot:
        """One period on."""
        i, end = self.period, self.model.ends[self.period]
        o, s, fleet = self._operator, self.state, self.fleet
        rate, cost = o.rows_per_s[i], o.cost_s_per_row[i]
        while True:
            until = min(end, fleet.next_at)
            while not k.run(
                s, self._facts, self._queue, self._commits, self._factors, rate, cost,
                float(fleet.cores), i, until,
            ):  # fmt: skip
                self._make_room()
            if fleet.next_at >= end:
                break
            at = fleet.next_at
            fleet.pass_time(at)
            k.share(s, self._facts, float(fleet.cores), at)
        length_s = end - self.now
        self.now, self.period = end, i + 1
        k.feed(s, self._queue, rate, i, end)
        k.work(s, o.stretch, end)
        return self._snapshot(length_s, cost)

    def outcome(self, memory: Any) -> SimulationOutcome:
        """All that was seen."""
        time, processing, latency, queue, executors, load, arrivals = zip(*self._rows, strict=True)
        s, queued = self.state, float(self.state[k.QUEUED])
        working, waiting = s[k.BATCH] > 0.0, s[k.TAIL] > s[k.HEAD]
        oldest = s[k.FIRST] if working else self._queue[int(s[k.HEAD]), 1] if waiting else None
        done = [*self._committed, self._commits[: int(s[k.COMMITS])]]
        commits = np.concatenate(done)
        return SimulationOutcome(
            series=SimulatedSeries(
                time=time,
                latency_s=latency,
                queue_rows=queue,
                executors=executors,
                load=load,
                arrivals=arrivals,
            ),
            actions=tuple(self.actions),
            operators=(
                OperatorRun(
                    name=self._operator.name,
                    arrived_rows=float(s[k.ARRIVED]),
                    committed_rows=float(s[k.COMMITTED]),
                    queued_rows=queued + (float(s[k.BATCH]) if working else 0.0),
                    commits=tuple(map(tuple, commits[:, :3].tolist())),
                    first_at=tuple(commits[:, 3].tolist()),
                    waiting_since=None if oldest is None else float(oldest),
                    processing_s=processing,
                    latency_s=latency,
                    queue_rows=tuple(map(int, queue)),
                ),
            ),
            memory=memory,
        )

    def _snapshot(self, length_s: float, cost_now: float) -> Snapshot:
        s, o, fleet, now = self.state, self._operator, self.fleet, self.now
        f = s.tolist()
        s[k.BUSY] = s[k.PERIOD_ROWS] = s[k.PERIOD_BATCHES] = 0.0
        seen_arrivals, arrived = self._arrivals, f[k.ARRIVED]
        seen_arrivals.append((now, arrived))
        while len(seen_arrivals) > 2 and seen_arrivals[1][0] <= now - ARRIVAL_S:
            seen_arrivals.popleft()
        since, before = seen_arrivals[0]
        arrival = (arrived - before) / max(now - since, 1e-3)
        seen = f[k.BATCH_ID] >= 0.0
        cost = f[k.COST] if seen else cost_now
        busy_cores = f[k.BUSY] / length_s
        queue_rows = round(f[k.QUEUED] + max(f[k.BATCH], 0.0))
        processing = f[k.PROCESSING] if seen else None
        latency = f[k.LATENCY] if seen else None
        c = fleet.model
        present = fleet.present
        load = arrival * cost
        operator = OperatorSample(
            name=o.name,
            cluster=c.name,
            reads=o.reads,
            writes=o.writes,
            arrival_rows_per_s=arrival,
            processed_rows_per_s=self._processed_rate(f),
            cost_s_per_row=cost,
            load=load,
            busy_cores=busy_cores,
            run_time_s=f[k.BUSY],
            queue_rows=queue_rows,
            processing_s=processing,
            scheduling_s=f[k.SCHEDULING] if seen else None,
            latency_p50_s=latency,
            latency_max_s=f[k.LATENCY_MAX] if seen else None,
            batch_id=int(f[k.BATCH_ID]) if seen else None,
            batch_at=f[k.BATCH_AT] if seen else None,
            batch_rows=round(f[k.BATCH_ROWS]) if seen else None,
            batches=int(f[k.PERIOD_BATCHES]),
            rows=round(f[k.PERIOD_ROWS]),
            trigger_s=o.trigger_s,
            stateful=o.stateful,
            state_bytes=o.state_bytes,
        )
        cluster = Cluster(
            name=c.name,
            executors=present,
            executors_wanted=fleet.wanted,
            cores_per_executor=c.cores_per_executor,
            min_executors=c.min_executors,
            max_executors=c.max_executors,
            can_scale=True,
            mode=Mode.AUTO,
            busy_cores=busy_cores,
        )
        per_core = load / max(present * c.cores_per_executor, 1)
        self._rows.append((now, processing, latency, queue_rows, present, per_core, arrival))
        return Snapshot(
            at=now,
            period_s=length_s,
            clusters=(cluster,),
            operators=(operator,),
            edges=edges_between((operator,)),
            periods={c.name: length_s},
        )

    def _processed_rate(self, f: list[float]) -> float:
        """The last commit's rate; once the next commit is overdue, what is left of it."""
        if f[k.BATCH_ID] < 0.0:
            return 0.0
        usual_s = f[k.BATCH_AT] - f[k.BEFORE] if f[k.BATCH_ID] > 0.0 else 0.0
        silent_s = self.now - f[k.BATCH_AT]
        if usual_s <= 0.0 or silent_s <= max(1.5 * usual_s, 2.0):
            return f[k.RATE]
        return f[k.BATCH_ROWS] / silent_s

    def _share(self) -> None:
        k.share(self.state, self._facts, float(self.fleet.cores), self.now)

    def _make_room(self) -> None:
        if self.state[k.COMMITS] >= _CHUNK:
            self._committed.append(self._commits.copy())
            self.state[k.COMMITS] = 0.0
        if self.state[k.DRAWN] >= _CHUNK:
            self._draw()
            self.state[k.DRAWN] = 0.0

    def _draw(self) -> None:
        jitter = self._operator.jitter
        if jitter:
            draw = self._chance.gauss
            self._factors = np.array([exp(draw(0.0, jitter)) for _ in range(_CHUNK)])
