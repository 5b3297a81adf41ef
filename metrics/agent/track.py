"""One streaming query from period to period. No clock, no I/O.

Figures that Spark gives per batch are made into figures per period:

- rows processed per second: rows of the batches that were committed, over the time
  from commit to commit, so that batches longer than a period do not show as spikes;
- arrivals: over the last ten seconds at least, because operators upstream hand their
  rows over in batches;
- cost per row: task run time over rows, across the last few batches, because tasks
  end in one period and their batch may be committed in the next. The first batch of a
  run is left out: it pays for starting workers, not for rows;
- load: arrivals x cost per row. As long as the cost is not known it is the busy cores.
"""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import BATCHES_MOST, Batch, OperatorStatus
from weir.metrics.agent.listener import Progress, TaskWork
from weir.metrics.waiting import wait_s

OBSERVATION = "weir"  # name of the observation that carries event times
_COST_BATCHES = 6
_ARRIVAL_S = 10.0


class Backlog(Struct, frozen=True):
    """What an operator's inputs hold; totals since they began."""

    appended_rows: int
    appended_bytes: int
    committed_rows: int = 0
    by_group: tuple[int, ...] = ()  # rows appended to each key group of a slice


class OperatorFacts(Struct, frozen=True, kw_only=True):
    """What the host knows about an operator, apart from its measurements."""

    name: str
    query_id: str | None = None
    status: OperatorStatus = OperatorStatus.RUNNING
    message: str = ""
    restarts: int = 0
    lease_token: int | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    trigger_s: float = 0.0
    backlog: Backlog | None = None
    last_commit_at: float | None = None  # of the run before this one, wherever it was
    idle: Progress | None = None  # its newest trigger, if that found nothing to do
    slice_of: str = ""
    key_groups: tuple[int, ...] = ()
    weight: int | None = None
    first_cores: int | None = None
    unsliced: str = ""


class QueryTrack:
    """One query across periods."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        self.run_before: str | None = None
        self.first_at: float | None = None  # commit of the run's first batch
        self.triggered_at: float | None = None  # the run's last trigger, with a batch or without
        self.batch: dict[str, Any] = {}  # figures of the last batch
        self.committed = 0  # offset in rows, where the source's offsets are row counts
        self.commits: deque[tuple[float, int, float]] = deque(maxlen=_COST_BATCHES + 1)
        self.rows_total = 0
        self.run_s_total = 0.0
        self.period_rows = 0
        self.period_batches = 0
        self.batches: deque[Batch] = deque(maxlen=BATCHES_MOST)  # not handed over yet
        self.rate = 0.0
        self.trigger_s = 0.0
        self.arrivals: deque[tuple[float, int]] = deque()  # (time, rows appended so far)
        self.groups: deque[tuple[float, tuple[int, ...]]] = deque()  # the same, by key group
        self.probed = False  # the host looks at the inputs itself
        self.ends: dict[str, int] = {}  # the same by partition, where its offsets say
        self.latest: int | None = None  # rows appended, as the source reported with a batch

    def begin(self, run_id: str) -> None:
        """A run of the query begins; it has committed nothing yet."""
        if run_id != self.run_id:
            self.run_before, self.run_id = self.run_id, run_id
            self.commits.clear()
            self.first_at = self.triggered_at = None

    def commit(self, progress: Progress) -> None:
        """Take in one trigger, with its batch if it had one."""
        duration_s = progress.duration_ms.get("triggerExecution", 0) / 1000.0
        began = epoch(progress.timestamp)
        at = began + duration_s
        observed = progress.observed_metrics.get(OBSERVATION, {})
        median, first = observed.get("event_p50_s"), observed.get("event_first_s")
        latency_p50_s = None if median is None else max(0.0, at - median)
        has_batch = "addBatch" in progress.duration_ms
        if has_batch:
            self.period_rows += progress.num_input_rows
            self.period_batches += 1
            self.batches.append(
                Batch(
                    operator=progress.name or "",
                    id=progress.batch_id,
                    run_id=progress.run_id,
                    committed_at=at,
                    processing_s=duration_s,
                    rows=progress.num_input_rows,
                    latency_p50_s=latency_p50_s,
                )
            )
        if progress.run_id == self.run_before:  # told only after the next run had begun
            return
        self.begin(progress.run_id)
        ends = [rows_in(s.end_offset) for s in progress.sources]
        if ends and all(e is not None for e in ends):
            self.committed = sum(e or 0 for e in ends)
        latest = [rows_in(s.latest_offset) for s in progress.sources]
        if latest and all(e is not None for e in latest):
            self.latest = sum(e or 0 for e in latest)
            self.ends = rows_by_partition([s.latest_offset for s in progress.sources])
            if not self.probed:
                self._note_arrival(began, self.latest)
        triggered_at, self.triggered_at = self.triggered_at, began
        if not has_batch:
            return  # an idle trigger: there was no batch
        previous = self.commits[-1][0] if self.commits else began
        waited = wait_s(
            self._since_trigger_s(triggered_at, began),
            0 if self.latest is None else self.latest - self.committed,
            self._arrival_rate(),
            None if median is None else max(0.0, began - median),
        )
        self.first_at = self.first_at or at
        self.rows_total += progress.num_input_rows
        self.commits.append((at, self.rows_total, self.run_s_total))
        self.rate = progress.num_input_rows / max(at - previous, duration_s, 1e-3)
        self.batch = {
            "batch_id": progress.batch_id,
            "batch_at": at,
            "batch_rows": progress.num_input_rows,
            "processing_s": duration_s,
            "scheduling_s": waited,
            "latency_p50_s": latency_p50_s,
            "latency_max_s": None if first is None else max(0.0, at - first),
            "stateful": bool(progress.state_operators),
            "state_rows": _total(progress, "num_rows_total"),
            "state_bytes": _total(progress, "memory_used_bytes"),
        }

    def _since_trigger_s(self, triggered_at: float | None, began: float) -> float | None:
        """Time since the trigger before; idle ones are not all told, but come on time."""
        if triggered_at is None:
            return None
        since_s = max(0.0, began - triggered_at)
        longest_s = max(self.trigger_s, self.batch.get("processing_s", 0.0))
        return min(since_s, longest_s) if self.trigger_s else since_s

    def hand_over(self, operator: str) -> list[Batch]:
        """The batches since the last time, under the name that their operator is reported by."""
        found = [replace(b, operator=operator) for b in self.batches]
        self.batches.clear()
        return found

    def _note_arrival(self, at: float, rows: int) -> None:
        self.arrivals.append((at, rows))
        while len(self.arrivals) > 2 and self.arrivals[1][0] <= at - _ARRIVAL_S:
            self.arrivals.popleft()

    def _arrival_rate(self) -> float:
        if len(self.arrivals) < 2:
            return 0.0
        (first, before), (last, now) = self.arrivals[0], self.arrivals[-1]
        return max(0, now - before) / max(last - first, 1e-3)

    def _group_rates(self, fact: OperatorFacts, now: float) -> tuple[float, ...]:
        """Arrivals of each key group, over the same time as the slice's own."""
        rows = fact.backlog.by_group if fact.backlog else ()
        if not rows and self.ends:
            rows = tuple(self.ends.get(str(group), 0) for group in fact.key_groups)
        if not rows:
            return ()
        if self.groups and len(self.groups[-1][1]) != len(rows):
            self.groups.clear()
        self.groups.append((now, rows))
        while len(self.groups) > 2 and self.groups[1][0] <= now - _ARRIVAL_S:
            self.groups.popleft()
        (first, before), (last, _) = self.groups[0], self.groups[-1]
        if last <= first:
            return ()
        return tuple(max(0, b - a) / (last - first) for a, b in zip(before, rows, strict=True))

    def period(
        self, work: TaskWork, fact: OperatorFacts, now: float, period_s: float
    ) -> dict[str, Any]:
        """Figures of the period that just ended."""
        self.trigger_s = fact.trigger_s
        idle = fact.idle if fact.idle and fact.idle.run_id == self.run_id else None
        if idle and self.first_at is None:
            self.commit(idle)  # before the first batch nothing else knows the offsets
        if idle:
            self.triggered_at = max(self.triggered_at or 0.0, epoch(idle.timestamp))
        figures = dict(self.batch)
        figures["idle"] = idle is not None
        if fact.status is not OperatorStatus.RUNNING:
            figures.pop("processing_s", None)
        figures["rows"], figures["batches"] = self.period_rows, self.period_batches
        self.period_rows = self.period_batches = 0
        figures["first_batch_at"] = self.first_at
        if self.first_at is not None and fact.last_commit_at is not None:
            figures["pause_s"] = max(0.0, self.first_at - fact.last_commit_at)
        figures["processed_rows_per_s"] = self._processed_rate(now, fact.status)
        queue, arrival, row_bytes = self._queue(fact.backlog, now)
        cost = self._cost()
        busy = work.busy_ms / 1000.0 / period_s
        figures["arrival_rows_per_s"] = arrival
        figures["queue_rows"] = queue
        figures["group_rows_per_s"] = self._group_rates(fact, now)
        figures["row_bytes"] = row_bytes
        figures["cost_s_per_row"] = cost
        figures["load"] = busy if cost is None else arrival * cost
        return figures

    def _processed_rate(self, now: float, status: OperatorStatus) -> float:
        """The last commit's rate; once the next commit is overdue, what is left of it."""
        if not self.commits or status is not OperatorStatus.RUNNING:
            return 0.0
        at, rows, _ = self.commits[-1]
        before = self.commits[-2] if len(self.commits) > 1 else None
        usual_s = at - before[0] if before else 0.0
        silent_s = now - at
        if silent_s <= max(1.5 * usual_s, 2.0) or usual_s <= 0:
            return self.rate
        return (rows - before[1]) / silent_s if before else 0.0

    def _queue(self, backlog: Backlog | None, now: float) -> tuple[int | None, float, float | None]:
        if backlog is not None:
            if not self.probed:
                self.probed = True
                self.arrivals.clear()
            self._note_arrival(now, backlog.appended_rows)
            done = max(self.committed, backlog.committed_rows)
            size = backlog.appended_bytes / backlog.appended_rows if backlog.appended_rows else None
            return max(0, backlog.appended_rows - done), self._arrival_rate(), size
        if self.latest is not None:
            return max(0, self.latest - self.committed), self._arrival_rate(), None
        return None, self._processed_rate(now, OperatorStatus.RUNNING), None

    def _cost(self) -> float | None:
        # Tasks of the batch under way may count already; over several batches it evens out.
        if len(self.commits) < 2:
            return None
        first, last = self.commits[0], self.commits[-1]
        rows = last[1] - first[1]
        return (last[2] - first[2]) / rows if rows > 0 else None


def rows_in(offset: Any) -> int | None:
    """Rows before an offset, where the offset counts rows by partition (Kafka, our edges).

    >>> rows_in({"topic": {"0": 5, "1": 7}}), rows_in({"0": 3}), rows_in({"logOffset": 3})
    (12, 3, None)
    """
    if not isinstance(offset, dict) or not offset:
        return None
    total = 0
    for key, value in offset.items():
        if isinstance(value, dict):
            inner = rows_in(value)
            if inner is None:
                return None
            total += inner
        elif isinstance(value, int) and key.isdigit():
            total += value
        else:
            return None
    return total


def rows_by_partition(offsets: Sequence[Any]) -> dict[str, int]:
    """Rows before offsets that count them, by shard or partition, over all inputs.

    >>> rows_by_partition([{"topic": {"0": 5, "1": 7}}, {"0": 3}])
    {'0': 8, '1': 7}
    """
    found: dict[str, int] = {}
    for offset in offsets:
        inner = [v for v in offset.values() if isinstance(v, dict)]
        for part in inner or [offset]:
            for name, rows in part.items():
                found[name] = found.get(name, 0) + int(rows)
    return found


def _total(progress: Progress, field: str) -> int | None:
    values: Sequence[int] = [getattr(s, field) for s in progress.state_operators]
    return sum(values) if values else None


def epoch(timestamp: str) -> float:
    """Seconds since the epoch of a time as Spark writes it."""
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
