"""What one application attempt did, counted from its events.

Counted as Spark counts: a task that was killed, whose commit was denied, or that
is run again because its output was lost with an executor ("Resubmitted") has not
failed; executors are told apart by their id, because a decommissioned one is
reported as removed twice.
"""

from datetime import UTC, datetime

from msgspec import Struct

from weir.metrics.eventlog import events as e

NOT_FAILED = frozenset({"Success", "Resubmitted", "TaskKilled", "TaskCommitDenied"})

OPENING = frozenset({e.LogStart, e.ApplicationStart})
"""Events with which an attempt can begin."""


class LogSummary(Struct, kw_only=True):
    """One application attempt, as `import --json` prints it. Times are ISO 8601 in UTC."""

    app_id: str | None = None
    attempt: str | None = None
    name: str | None = None
    spark_version: str | None = None
    start: str | None = None
    end: str | None = None
    complete: bool = False
    lines: int = 0
    broken_lines: int = 0
    tasks_ended: int = 0
    tasks_failed: int = 0
    executors_added: int = 0
    executors_removed: int = 0
    executors_peak: int = 0
    executor_run_time_ms: int = 0
    queries: int = 0
    progress_events: int = 0
    input_rows: int = 0


class Tally:
    """Folds events into a `LogSummary`.

    >>> tally = Tally()
    >>> tally.add(e.ExecutorRemoved(id="1")); tally.add(e.ExecutorRemoved(id="1"))
    >>> tally.summary.executors_removed
    1
    """

    def __init__(self) -> None:
        self.summary = LogSummary()
        self._added: set[str] = set()
        self._removed: set[str] = set()
        self._present: set[str] = set()
        self._queries: set[str] = set()

    def begins_another(self, event: Struct) -> bool:
        """Whether this event opens a further attempt in the same log."""
        known = self.summary
        if isinstance(event, e.LogStart):
            return known.complete
        return (
            isinstance(event, e.ApplicationStart)
            and known.start is not None
            and (event.id, event.attempt) != (known.app_id, known.attempt)
        )

    def add(self, event: Struct) -> None:
        """Count one event."""
        summary = self.summary
        match event:
            case e.TaskEnd(reason=e.EndReason(reason=reason), metrics=metrics):
                summary.tasks_ended += 1
                summary.tasks_failed += reason not in NOT_FAILED
                if metrics is not None and reason != "Resubmitted":
                    # A resubmitted task repeats the figures of its first end.
                    summary.executor_run_time_ms += metrics.run_ms
            case e.QueryProgress(progress=progress):
                summary.progress_events += 1
                summary.input_rows += progress.rows
                self._saw_query(progress.id)
            case e.QueryStarted(id=query):
                self._saw_query(query)
            case e.ExecutorAdded(id=executor):
                self._added.add(executor)
                self._present.add(executor)
                summary.executors_added = len(self._added)
                summary.executors_peak = max(summary.executors_peak, len(self._present))
            case e.ExecutorRemoved(id=executor):
                self._removed.add(executor)
                self._present.discard(executor)
                summary.executors_removed = len(self._removed)
            case e.LogStart(version=version):
                summary.spark_version = version or summary.spark_version
            case e.ApplicationStart():
                summary.app_id, summary.attempt = event.id, event.attempt
                summary.name, summary.start = event.name, iso(event.at_ms)
            case e.ApplicationEnd(at_ms=at_ms):
                summary.end, summary.complete = iso(at_ms), True

    def _saw_query(self, query: str) -> None:
        self._queries.add(query)
        self.summary.queries = len(self._queries)


def iso(at_ms: int) -> str | None:
    """Milliseconds since the epoch as text; None for a time that no calendar has.

    >>> iso(1596020210919)
    '2020-07-29T10:56:50.919Z'
    """
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at_ms(text: str | None) -> int | None:
    """The reverse of `iso`.

    >>> at_ms("2020-07-29T10:56:50.919Z")
    1596020210919
    """
    try:
        return round(datetime.fromisoformat(text or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
