"""`weir record`: the process that records live runs; `weir runs`: those that there are."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.commands.terminal import cell, say
from weir.metrics.store.where import DEFAULT_REDIS, REDIS_URL

if TYPE_CHECKING:
    from weir.metrics.runs.library import RunInfo

runs_app = typer.Typer(invoke_without_command=True, help="List, show and delete runs.")

Folder = Annotated[Path, typer.Option("--runs", help="Folder of the runs")]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of a table")]
OwnFolder = Annotated[
    Path | None, typer.Option("--runs", help="Folder of the runs", show_default="runs")
]
RunId = Annotated[str, typer.Argument(help="Id of the run", metavar="RUN")]


def record(
    redis: Annotated[
        str, typer.Option("--redis", envvar=REDIS_URL, help="URL of Redis or Valkey, 6.2 or later")
    ] = DEFAULT_REDIS,
    runs: Annotated[Path, typer.Option(help="Folder that the runs are written to")] = Path("runs"),
) -> None:
    """Record every live run to Parquet; it only reads, and goes on where it stopped."""
    from weir.metrics.process_memory import one_heap
    from weir.metrics.runs.recorder import Recorder
    from weir.metrics.store.redis_store import RedisStore

    one_heap()
    recorder = Recorder(RedisStore.at(redis), runs)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: recorder.stop())
    recorder.run()


@runs_app.callback()
def listed(context: typer.Context, runs: Folder = Path("runs"), json: Json = False) -> None:
    """List the runs, recorded and imported, newest first."""
    context.obj = runs
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    from weir.metrics.runs.library import list_runs

    found = list_runs(runs)
    if json:
        _print([as_plain(info) for info in found])
        return
    if not found:
        print(f"There are no runs in {runs}.")
        return
    table = Table()
    for number, head in enumerate(("run", "kind", "start (UTC)", "length", "clusters", "size")):
        table.add_column(head, justify="right" if number in (3, 5) else "left", overflow="fold")
    for info in found:
        words = as_words(info)
        table.add_row(
            *(cell(words[k]) for k in ("run", "kind", "start", "length", "clusters", "size"))
        )
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width: nothing is to be cut off there
        console = Console(width=160)
    console.print(table)


@runs_app.command()
def show(context: typer.Context, run: RunId, runs: OwnFolder = None, json: Json = False) -> None:
    """Show one run: what it holds, and how it was set."""
    from weir.metrics.runs.library import broken_lines, run_folder, run_info
    from weir.metrics.runs.settings import SettingsLog, change_words

    folder = run_folder(runs or context.obj, run)
    info, log, broken = run_info(folder), SettingsLog.of_run(folder), broken_lines(folder)
    if json:
        changes = [{"at": c.at, "group": c.group, "values": c.values} for c in log.changes]
        faults = [{"part": f.part, "line": f.line, "reason": f.reason} for f in broken]
        _print({**as_plain(info), "settings": changes if changes else None, "faults": faults})
        return
    for name, words in as_words(info).items():
        say(f"{name + ':':12}{words}")
    for fault in broken:
        say(f"{'broken:':12}{fault.words}")
    if not log.changes:
        print("settings:   not recorded")
    for change in log.changes:
        began = "from the start" if change.first else f"after {change.at - info.first_at:.0f} s"
        say(f"{'settings:':12}{began}: {change_words(change)}")


@runs_app.command()
def delete(
    context: typer.Context,
    run: RunId,
    runs: OwnFolder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
) -> None:
    """Delete a run; asks first."""
    from weir.metrics.runs.library import delete_run, run_folder, run_info

    root = runs or context.obj
    words = as_words(run_info(run_folder(root, run)))
    asked = f"Delete {run} ({words['length']} from {words['start']}, {words['size']})?"
    if not yes and not typer.confirm(asked):
        print("Nothing was deleted.")
        raise typer.Exit(1)
    delete_run(root, run, time.time())
    print(f"{run} is deleted.")


def as_plain(info: RunInfo) -> dict[str, Any]:
    """A run as JSON."""
    import msgspec

    return {**msgspec.to_builtins(info), "duration_s": info.duration_s}


def as_words(info: RunInfo) -> dict[str, str]:
    """A run for people."""
    from datetime import UTC, datetime

    minutes, seconds = divmod(round(info.duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return {
        "run": info.id,
        "kind": info.kind + ("" if info.complete else ", not complete"),
        "name": info.name,
        "start": f"{datetime.fromtimestamp(info.first_at, UTC):%Y-%m-%d %H:%M:%S}",
        "length": f"{hours}:{minutes:02}:{seconds:02}",
        "clusters": ", ".join(info.clusters),
        "operators": ", ".join(info.operators),
        "samples": f"{info.samples:,} every {info.period_s:g} s",
        "batches": f"{info.batches:,}" if info.batches else "none recorded",
        "size": f"{info.size_bytes / 1e6:.1f} MB",
    } | ({"note": info.note} if info.note else {})


def _print(plain: object) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(plain), indent=2).decode())
