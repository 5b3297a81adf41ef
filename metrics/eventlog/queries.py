"""A streaming query as the log tells of it: its progress events, one per batch."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.model.sample import BATCHES_MOST, Batch
from weir.metrics.eventlog.events import LoggedProgress, LoggedSource
from weir.metrics.eventlog.summary import at_ms
from weir.metrics.eventlog.timeline import LogTimeline
from weir.metrics.waiting import wait_s

_BRACKETS = re.compile(r"^(\w+)\[(?:Subscribe(?:Pattern)?\[)?(.*?)\]+$")
_OBJECT = re.compile(r"@[0-9a-f]+$")
_NO_DATASET = re.compile(r"(?i)console|memory|noop|foreach|ConsoleTable|NullSink")
OBSERVATION = "weir"  # name of the observation that carries event times


class LastBatch(Struct, frozen=True, kw_only=True):
    """The figures of the batch that an operator shows in a period."""

    id: int
    at_s: float
    rows: int
    processing_s: float
    scheduling_s: float
    latency_p50_s: float | None
    latency_max_s: float | None
    queue_rows: int | None
    state_rows: int | None
    state_bytes: int | None


class LoggedQuery:
    """What is known about one streaming query while its log is read."""

    def __init__(self, id: str, name: str, started_ms: int) -> None:
        self.id, self.name, self.started_ms = id, name, started_ms
        self.run = ""
        self.ended_ms: int | None = None
        self.exception: str | None = None
        self.restarts = 0
        self.stateful = False
        self.reads: tuple[str, ...] = ()
        self.writes: tuple[str, ...] = ()
        self.batch: LastBatch | None = None  # as of the last period that closed
        self.cost_s_per_row: float | None = None  # likewise
        self.run_since_ms = 0  # run time of tasks since the last commit
        self._triggered_ms: int | None = None
        self._committed_ms: int | None = None
        self._queue_rows: int | None = None

    def begins(self, run: str) -> None:
        """A run of the query starts; every further one is a restart."""
        if self.run and run != self.run:
            self.restarts += 1
        self.run = run
        self.ended_ms = self.exception = None
        self._triggered_ms = self._committed_ms = None

    def ends(self, at: int, exception: str | None) -> None:
        """The run has ended, by itself or by an exception."""
        self.ended_ms, self.exception = at, exception

    def note_progress(self, progress: LoggedProgress, timeline: LogTimeline) -> None:
        """Enter a batch into the periods in which its rows came and were processed.

        Rows arrived between the trigger before and this one, and count as processed
        between the commit before and this one: a batch that takes a moment once a
        minute is a steady flow, not a spike.
        """
        start = at_ms(progress.timestamp) or timeline.newest_ms or 0
        took = max(0, progress.durations.trigger_ms)
        end = start + took
        timeline.saw(end)
        self.run = progress.run or self.run
        self.stateful = self.stateful or bool(progress.states)
        self.reads = tuple(
            sorted({d for s in progress.sources or () if (d := dataset(s.description))})
        )
        self.writes = (written,) if (written := _sink(progress)) else ()

        triggered = start - took if self._triggered_ms is None else self._triggered_ms
        committed = start if self._committed_ms is None else self._committed_ms
        self.started_ms = min(self.started_ms, triggered, start)  # where its start is not told
        rows, queue = progress.rows, behind_rows(progress.sources or [])
        came = float(rows)
        if queue is not None and self._queue_rows is not None:
            came = max(0.0, rows + queue - self._queue_rows)
        for bucket, share in timeline.spread(min(triggered, start), start, whole=True):
            bucket.operator(self.id).rows_in += came * share
        for bucket, share in timeline.spread(min(committed, end), end, whole=True):
            bucket.operator(self.id).rows_done += rows * share
        if rows or progress.durations.add_batch_ms is not None:  # else an idle trigger
            work = timeline.at(end).operator(self.id)
            work.batches += 1
            work.cost_run_ms += self.run_since_ms
            work.cost_rows += rows
            known = self._triggered_ms is not None
            since_s = max(0, start - triggered) / 1000
            last = _batch(
                progress, start, end, queue, since_s if known else None, came / max(since_s, 1e-3)
            )
            work.batch = last
            work.committed.append(
                Batch(
                    operator=self.name,
                    id=last.id,
                    run_id=self.run or None,
                    committed_at=last.at_s,
                    processing_s=last.processing_s,
                    rows=last.rows,
                    latency_p50_s=last.latency_p50_s,
                )
            )
            del work.committed[:-BATCHES_MOST]
            self.run_since_ms = 0
        self._triggered_ms, self._committed_ms, self._queue_rows = start, end, queue


def _batch(
    progress: LoggedProgress,
    start: int,
    end: int,
    queue: int | None,
    since_trigger_s: float | None,
    arrival_rows_per_s: float,
) -> LastBatch:
    states = progress.states or []
    seen = (progress.observed or {}).get(OBSERVATION)
    seen = seen if isinstance(seen, dict) else {}
    median, first = _number(seen.get("event_p50_s")), _number(seen.get("event_first_s"))
    return LastBatch(
        id=progress.batch,
        at_s=end / 1000,
        rows=progress.rows,
        processing_s=(end - start) / 1000,
        scheduling_s=wait_s(
            since_trigger_s,
            queue or 0,
            arrival_rows_per_s,
            None if median is None else max(0.0, start / 1000 - median),
        ),
        latency_p50_s=None if median is None else max(0.0, end / 1000 - median),
        latency_max_s=None if first is None else max(0.0, end / 1000 - first),
        queue_rows=queue,
        state_rows=sum(s.rows for s in states) if states else None,
        state_bytes=sum(s.bytes for s in states) if states else None,
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def dataset(description: str | None) -> str:
    """The name of the data set in a source's or sink's description.

    >>> dataset("KafkaV2[Subscribe[tweets]]"), dataset("FileStreamSource[file:/in]")
    ('tweets', 'file:/in')
    >>> dataset("org.apache.spark.sql.execution.streaming.ConsoleTable$@514ba885")
    'org.apache.spark.sql.execution.streaming.ConsoleTable$'
    """
    text = _OBJECT.sub("", (description or "").strip())
    match = _BRACKETS.match(text)
    return match[2] if match else text


def behind_rows(sources: list[LoggedSource]) -> int | None:
    """Rows that the sources hold beyond the end of the batch; None if they do not say.

    >>> behind_rows([LoggedSource(end_offset='{"t":{"0":5,"1":7}}', latest_offset='{"t":{"0":9,"1":7}}')])
    4
    """
    total = None
    for source in sources:
        end, latest = _rows_before(source.end_offset), _rows_before(source.latest_offset)
        if end is not None and latest is not None:
            total = (total or 0) + max(0, latest - end)
    return total


def _rows_before(offset: Any) -> int | None:
    """The sum of an offset that counts rows by partition; None for files, versions and times.

    >>> _rows_before({"topic": {"0": 5, "1": 7}}), _rows_before('{"0":3}')
    (12, 3)
    >>> _rows_before({"logOffset": 3})
    """
    if isinstance(offset, str):
        try:
            offset = msgspec.json.decode(offset)
        except (msgspec.MsgspecError, RecursionError):
            return None
    if not isinstance(offset, dict) or not offset:
        return None
    total = 0
    for key, value in offset.items():
        inner = _rows_before(value) if isinstance(value, dict) else None
        if isinstance(value, int) and abs(value) < 2**53 and key.isdigit():
            inner = value
        if inner is None:
            return None
        total += inner
    return total


def _sink(progress: LoggedProgress) -> str:
    description = progress.sink.description if progress.sink else None
    return "" if _NO_DATASET.search(description or "") else dataset(description)
