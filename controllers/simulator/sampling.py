"""The figures of a simulated period, as a live agent would report them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from weir.controllers.model.sample import (
    Cluster,
    ClusterSample,
    Mode,
    OperatorSample,
    OperatorStatus,
)
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.simulator.model import NOWHERE, OperatorModel
from weir.controllers.simulator.queue import Taken

if TYPE_CHECKING:
    from weir.controllers.simulator.world import SimulatedOperator, SimulatedWorld

ARRIVAL_S = 10.0  # arrivals are averaged over at least so long: upstream sends in batches


class OperatorTrack:
    """What is measured of one operator, kept from period to period."""

    def __init__(self, model: OperatorModel, begin: float) -> None:
        self.model = model
        self.batch_id = -1
        self.batch_at: float | None = None
        self.batch_rows = 0.0
        self.processing_s = self.scheduling_s = 0.0
        self.latency_p50_s = self.latency_max_s = 0.0
        self.cost = 0.0
        self.rate = 0.0
        self.period_rows = 0.0
        self.period_batches = 0
        self.busy_s = 0.0  # core seconds in this period
        self.commits: list[tuple[float, float, float]] = []  # moment, latency, rows
        self.first_at: list[float] = []  # of each committed batch
        self.arrivals: deque[tuple[float, float]] = deque([(begin, model.queue_rows)])

    def commit(self, batch: Taken, began: float, now: float, cost: float) -> None:
        """A batch was committed."""
        m = self.model
        previous = began if self.batch_at is None else self.batch_at
        self.rate = batch.rows / max(now - previous, now - began, 1e-3)
        self.batch_id += 1
        self.batch_at, self.batch_rows = now, batch.rows
        self.processing_s = now - began
        waited = max(0.0, began - batch.median_at + m.latency_offset_s)
        self.scheduling_s = waited
        self.latency_p50_s = waited + self.processing_s
        self.latency_max_s = max(self.latency_p50_s, now - batch.first_at + m.latency_offset_s)
        self.cost = cost + m.batch_work_s / batch.rows
        self.period_rows += batch.rows
        self.period_batches += 1
        self.commits.append((now, self.latency_p50_s, batch.rows))
        self.first_at.append(batch.first_at)

    def arrival_rate(self, now: float, arrived: float) -> float:
        """Rows per second over the last ten seconds at least."""
        seen = self.arrivals
        seen.append((now, arrived))
        while len(seen) > 2 and seen[1][0] <= now - ARRIVAL_S:
            seen.popleft()
        since, before = seen[0]
        return (arrived - before) / max(now - since, 1e-3)

    def processed_rate(self, now: float) -> float:
        """The last commit's rate; once the next commit is overdue, what is left of it."""
        if self.batch_at is None:
            return 0.0
        usual_s = self.commits[-1][0] - self.commits[-2][0] if len(self.commits) > 1 else 0.0
        silent_s = now - self.batch_at
        if usual_s <= 0.0 or silent_s <= max(1.5 * usual_s, 2.0):
            return self.rate
        return self.batch_rows / silent_s


def snapshot_of(world: SimulatedWorld, period_s: float) -> Snapshot:
    """The picture at the end of a period; begins the next one's counts."""
    by_cluster: list[list[OperatorSample]] = [[] for _ in world.fleets]
    for station in world.stations:
        if station.cluster != NOWHERE:
            name = world.model.clusters[station.cluster].name
            by_cluster[station.cluster].append(_operator(station, name, world.now, period_s))
    samples = []
    for fleet, operators in zip(world.fleets, by_cluster, strict=True):
        m = fleet.model
        samples.append(
            ClusterSample(
                at=world.now,
                period_s=period_s,
                cluster=Cluster(
                    name=m.name,
                    executors=fleet.present,
                    executors_wanted=fleet.wanted,
                    cores_per_executor=m.cores_per_executor,
                    min_executors=m.min_executors,
                    max_executors=m.max_executors,
                    can_scale=True,
                    mode=Mode.AUTO,
                    busy_cores=sum(o.busy_cores for o in operators),
                ),
                operators=tuple(operators),
            )
        )
    return Snapshot.of(samples, world.now)


def _operator(
    station: SimulatedOperator, cluster: str, now: float, period_s: float
) -> OperatorSample:
    m, track = station.model, station.track
    arrival = track.arrival_rate(now, station.arrived)
    seen = track.batch_at is not None
    cost = track.cost if seen else station.cost
    busy_s, rows, batches = track.busy_s, track.period_rows, track.period_batches
    track.busy_s = track.period_rows = 0.0
    track.period_batches = 0
    return OperatorSample(
        name=m.name,
        cluster=cluster,
        status=OperatorStatus.STARTING if station.moving else OperatorStatus.RUNNING,
        reads=m.reads,
        writes=m.writes,
        arrival_rows_per_s=arrival,
        processed_rows_per_s=track.processed_rate(now),
        cost_s_per_row=cost,
        load=arrival * cost,
        busy_cores=busy_s / period_s,
        run_time_s=busy_s,
        queue_rows=round(station.queue_rows),
        processing_s=track.processing_s if seen else None,
        scheduling_s=track.scheduling_s if seen else None,
        latency_p50_s=track.latency_p50_s if seen else None,
        latency_max_s=track.latency_max_s if seen else None,
        batch_id=track.batch_id if seen else None,
        batch_at=track.batch_at,
        batch_rows=round(track.batch_rows) if seen else None,
        batches=batches,
        rows=round(rows),
        trigger_s=m.trigger_s,
        stateful=m.stateful,
        state_bytes=m.state_bytes,
    )
