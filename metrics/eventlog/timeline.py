"""Periods that fill while a log is read, and close once nothing can change them.

A log is nearly in order: a task is written when it ends, a batch when it is
committed. So the periods of the last `lateness_ms` stay open, work is spread over
those in which it was done, and older periods close for ever: memory depends on
the lateness, not on the length of the log.

Times in a log are claims. A time before the oldest open period counts there. A
leap of more than a day is believed once the next time confirms it, and of a
silence longer than an hour only the first and the last period are kept.
"""

from collections.abc import Iterator
from statistics import median

from weir.controllers.model.sample import Batch

_LEAP_MS = 86_400_000
_SILENCE_MS = 3_600_000
_LAST_MS = 4_102_444_800_000  # the year 2100: a time beyond it is damage
_RUNS_KEPT = 256


class LoggedWork:
    """What was done in one period, by an operator or on an executor."""

    __slots__ = (
        "_runs", "batch", "batches", "busy_ms", "committed", "cost_rows", "cost_run_ms", "cpu_ns",
        "failed", "input_rows", "longest_ms", "rows_done", "rows_in", "run_ms", "tasks",
    )  # fmt: skip

    def __init__(self) -> None:
        self.busy_ms = 0.0  # task time within the period
        self.run_ms = 0  # run time of the tasks that ended in it
        self.cpu_ns = 0
        self.tasks = 0
        self.failed = 0
        self.input_rows = 0  # read by tasks from outside
        self.rows_in = 0.0  # arrived, of a streaming query
        self.rows_done = 0.0  # processed, of a streaming query
        self.batches = 0
        self.batch: object = None  # the last one committed
        self.committed: list[Batch] = []  # each of them, in the order that the log tells of them
        self.cost_run_ms = 0.0  # run time and rows of the batches committed
        self.cost_rows = 0
        self.longest_ms = 0
        self._runs: list[int] = []

    def ended(self, run_ms: int, cpu_ns: int, rows: int, failed: bool) -> None:
        """One task has ended."""
        self.tasks += 1
        self.failed += failed
        self.run_ms += run_ms
        self.cpu_ns += cpu_ns
        self.input_rows += rows
        self.longest_ms = max(self.longest_ms, run_ms)
        if len(self._runs) < _RUNS_KEPT:
            self._runs.append(run_ms)
        else:  # an even sample of the rest: Knuth's multiplicative hash as the dice
            slot = (self.tasks * 2654435761 & 0xFFFFFFFF) % self.tasks
            if slot < _RUNS_KEPT:
                self._runs[slot] = run_ms

    @property
    def skew(self) -> float | None:
        """Longest / median run time of the tasks; None where there are too few."""
        middle = median(self._runs) if len(self._runs) > 1 else 0
        return self.longest_ms / middle if middle else None


class Bucket:
    """One period."""

    __slots__ = ("busy_ms", "executors", "failed", "operators")

    def __init__(self) -> None:
        self.busy_ms = 0.0
        self.failed = 0
        self.operators: dict[str, LoggedWork] = {}
        self.executors: dict[str, LoggedWork] = {}

    def operator(self, key: str) -> LoggedWork:
        """The operator's share, made when first asked for."""
        work = self.operators.get(key)
        if work is None:
            work = self.operators[key] = LoggedWork()
        return work

    def executor(self, key: str) -> LoggedWork:
        """The executor's share, made when first asked for."""
        work = self.executors.get(key)
        if work is None:
            work = self.executors[key] = LoggedWork()
        return work

    def busy(self, operator: str, executor: str, ms: float) -> None:
        """Task time spent in this period."""
        self.busy_ms += ms
        self.operator(operator).busy_ms += ms
        self.executor(executor).busy_ms += ms


class LogTimeline:
    """Open periods by number; period n ends at (n + 1) x period.

    >>> timeline = LogTimeline(period_ms=10, lateness_ms=20)
    >>> timeline.saw(5); timeline.saw(44)
    >>> [(bucket is timeline.at(5), share) for bucket, share in timeline.spread(5, 15)]
    [(True, 0.5), (False, 0.5)]
    >>> [number for number, _ in timeline.ripe()]
    [0, 1]
    """

    def __init__(self, period_ms: int, lateness_ms: int) -> None:
        self.period_ms = period_ms
        self.newest_ms: int | None = None
        self._lateness_ms = lateness_ms
        self._floor = 0  # number of the oldest open period
        self._sealed = False
        self._leap_ms: int | None = None
        self._open: dict[int, Bucket] = {}

    def saw(self, at_ms: int) -> None:
        """A moment that the log speaks of."""
        if not 0 < at_ms < _LAST_MS:
            return
        if self.newest_ms is None:
            self.newest_ms, self._floor = at_ms, at_ms // self.period_ms
        elif at_ms <= self.newest_ms:
            number = at_ms // self.period_ms
            near = self._floor - number <= self._lateness_ms // self.period_ms
            if number < self._floor and near and not self._sealed:
                self._floor = number
        elif at_ms - self.newest_ms <= _LEAP_MS:
            self.newest_ms = at_ms
        elif self._leap_ms is not None and abs(at_ms - self._leap_ms) <= _LEAP_MS:
            self.newest_ms, self._leap_ms = at_ms, None
        else:
            self._leap_ms = at_ms

    def at(self, at_ms: int) -> Bucket:
        """The period of this moment, or the nearest that is open."""
        return self._bucket(self._number(at_ms))

    def spread(
        self, start_ms: int, end_ms: int, whole: bool = False
    ) -> Iterator[tuple[Bucket, float]]:
        """Open periods between two moments, with the share of the time that each has.

        What lies before the oldest open one is left out, or with `whole` added to it.
        """
        first, last = self._number(start_ms), self._number(end_ms)
        if first >= last:
            yield self._bucket(last), 1.0
            return
        length = end_ms - start_ms
        for number in range(first, last + 1):
            begin = number * self.period_ms
            inside = min(end_ms, begin + self.period_ms) - max(start_ms, begin)
            if whole and number == first:
                inside = begin + self.period_ms - start_ms
            yield self._bucket(number), inside / length

    def ripe(self, silent: bool = False) -> Iterator[tuple[int, Bucket]]:
        """Close and give all periods that are older than the lateness.

        `silent`: nothing is going on that an empty period would have to show.
        """
        if self.newest_ms is not None:
            yield from self._close((self.newest_ms - self._lateness_ms) // self.period_ms, silent)

    def rest(self, silent: bool = False) -> Iterator[tuple[int, Bucket]]:
        """Close and give all periods up to the newest moment."""
        if self.newest_ms is not None:
            yield from self._close(self.newest_ms // self.period_ms + 1, silent)

    def _close(self, end: int, silent: bool) -> Iterator[tuple[int, Bucket]]:
        while self._floor < end:
            number, self._sealed = self._floor, True
            bucket = self._open.pop(number, None)
            self._floor += 1
            yield number, bucket or Bucket()
            if silent and bucket is None and (end - number) * self.period_ms > _SILENCE_MS:
                resumes = min((n for n in self._open if n > number), default=end)
                if (resumes - number) * self.period_ms > _SILENCE_MS:
                    self._floor = min(resumes, end) - 1

    def _number(self, at_ms: int) -> int:
        newest = (self.newest_ms or 0) // self.period_ms
        return max(self._floor, min(at_ms // self.period_ms, newest))

    def _bucket(self, number: int) -> Bucket:
        bucket = self._open.get(number)
        if bucket is None:
            bucket = self._open[number] = Bucket()
        return bucket
