"""A world of one operator on one cluster, which is what a trace is: `world`, only quicker.

It answers as `SimulatedWorld` does, to the last figure that matters; a test holds them against
each other. What is compiled is in `kernel`.
"""

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
    """Stepped period by period, or over many in which nobody decides; see `SimulatedWorld`."""

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
                model.begin,
                o.queue_rows,
            ],
            dtype=float,
        )
        self._given = np.column_stack([model.ends, o.rows_per_s, o.cost_s_per_row])
        self._seen = np.zeros((model.periods, k.SEEN))
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
        self._chance = _even_draws(seed)
        self._factors = np.ones(_CHUNK)
        self._draw()
        self._executors: list[int] = []
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
        self.pass_until(self.period + 1)
        return self._snapshot()

    def pass_until(self, last: int) -> None:
        """On to the beginning of a period, with nobody deciding on the way."""
        fleet, end = self.fleet, self.model.ends[last - 1]  # what is compiled checks no bounds
        while self.period < last:
            first = self.period
            self.period = k.periods(
                self.state, self._facts, self._queue, self._commits, self._factors, self._given,
                self._seen, float(fleet.cores), first, last, fleet.next_at, ARRIVAL_S,
            )  # fmt: skip
            self._executors += [fleet.present] * (self.period - first)
            if self.period < last:
                if fleet.next_at < self._given[self.period, k.END]:
                    self._change()
                else:
                    self._make_room()
        self.now = end

    def outcome(self, memory: Any) -> SimulationOutcome:
        """All that was seen."""
        s, seen = self.state, self._seen[: self.period]
        executors = np.array(self._executors)
        cores = executors * self.model.clusters[0].cores_per_executor
        arrivals, queue = seen[:, k.SEEN_RATE], np.rint(seen[:, k.SEEN_QUEUE])
        working, waiting = s[k.BATCH] > 0.0, s[k.TAIL] > s[k.HEAD]
        oldest = s[k.FIRST] if working else self._queue[int(s[k.HEAD]), 1] if waiting else None
        commits = np.concatenate([*self._committed, self._commits[: int(s[k.COMMITS])]])
        latency = self._known(k.SEEN_LATENCY)
        return SimulationOutcome(
            series=SimulatedSeries(
                time=self.model.ends[: self.period],
                latency_s=latency,
                queue_rows=tuple(queue.tolist()),
                executors=tuple(self._executors),
                load=tuple((arrivals * seen[:, k.SEEN_COST] / np.maximum(cores, 1)).tolist()),
                arrivals=tuple(arrivals.tolist()),
            ),
            actions=tuple(self.actions),
            operators=(
                OperatorRun(
                    name=self._operator.name,
                    arrived_rows=float(s[k.ARRIVED]),
                    committed_rows=float(s[k.COMMITTED]),
                    queued_rows=float(s[k.QUEUED] + max(s[k.BATCH], 0.0)),
                    commits=commits[:, :3],
                    first_at=commits[:, 3],
                    waiting_since=None if oldest is None else float(oldest),
                    processing_s=self._known(k.SEEN_PROCESSING),
                    latency_s=latency,
                    queue_rows=tuple(queue.astype(int).tolist()),
                ),
            ),
            memory=memory,
        )

    def _known(self, column: int) -> tuple[float | None, ...]:
        """A figure of every period; None before the first batch has ended."""
        unknown = int((self._seen[: self.period, k.SEEN_BATCH_ID] < 0.0).sum())
        return (None,) * unknown + tuple(self._seen[unknown : self.period, column].tolist())

    def _snapshot(self) -> Snapshot:
        (
            arrival, processed, cost, busy_s, length_s, queue_rows, processing, scheduling, latency,
            latency_max, batch_id, batch_at, batch_rows, batches, rows, _,
        ) = self._seen[self.period - 1].tolist()  # fmt: skip
        o, fleet = self._operator, self.fleet
        seen = batch_id >= 0.0
        c = fleet.model
        busy_cores = busy_s / length_s
        operator = OperatorSample(
            name=o.name,
            cluster=c.name,
            reads=o.reads,
            writes=o.writes,
            arrival_rows_per_s=arrival,
            processed_rows_per_s=processed,
            cost_s_per_row=cost,
            load=arrival * cost,
            busy_cores=busy_cores,
            run_time_s=busy_s,
            queue_rows=round(queue_rows),
            processing_s=processing if seen else None,
            scheduling_s=scheduling if seen else None,
            latency_p50_s=latency if seen else None,
            latency_max_s=latency_max if seen else None,
            batch_id=int(batch_id) if seen else None,
            batch_at=batch_at if seen else None,
            batch_rows=round(batch_rows) if seen else None,
            batches=int(batches),
            rows=round(rows),
            trigger_s=o.trigger_s,
            stateful=o.stateful,
            state_bytes=o.state_bytes,
        )
        cluster = Cluster(
            name=c.name,
            executors=fleet.present,
            executors_wanted=fleet.wanted,
            cores_per_executor=c.cores_per_executor,
            min_executors=c.min_executors,
            max_executors=c.max_executors,
            can_scale=True,
            mode=Mode.AUTO,
            busy_cores=busy_cores,
        )
        return Snapshot(
            at=self.now,
            period_s=length_s,
            clusters=(cluster,),
            operators=(operator,),
            edges=edges_between((operator,)),
            periods={c.name: length_s},
        )

    def _change(self) -> None:
        """On to the moment within this period at which executors come or go."""
        at, (_, rate, cost) = self.fleet.next_at, self._given[self.period].tolist()
        while not k.run(
            self.state, self._facts, self._queue, self._commits, self._factors, rate, cost,
            float(self.fleet.cores), self.period, at,
        ):  # fmt: skip
            self._make_room()
        self.fleet.pass_time(at)
        k.share(self.state, self._facts, float(self.fleet.cores), at)

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
            self._factors = k.spread(self._chance.random_sample(_CHUNK), jitter)


def _even_draws(seed: int) -> np.random.RandomState:
    """What `Random` draws in `SimulatedWorld`, many at once.

    >>> list(_even_draws(7).random_sample(2)) == [(r := Random("world 7")).random(), r.random()]
    True
    """
    *keys, position = Random(f"world {seed}").getstate()[1]
    chance = np.random.RandomState()
    chance.set_state(("MT19937", np.array(keys, dtype=np.uint32), position, 0, 0.0))
    return chance
