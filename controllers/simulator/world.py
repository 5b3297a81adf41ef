"""A world of clusters and operators that is stepped period by period.

Between two periods it runs from event to event: a trigger fires, planning ends, the
tasks of a batch end, an executor comes or goes. Batches that run side by side share
the cores of their cluster evenly.

    waiting --trigger--> planning --overhead--> working --work / cores--> waiting
       ^                                                                     |
       +---- moving (stopped at a batch boundary, resumes after the pause) <-+

Every period ends in the `Snapshot` that production would see.
"""

from enum import IntEnum
from math import exp, floor, inf
from random import Random

from weir.controllers.model.snapshot import Snapshot
from weir.controllers.simulator.executors import ExecutorPool
from weir.controllers.simulator.model import NOWHERE, OperatorModel, WorldModel, usable_cores
from weir.controllers.simulator.queue import Queue, Taken
from weir.controllers.simulator.sampling import OperatorTrack, snapshot_of

_POLL_S = 0.1  # how soon an operator without a trigger interval looks again


class Phase(IntEnum):
    """What an operator is doing."""

    WAITING = 0  # for its trigger
    PLANNING = 1
    WORKING = 2
    MOVING = 3
    AWAY = 4  # it does not run


class SimulatedOperator:
    """One operator at work."""

    def __init__(self, model: OperatorModel, begin: float) -> None:
        self.model = model
        self.queue = Queue()
        self.queue.push(model.queue_rows, begin, begin)
        self.track = OperatorTrack(model, begin)
        self.cluster = model.place[0] if model.place else 0
        self.phase = Phase.AWAY if self.cluster == NOWHERE else Phase.WAITING
        self.at = inf if self.cluster == NOWHERE else begin  # of its next event
        self.began_at = begin  # of the batch in work
        self.batch: Taken | None = None
        self.left = 0.0  # core seconds of the batch still to do, stretched
        self.speed = 0.0  # cores that work on it
        self.since = begin  # `left` is as of this moment
        self.fed_until = begin  # arrivals from outside have been queued up to here
        self.rate = self.cost = 0.0
        self.gain = 1.0  # rows that reach it for each row of its upstream
        self.arrived = model.queue_rows
        self.committed = 0.0
        self.below: list[SimulatedOperator] = []  # operators that it feeds

    def feed(self, now: float) -> None:
        """Queue what has arrived from outside since the last look."""
        if self.rate > 0.0 and now > self.fed_until:
            rows = self.rate * (now - self.fed_until)
            self.queue.push(rows, self.fed_until, now)
            self.arrived += rows
        self.fed_until = now

    def work(self, now: float) -> None:
        """Take off what was done since the last look."""
        if now > self.since:
            done = self.speed * (now - self.since)
            self.left -= done
            self.track.busy_s += done / self.model.stretch
        self.since = now

    @property
    def moving(self) -> bool:
        """On its way to another cluster."""
        return self.phase == Phase.MOVING

    @property
    def queue_rows(self) -> float:
        """Arrived and not committed."""
        return self.queue.rows + (self.batch.rows if self.batch else 0.0)


class SimulatedWorld:
    """Deterministic under its seed.

    >>> from weir.controllers.simulator.model import ClusterModel
    >>> count = OperatorModel(name="count", rows_per_s=(100.0,) * 3, cost_s_per_row=(0.004,) * 3,
    ...                       trigger_s=5.0, overhead_s=0.5)
    >>> world = SimulatedWorld(WorldModel(begin=0.0, ends=(5.0, 10.0, 15.0), operators=(count,), focus="a",
    ...                          clusters=(ClusterModel(name="a", executors=1),)))
    >>> for _ in range(3): snapshot = world.step()
    >>> one = snapshot.operators[0]  # 500 rows waited 2.5 s at the median, then 0.5 + 500 x 0.004
    >>> one.batch_rows, one.scheduling_s, one.processing_s, one.latency_s
    (500, 2.5, 2.5, 5.0)
    """

    def __init__(self, model: WorldModel, seed: int = 0) -> None:
        self.model = model
        self.now = model.begin
        self.period = 0
        self.fleets = [ExecutorPool(c) for c in model.clusters]
        self.stations = [SimulatedOperator(o, model.begin) for o in model.operators]
        named = {s.model.name: s for s in self.stations}
        for station in self.stations:
            if station.model.upstream:
                named[station.model.upstream].below.append(station)
        self._chance = Random(f"world {seed}")

    def scale(self, cluster: int, executors: int) -> None:
        """Ask for a number of executors, from now on."""
        self.fleets[cluster].ask(executors, self.now)
        self._share(cluster, self.now)

    def put(self, cluster: int, executors: int) -> None:
        """Set the number of executors that are there."""
        self.fleets[cluster].put(executors)
        self._share(cluster, self.now)

    def step(self) -> Snapshot:
        """One period on."""
        i, end = self.period, self.model.ends[self.period]
        for station in self.stations:
            m = station.model
            station.rate = 0.0 if m.upstream else m.rows_per_s[i]
            station.cost = m.cost_s_per_row[i]
            if m.rows_per_row:
                station.gain = m.rows_per_row[i]
            if m.place and m.place[i] != station.cluster:
                self._place(station, m.place[i])
        self._run(end)
        length_s = end - self.now
        self.now, self.period = end, i + 1
        for station in self.stations:
            station.feed(end)
            station.work(end)
        return snapshot_of(self, length_s)

    # -- events

    def _run(self, until: float) -> None:
        stations, fleets = self.stations, self.fleets
        while True:
            station = min(stations, key=_next_at) if len(stations) > 1 else stations[0]
            at = station.at
            changing = min(f.next_at for f in fleets) if len(fleets) > 1 else fleets[0].next_at
            if changing <= at:
                if changing >= until:
                    return
                for number, fleet in enumerate(fleets):
                    if fleet.next_at <= changing:
                        fleet.pass_time(changing)
                        self._share(number, changing)
            elif at >= until:
                return
            elif station.phase == Phase.WAITING:
                self._trigger(station, at)
            elif station.phase == Phase.PLANNING:
                station.phase, station.since = Phase.WORKING, at
                self._share(station.cluster, at)
            elif station.phase == Phase.WORKING:
                self._commit(station, at)
            else:  # it has arrived where it moved to
                station.phase = Phase.WAITING

    def _trigger(self, station: SimulatedOperator, now: float) -> None:
        m = station.model
        station.feed(now)
        batch = station.queue.take(m.max_rows)
        if batch is None:
            station.at = _boundary(now, m.trigger_s) if m.trigger_s else now + _POLL_S
            return
        factor = exp(self._chance.gauss(0.0, m.jitter)) if m.jitter else 1.0
        station.batch, station.began_at = batch, now
        station.left = (m.batch_work_s + batch.rows * station.cost) * m.stretch * factor
        station.phase, station.at = Phase.PLANNING, now + m.overhead_s * factor

    def _commit(self, station: SimulatedOperator, now: float) -> None:
        batch, m = station.batch, station.model
        assert batch is not None
        station.work(now)
        station.batch, station.left, station.speed = None, 0.0, 0.0
        station.committed += batch.rows
        station.track.commit(batch, station.began_at, now, station.cost)
        for below in station.below:
            rows = batch.rows * below.gain
            below.queue.push(rows, batch.first_at, batch.last_at)
            below.arrived += rows
        here = station.cluster
        place = m.place[self.period] if m.place else here
        if place != here:
            self._leave(station, place, now)
        else:
            station.phase = Phase.WAITING
            # Spark triggers at whole multiples of the interval, and at once if it is late.
            due = _boundary(station.began_at, m.trigger_s) if m.trigger_s else now
            station.at = max(now, due)
        self._share(here, now)

    def _place(self, station: SimulatedOperator, place: int) -> None:
        """A move: at once where no batch is in work, else at its end."""
        if station.batch is None:
            self._leave(station, place, self.now)

    def _leave(self, station: SimulatedOperator, place: int, now: float) -> None:
        station.cluster = place
        station.phase = Phase.AWAY if place == NOWHERE else Phase.MOVING
        station.at = inf if place == NOWHERE else now + self.model.move_pause_s

    def _share(self, cluster: int, now: float) -> None:
        """Share the cores among the batches at work in a cluster."""
        busy = [s for s in self.stations if s.phase == Phase.WORKING and s.cluster == cluster]
        if not busy:
            return
        each = self.fleets[cluster].cores / len(busy)
        for station in busy:
            station.work(now)
            station.speed = usable_cores(each, station.model.parallelism)
            if station.left <= 1e-12:
                station.at = now
            else:
                station.at = now + station.left / station.speed if station.speed else inf


def _next_at(station: SimulatedOperator) -> float:
    return station.at


def _boundary(at: float, interval_s: float) -> float:
    """The next whole multiple of the interval after a moment."""
    return (floor(at / interval_s + 1e-9) + 1.0) * interval_s
