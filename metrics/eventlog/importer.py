"""One log in, runs and summaries out."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from os import PathLike
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import InvalidInput, Unavailable, WeirError
from weir.metrics.eventlog.locate import Log
from weir.metrics.eventlog.parser import Parser, UnreadableLine
from weir.metrics.eventlog.reader import Allowance, LogReader
from weir.metrics.eventlog.run import PERIOD_S, SampleBuilder
from weir.metrics.eventlog.summary import OPENING, LogSummary, Tally
from weir.metrics.eventlog.tables import RunWriter, ThereIsMore, run_id

_TRIED_LINES = 1000


class NotAnEventLog(InvalidInput):
    """A file that holds no event of Spark."""


class Imported(Struct, frozen=True, kw_only=True):
    """What has become of one application attempt."""

    log: str
    summary: LogSummary
    run: str | None = None  # folder of the run; None if none was wanted, or a fuller one stays
    faults: tuple[UnreadableLine, ...] = ()
    notes: tuple[str, ...] = ()


def is_passed_over(log: Log, error: WeirError) -> bool:
    """Whether it is no problem: a file that nobody named, and no event log."""
    return isinstance(error, NotAnEventLog) and not log.asked_for


def none_among(files: int) -> NotAnEventLog:
    """What is said where every file was skipped."""
    return NotAnEventLog(f"no event log among the {files} files there")


def import_log(
    log: Log,
    runs_dir: str | PathLike[str] | None = None,
    *,
    period_s: float = PERIOD_S,
    on_bytes: Callable[[int], None] = lambda _: None,
    allowance: Allowance | None = None,
) -> Generator[Imported, None, None]:
    """Read a log and give each application attempt when it is complete on disk."""
    try:
        yield from _attempts(LogReader(log, on_bytes, allowance), runs_dir, period_s)
    except OSError as error:  # the reader's own are sentences already
        raise Unavailable(
            f"no run can be written to {runs_dir}: {error.strerror or error}"
        ) from None


def _attempts(
    reader: LogReader, runs_dir: str | PathLike[str] | None, period_s: float
) -> Generator[Imported, None, None]:
    log, parser = reader.log, Parser()
    attempt = None
    with ExitStack() as stack:
        for line in reader:
            if len(line) < 3 and not line.strip():
                continue
            event = parser.parse(line, reader.part, reader.line)
            if event is None:
                if not parser.events and parser.lines >= _TRIED_LINES:
                    break
                continue
            if (
                attempt is not None
                and type(event) in OPENING
                and attempt.tally.begins_another(event)
            ):
                yield attempt.done(log, parser, reader, before=1)
                attempt = None
            if attempt is None:
                attempt = stack.enter_context(_Attempt(runs_dir, period_s))
            attempt.add(event)
        if attempt is None and parser.events:
            attempt = stack.enter_context(_Attempt(runs_dir, period_s))
        if attempt is None:
            why = f" ({reader.notes[0]})" if reader.notes else ""
            raise NotAnEventLog(f"{log.name} is not a Spark event log: no event in it{why}")
        yield attempt.done(log, parser, reader)


class _Attempt(ExitStack):
    """One application attempt while it is read; leaves nothing behind unless done."""

    def __init__(self, runs_dir: str | PathLike[str] | None, period_s: float) -> None:
        super().__init__()
        self.tally = Tally()
        self._builder = SampleBuilder(period_s)
        self._writer = self.enter_context(RunWriter(runs_dir)) if runs_dir is not None else None
        self._events = 0

    def add(self, event: Struct) -> None:
        self.tally.add(event)
        if self._writer is None:
            return
        self._builder.add(event)
        self._events += 1
        if not self._events % 64:  # closing periods is cheap, but not free
            for sample in self._builder.ripe():
                self._writer.add(sample)

    def done(self, log: Log, parser: Parser, reader: LogReader, before: int = 0) -> Imported:
        """Close the attempt; `before`: lines at the end that belong to the next one."""
        summary = self.tally.summary
        summary.lines, summary.broken_lines = parser.lines - before, parser.broken
        faults, notes = tuple(parser.faults), tuple(reader.notes)
        parser.lines, parser.broken, parser.faults = before, 0, []
        reader.notes = []
        run = None
        if self._writer is not None:
            for sample in self._builder.rest():
                self._writer.add(sample)
            meta = meta_of(log, summary, faults, notes) | {"period_s": self._builder.period_s}
            name = name_of(log, summary, self._writer.first_at)
            try:
                run = str(self._writer.commit(name, meta))
            except ThereIsMore as error:
                notes += (str(error),)
        self.close()
        return Imported(log=log.name, summary=summary, run=run, faults=faults, notes=notes)


def name_of(log: Log, summary: LogSummary, first_at: float | None) -> str:
    """The id of the run; of logs that name no application, by their folder and beginning."""
    if summary.app_id:
        return run_id(summary.app_id, summary.attempt)
    begins = msgspec.json.encode((log.folder, summary.name, summary.start, first_at))
    return run_id(f"{log.name}-{sha256(begins).hexdigest()[:8]}", summary.attempt)


def meta_of(
    log: Log, summary: LogSummary, faults: Sequence[UnreadableLine], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """What is kept of a log beside its samples."""
    return {
        "kind": "eventlog",
        "log": log.name,
        "parts": [part.name for part in log.parts],
        "summary": msgspec.to_builtins(summary),
        "faults": msgspec.to_builtins(faults),
        "notes": notes,
    }
