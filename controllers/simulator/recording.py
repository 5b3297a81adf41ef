"""A recorded run as arrays: one row per period of the cluster in question."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.simulator.model import NOWHERE
from weir.controllers.simulator.run import SimulatedSeries

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LEAST_PERIODS = 8
_IDLE = (OperatorStatus.STOPPED, OperatorStatus.FAILED, OperatorStatus.WAITING)
_FIGURES = (
    "arrival_rows_per_s", "processed_rows_per_s", "cost_s_per_row", "queue_rows", "processing_s",
    "latency_s", "batch_id", "batch_at", "batch_rows", "trigger_s", "tasks", "batches", "pause_s",
)  # fmt: skip


@dataclass(frozen=True)
class OperatorSeries:
    """One operator over the run; NaN where a figure was not measured."""

    name: str
    place: Whole  # number of its cluster, or NOWHERE
    cores: Floats  # of the cluster that it is in
    last: OperatorSample
    figures: dict[str, Floats] = field(repr=False)

    def __getitem__(self, figure: str) -> Floats:
        return self.figures[figure]

    @property
    def runs(self) -> NDArray[np.bool_]:
        """The periods in which it runs."""
        return np.asarray(self.place != NOWHERE, dtype=np.bool_)


@dataclass(frozen=True)
class Recording:
    """What happened: clusters by number, operators by name."""

    begin: float
    ends: Floats
    focus: str
    clusters: tuple[Cluster, ...]  # as they were last
    executors: tuple[Whole, ...]  # present, by cluster
    asked: tuple[Whole, ...]  # asked for, by cluster
    operators: tuple[OperatorSeries, ...]

    @property
    def periods(self) -> int:
        return len(self.ends)

    @property
    def focus_number(self) -> int:
        return next(i for i, c in enumerate(self.clusters) if c.name == self.focus)


def read_recording(samples: Sequence[ClusterSample], cluster: str | None = None) -> Recording:
    """Arrays from samples; without a name, the cluster that had most to do is in question."""
    by_cluster: dict[str, list[ClusterSample]] = {}
    for sample in sorted(samples, key=lambda s: s.at):
        by_cluster.setdefault(sample.cluster.name, []).append(sample)
    if not by_cluster:
        raise InvalidInput("run: it holds no samples", field="run")
    focus = cluster or max(by_cluster, key=lambda n: _work(by_cluster[n]))
    if focus not in by_cluster:
        known = ", ".join(sorted(by_cluster))
        raise InvalidInput(f"cluster: the run has no '{focus}', only {known}", field="cluster")
    grid = by_cluster[focus]
    if len(grid) < LEAST_PERIODS:
        raise InvalidInput(
            f"run: it holds {len(grid)} periods of {focus}, but {LEAST_PERIODS} are needed",
            field="run",
        )
    ends = np.array([s.at for s in grid])
    names = sorted(by_cluster)
    aligned = [_align(by_cluster[name], ends) for name in names]
    operators = _operators(aligned, len(ends))
    if not any(np.isfinite(o["latency_s"]).any() for o in operators):
        raise InvalidInput(
            "run: no streaming query in it has committed a batch, so there is nothing to simulate",
            field="run",
        )
    return Recording(
        begin=grid[0].at - grid[0].period_s,
        ends=ends,
        focus=focus,
        clusters=tuple(by_cluster[name][-1].cluster for name in names),
        executors=tuple(
            _whole([s.cluster.executors if s else None for s in row]) for row in aligned
        ),
        asked=tuple(
            _whole([_executors_asked(s.cluster) if s else None for s in row]) for row in aligned
        ),
        operators=operators,
    )


def recorded_series(recording: Recording) -> SimulatedSeries:
    """What the cluster in question showed, in the form of a simulated series."""
    number = recording.focus_number
    n = recording.periods
    latency, queue, arrivals, load = np.full(n, np.nan), np.zeros(n), np.zeros(n), np.zeros(n)
    for o in recording.operators:
        here = o.place == number
        own = np.where(here, o["latency_s"], np.nan)
        latency = np.fmax(latency, own)
        queue += np.where(here, np.nan_to_num(o["queue_rows"]), 0.0)
        rate = np.where(here, np.nan_to_num(o["arrival_rows_per_s"]), 0.0)
        arrivals += rate
        load += rate * np.nan_to_num(o["cost_s_per_row"])
    cores = recording.executors[number] * recording.clusters[number].cores_per_executor
    return SimulatedSeries(
        time=tuple(recording.ends.tolist()),
        latency_s=tuple(None if np.isnan(v) else float(v) for v in latency),
        queue_rows=tuple(queue.tolist()),
        executors=tuple(recording.executors[number].tolist()),
        load=tuple((load / np.maximum(cores, 1)).tolist()),
        arrivals=tuple(arrivals.tolist()),
    )


def _executors_asked(cluster: Cluster) -> int:
    return cluster.executors_asked


def _work(samples: list[ClusterSample]) -> float:
    return sum((o.busy_cores or o.load) * s.period_s for s in samples for o in s.operators)


def _align(samples: list[ClusterSample], ends: Floats) -> list[ClusterSample | None]:
    """The newest sample at each moment; None before the first and long after the last."""
    times = [s.at for s in samples]
    found: list[ClusterSample | None] = []
    for end in ends:
        i = bisect_right(times, end + samples[0].period_s / 2) - 1
        near = i >= 0 and end - times[i] <= 5 * samples[i].period_s
        found.append(samples[i] if near else None)
    return found


def _operators(aligned: list[list[ClusterSample | None]], n: int) -> tuple[OperatorSeries, ...]:
    places: dict[str, Whole] = {}
    cores: dict[str, Floats] = {}
    figures: dict[str, dict[str, Floats]] = {}
    last: dict[str, OperatorSample] = {}
    for number, row in enumerate(aligned):
        for i, sample in enumerate(row):
            for operator in sample.operators if sample else ():
                name = operator.name
                if operator.status in _IDLE:
                    continue
                if name not in places:
                    places[name] = np.full(n, NOWHERE)
                    cores[name] = np.full(n, np.nan)
                    figures[name] = {key: np.full(n, np.nan) for key in _FIGURES}
                # Two clusters may report it during a move: it is where it runs.
                if places[name][i] != NOWHERE and operator.status is not OperatorStatus.RUNNING:
                    continue
                assert sample is not None
                places[name][i] = number
                cores[name][i] = sample.cluster.capacity
                last[name] = operator
                for key in _FIGURES:
                    value = getattr(operator, key)
                    if value is not None:
                        figures[name][key][i] = value
    return tuple(
        OperatorSeries(name, places[name], cores[name], last[name], figures[name])
        for name in sorted(places)
    )


def _whole(values: Sequence[int | None]) -> Whole:
    """Numbers with gaps filled from before, or from after at the beginning."""
    known = next((v for v in values if v is not None), 0)
    filled = []
    for value in values:
        known = known if value is None else value
        filled.append(known)
    return np.array(filled, dtype=np.int64)


def upstream_of(operators: Sequence[OperatorSeries]) -> dict[str, str]:
    """Operator -> the one other operator that writes the one data set that it reads."""
    writers: Counter[str] = Counter()
    writer: dict[str, str] = {}
    for o in operators:
        for dataset in o.last.writes:
            writers[dataset] += 1
            writer[dataset] = o.name
    found = {}
    for o in operators:
        if len(o.last.reads) == 1 and writers[o.last.reads[0]] == 1:
            source = writer[o.last.reads[0]]
            if source != o.name:
                found[o.name] = source
    return {name: source for name, source in found.items() if not _loops(found, name)}


def _loops(found: dict[str, str], name: str) -> bool:
    seen, at = {name}, found.get(name)
    while at is not None:
        if at in seen:
            return True
        seen.add(at)
        at = found.get(at)
    return False
