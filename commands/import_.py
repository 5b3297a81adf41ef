"""`weir import PATH...`: event logs become runs."""

import sys
from collections.abc import Sequence
from contextlib import closing

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TransferSpeedColumn,
)

from weir.controllers.model.errors import WeirError
from weir.metrics.eventlog.importer import Imported, import_log, is_passed_over, none_among
from weir.metrics.eventlog.locate import Log, locate
from weir.metrics.eventlog.spark_job import import_with_spark

BAD_INPUT = 2
INTERRUPTED = 130


def run(
    paths: Sequence[str],
    as_json: bool = False,
    runs_dir: str | None = None,
    spark_master: str | None = None,
) -> int:
    """Import every log at these paths; `runs_dir` None only counts and writes no run.

    Good logs are imported even where others are bad. A file that is merely found in
    a folder and is no event log is skipped; one that was named is an error.
    """
    report = _Report(as_json)
    try:
        logs: list[Log] = []
        for path in paths:
            try:
                logs += locate(path)
            except WeirError as error:
                report.failed(error)
        if spark_master is None:
            _here(logs, runs_dir, report)
        elif logs:
            _on_spark(logs, runs_dir, spark_master, report)
    except WeirError as error:
        report.failed(error)
    except KeyboardInterrupt:
        report.say("interrupted: nothing is left half-written")
        return INTERRUPTED
    return report.end()


def _here(logs: Sequence[Log], runs_dir: str | None, report: "_Report") -> None:
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=report.console,
        transient=True,
        disable=not report.console.is_terminal,
    ) as bar:
        task = bar.add_task("import", total=sum(log.size_bytes for log in logs))
        for log in logs:
            bar.update(task, description=log.name[:40])
            try:
                found = import_log(log, runs_dir, on_bytes=lambda n: bar.advance(task, n))
                with closing(found) as attempts:
                    for imported in attempts:
                        report.imported(imported)
            except WeirError as error:
                report.outcome(log, (), error)


def _on_spark(logs: Sequence[Log], runs_dir: str | None, master: str, report: "_Report") -> None:
    with Progress(
        TextColumn("import on {task.fields[master]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("logs"),
        console=report.console,
        transient=True,
        disable=not report.console.is_terminal,
    ) as bar:
        task = bar.add_task("import", total=len(logs), master=master)
        outcomes = import_with_spark(
            logs, runs_dir, master, on_done=lambda n: bar.update(task, completed=n)
        )
    for outcome in outcomes:
        report.outcome(*outcome)


class _Report:
    """Summaries to stdout, everything else to stderr."""

    def __init__(self, as_json: bool) -> None:
        self.console = Console(stderr=True)
        self._json = as_json
        self._done = 0
        self._passed_over = 0
        self._failed = False

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def failed(self, error: WeirError) -> None:
        self._failed = True
        self.say(f"import: {error}")

    def outcome(self, log: Log, done: Sequence[Imported], error: WeirError | None) -> None:
        for imported in done:
            self.imported(imported)
        if error is not None and is_passed_over(log, error):
            self._passed_over += 1
        elif error is not None:
            self.failed(error)

    def imported(self, imported: Imported) -> None:
        self._done += 1
        text = msgspec.json.encode(imported.summary).decode() if self._json else line(imported)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        for note in imported.notes:
            self.say(f"{imported.log}: {note}")
        if imported.faults:
            count, named = imported.summary.broken_lines, len(imported.faults)
            first = f"; the first {named}" if named < count else ""
            self.say(
                f"{imported.log}: {count} broken line{'' if count == 1 else 's'} skipped{first}:"
            )
            for fault in imported.faults:
                self.say(f"  {fault.words}")

    def end(self) -> int:
        if self._passed_over and self._done:
            count = self._passed_over
            self.say(f"passed over as no event log: {count} file{'' if count == 1 else 's'}")
        elif self._passed_over:
            self.failed(none_among(self._passed_over))
        return BAD_INPUT if self._failed else 0


def line(imported: Imported) -> str:
    """One application attempt in one line."""
    s = imported.summary
    attempt = f" attempt {s.attempt}" if s.attempt else ""
    figures = (
        f"{s.tasks_ended} tasks, {s.tasks_failed} failed, {s.executors_peak} executors at most"
    )
    if s.queries:
        figures += f", {s.queries} streaming queries, {s.input_rows} rows"
    end = "" if s.complete else ", not ended"
    where = f" -> {imported.run}" if imported.run else ""
    return f"{s.app_id or imported.log}{attempt} ({s.name or 'no name'}): {figures}{end}{where}"
