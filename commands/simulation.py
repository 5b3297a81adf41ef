"""What `what-if` and `tune` share: their input, its options, and more than one process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from weir.controllers.simulator import Calibrated, Trace, WhatIf

BAD_INPUT, INTERRUPTED = 2, 130
TRACE_TARGET_S, RUN_TARGET_S = 30.0, 5.0

# Text, not numbers: what is wrong with one is said in one sentence, by the settings.
Text = str | None

Run = Annotated[Text, typer.Argument(help="Folder of a run, or its id", metavar="[RUN]")]
TraceFile = Annotated[
    Text, typer.Option(help="CSV instead of a run: time or timestamp, and a rate; also gzipped")
]
Column = Annotated[Text, typer.Option(help="Column of the trace that holds the rate")]
ClusterName = Annotated[Text, typer.Option(help="Cluster of the run; the busiest one if not given")]
Runs = Annotated[Path, typer.Option(help="Folder of the runs")]
Cost = Annotated[Text, typer.Option(help="Core seconds of one row of the trace", metavar="S")]
Fewest = Annotated[Text, typer.Option("--min", help="Fewest executors", metavar="N")]
Most = Annotated[Text, typer.Option("--max", help="Most executors", metavar="N")]
Start = Annotated[Text, typer.Option(help="Time until a new executor works", metavar="S")]
Target = Annotated[
    Text, typer.Option(help="Latency to stay below (trace: 30, run: 5)", metavar="S")
]
Period = Annotated[Text, typer.Option(help="Time between decisions on a trace", metavar="S")]
Cores = Annotated[Text, typer.Option(help="Cores of an executor", metavar="N")]
Executors = Annotated[Text, typer.Option(help="Executors at the start of a trace", metavar="N")]
Trigger = Annotated[Text, typer.Option(help="Time between batches of a trace", metavar="S")]
Overhead = Annotated[Text, typer.Option(help="Time of a batch without rows", metavar="S")]
MaxRows = Annotated[Text, typer.Option(help="Most rows in a batch of a trace", metavar="N")]
Seed = Annotated[int, typer.Option(help="Seed of all that is left to chance")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="A setting, key=value")]
SaveTable = Annotated[
    Path | None, typer.Option(help="Write the learned Q-table here, to be taken live")
]

_OPTIONS = {  # field of a scenario: its option
    "cost_s_per_row": "--cost-per-row",
    "min_executors": "--min",
    "max_executors": "--max",
    "executors": "--executors",
    "executor_start_s": "--executor-start",
    "cores_per_executor": "--cores",
    "period_s": "--period",
    "trigger_s": "--trigger",
    "overhead_s": "--overhead",
    "max_rows": "--max-rows",
}
_FOR_RUNS = ("min_executors", "max_executors", "executor_start_s")


def run_guarded(work: Callable[[], object]) -> int:
    """Run a command's work; a problem is one sentence on stderr and exit code 2."""
    from weir.controllers.model.errors import WeirError

    try:
        work()
    except WeirError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def scenario_options(*values: Text) -> dict[str, str]:
    """The options that were given, by the scenario's field; in the order of `_OPTIONS`."""
    return {k: v for k, v in zip(_OPTIONS, values, strict=True) if v is not None}


def load(
    run: Text, trace: Text, column: Text, cluster: Text, given: dict[str, str], runs: Path
) -> Calibrated:
    """The world that a run or a trace describes."""
    from msgspec.structs import replace

    from weir.controllers.simulator import Calibrated, calibrate, world_of
    from weir.metrics.runs.replay import RecordedRun

    if (run is None) == (trace is None):
        raise invalid("give either a RUN or --trace FILE", "run")
    if trace is not None:
        scenario = _scenario(given)
        return Calibrated(world=world_of(_trace(trace, column), scenario))
    folder = _run_folder(str(run), runs)
    for field in given.keys() - set(_FOR_RUNS):
        raise invalid(f"{_OPTIONS[field]} is for a trace; a run has its own", field)
    recorded = RecordedRun(folder)
    samples, since = recorded.last_samples()
    if since > recorded.info.first_at:
        hours = (recorded.info.last_at - since) / 3600
        _say(f"run: it is long, so only its last {hours:.1f} hours are used")
    calibrated = calibrate(samples, cluster, recorded.settings.policy)
    if not given:
        return calibrated
    world = calibrated.world
    checked = _scenario(
        {
            "min_executors": str(world.cluster.min_executors),
            "max_executors": str(max(world.cluster.max_executors, 1)),
            **given,
        }
    )
    changed = replace(world.cluster, **{k: getattr(checked, k) for k in given})
    clusters = tuple(changed if c.name == world.focus else c for c in world.clusters)
    return replace(calibrated, world=replace(world, clusters=clusters))


def target_of(text: Text, trace: Text) -> float:
    """The latency to stay below."""
    from math import isfinite

    if text is None:
        return RUN_TARGET_S if trace is None else TRACE_TARGET_S
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (isfinite(value) and value > 0.0):
        raise invalid(f"--target-latency must be seconds above 0, not '{text}'", "target_latency")
    return value


def check_seed(seed: int) -> None:
    """Refuse a seed that not every random generator here accepts."""
    if not 0 <= seed < 2**31:
        raise invalid(f"--seed must be 0 to {2**31 - 1}, not {seed}", "seed")


def check_file(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work that it is for."""
    if path is None:
        return
    there = path.exists()
    try:
        path.open("ab").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise _cannot_write(option, path, error) from None


def check_table(path: Path | None, scaler: str) -> None:
    """Refuse to save the table of a scaler that learns none, or where it cannot be written."""
    from weir.controllers.scaling.registry import scalers

    if path is None:
        return
    known = scalers().get(scaler)
    if known is not None and "table" not in known.memory_type.__struct_fields__:
        raise invalid(f"--save-table: {scaler} learns no table", "save_table")
    check_file("--save-table", path)


def pairs(items: list[str]) -> dict[str, Any]:
    """Settings from key=value."""
    for item in items:
        if "=" not in item:
            raise invalid(f"--set: '{item}' is not of the form key=value", "set")
    return dict(item.split("=", 1) for item in items)


def write_table(path: Path, found: WhatIf) -> None:
    """The Q-table that a simulation has learned."""
    import msgspec

    from weir.controllers.scaling.qlearning.table import export_table

    table = getattr(found.memory, "table", None)
    if table is None:
        raise invalid(f"--save-table: {found.summary.scaler} learns no table", "save_table")
    try:
        path.write_bytes(msgspec.json.encode(export_table(table)))
    except OSError as error:
        raise _cannot_write("--save-table", path, error) from None


class workers:
    """A pool of processes, or None where one process is enough; ends with its block."""

    def __init__(self, wanted: bool = True, count: int | None = None) -> None:
        self._wanted, self._count = wanted, count
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> ProcessPoolExecutor | None:
        import os
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        count = self._count or os.cpu_count() or 1
        if self._wanted and count > 1:
            # Fresh processes: the progress bar runs in a thread, which a fork would tear.
            self._pool = ProcessPoolExecutor(
                count, mp_context=get_context("spawn"), initializer=_begin
            )
        return self._pool

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """A worker leaves Ctrl-C to the process that started it, and ends when that one does."""
    import os
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def invalid(text: str, field: str) -> Exception:
    from weir.controllers.model.errors import InvalidInput

    return InvalidInput(text, field=field)


def _scenario(given: dict[str, str]) -> Any:
    from weir.controllers.model.errors import InvalidInput
    from weir.controllers.model.settings import build
    from weir.controllers.simulator import Scenario

    try:
        return build(Scenario, given)
    except InvalidInput as error:
        text = str(error)
        for field, option in _OPTIONS.items():
            text = text.replace(field, option)
        raise InvalidInput(text.removeprefix("settings: "), field=error.field) from None


def _run_folder(run: str, runs: Path) -> Path:
    from weir.controllers.model.errors import NotFound

    for folder in (Path(run), runs / run):
        if (folder / "meta.json").is_file():
            return folder
    raise NotFound(f"run: there is none at {run}, nor one of that id in {runs}")


def _trace(path: str, column: Text) -> Trace:
    from weir.controllers.simulator import read_trace

    found = read_trace(_read(path), column)
    if column is None and found.others:
        _say(f"trace: the rate is the column {found.column}; --column names another")
    return found


def _read(path: str) -> bytes:
    from weir.controllers.model.trace import MOST_BYTES

    try:
        if path == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)  # one more: then it is refused
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise invalid(f"trace: {path} cannot be read ({error.strerror})", "trace") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _cannot_write(option: str, path: Path, error: OSError) -> Exception:
    field = option.removeprefix("--").replace("-", "_")
    return invalid(f"{option}: {path} cannot be written ({error.strerror})", field)
