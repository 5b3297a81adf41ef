"""`weir tune`: search a scaler's settings on a run or a trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.commands import simulation as inputs

if TYPE_CHECKING:
    from weir.controllers.simulator.model import WorldModel
    from weir.controllers.simulator.search import TuneJob, TuneResult
    from weir.controllers.simulator.tune import MakeEvaluate
    from weir.controllers.simulator.tuning import Trial, Tuning

STUDIES = Path(".weir/studies")


def tune(
    run: inputs.Run = None,
    trace: inputs.TraceFile = None,
    scaler: Annotated[str, typer.Option(help="Scaler whose settings are searched")] = "thresholds",
    trials: Annotated[int, typer.Option(help="Settings to try, all in all")] = 50,
    jobs: Annotated[
        str, typer.Option(help="Processes; 'auto' takes one per core", metavar="N|auto")
    ] = "auto",
    study: Annotated[
        Path | None,
        typer.Option(help="File that keeps the trials; one below .weir/studies if not given"),
    ] = None,
    spark: Annotated[str | None, typer.Option(help="Try on this Spark master")] = None,
    column: inputs.Column = None,
    cluster: inputs.ClusterName = None,
    cost_per_row: inputs.Cost = None,
    min_: inputs.Fewest = None,
    max_: inputs.Most = None,
    executor_start: inputs.Start = None,
    target_latency: inputs.Target = None,
    period: inputs.Period = None,
    cores: inputs.Cores = None,
    executors: inputs.Executors = None,
    trigger: inputs.Trigger = None,
    overhead: inputs.Overhead = None,
    max_rows: inputs.MaxRows = None,
    seed: inputs.Seed = 0,
    runs: inputs.Runs = Path("runs"),
    save: Annotated[Path | None, typer.Option(help="Write the result here as JSON")] = None,
    save_table: inputs.SaveTable = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON")] = False,
) -> None:
    """Search a scaler's settings: train on the first half, judge on the second.

    Ctrl-C keeps what was tried; the same command goes on from there.
    """
    given = inputs.scenario_options(
        cost_per_row, min_, max_, executors, executor_start, cores, period, trigger, overhead,
        max_rows,
    )  # fmt: skip
    kept: list[Path] = []

    def work() -> None:
        from weir.controllers.scaling.registry import scaler_type

        # What can be refused is refused before the search, which may take hours.
        count = _jobs(jobs)
        scaler_type(scaler)
        inputs.check_seed(seed)
        inputs.check_table(save_table, scaler)
        inputs.check_file("--save", save)
        for option, file in (("--save", save), ("--save-table", save_table)):
            if study is not None and file is not None and file.resolve() == study.resolve():
                raise inputs.invalid(f"{option}: {file} is the study itself", "study")
        calibrated = inputs.load(run, trace, column, cluster, given, runs)
        target_s = inputs.target_of(target_latency, trace)
        _check(calibrated.world, scaler, trials, target_s)
        name = study_name(calibrated.world, scaler, target_s, seed)
        path = study if study is not None else STUDIES / f"{scaler}-{name}.journal"
        kept.append(path)
        found = _tune(calibrated.world, scaler, trials, target_s, seed, path, name, count, spark)
        for target in (path.with_suffix(".result.json"), save):
            if target is not None:
                _write(target, found)
        if save_table is not None:
            _write_table(save_table, calibrated.world, found)
        _show(found, json)

    code = inputs.run_guarded(work)
    if code == inputs.INTERRUPTED and kept:
        print(f"what was tried is in {kept[0]}; the same command goes on", file=sys.stderr)
    raise typer.Exit(code)


def study_name(world: WorldModel, scaler: str, target_s: float, seed: int) -> str:
    """The same for the same question, so that trials of another one are never mixed in."""
    import msgspec

    told = msgspec.json.encode((world, scaler, target_s, seed))
    return sha256(told).hexdigest()[:12]


def _check(world: WorldModel, scaler: str, trials: int, target_s: float) -> None:
    """What the search would refuse, before there is a study of it."""
    from weir.controllers.simulator.search import check
    from weir.controllers.simulator.tune import space_of, split

    check(space_of(split(world)[0], scaler, target_s), trials)


def _tune(
    world: WorldModel,
    scaler: str,
    trials: int,
    target_s: float,
    seed: int,
    path: Path,
    name: str,
    jobs: int,
    master: str | None,
) -> Tuning:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from weir.controllers.simulator.search import open_study
    from weir.controllers.simulator.tune import tune as search

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn(), TextColumn("{task.fields[best]}"))  # fmt: skip
    with (
        Progress(*columns, console=console, disable=not console.is_terminal) as bar,
        evaluators(jobs, master) as evaluator,
    ):
        task = bar.add_task(f"tuning {scaler}", total=trials, best="")
        return search(
            world,
            scaler,
            trials,
            study=open_study(_storage(path), name, seed),
            evaluator=evaluator,
            target_latency_s=target_s,
            seed=seed,
            batch=max(1, jobs),
            on_trials=lambda done, found: bar.update(task, completed=done, best=best_text(found)),
        )


def best_text(found: Sequence[Trial]) -> str:
    """The best so far, for a progress bar: the least time over target, at the least cost."""
    if not found:
        return ""
    best = min(found, key=lambda t: (round(t.share_over_target, 3), t.executor_hours))
    return f"best {best.share_over_target:.1%} over target, {best.executor_hours:.1f} executor-h"


@contextmanager
def evaluators(jobs: int, master: str | None = None) -> Iterator[MakeEvaluate]:
    """Whoever simulates: this process, several, or a Spark cluster."""
    if master is not None:
        from weir.commands.tune_spark import spark_evaluator

        with spark_evaluator(master) as made:
            yield made
    elif jobs == 1:
        yield lambda world: partial(_in_turn, world)
    else:
        with inputs.workers(True, jobs) as pool:
            yield lambda world: partial(_side_by_side, pool, world)


def _in_turn(world: WorldModel, jobs: Sequence[TuneJob]) -> Sequence[TuneResult]:
    from weir.controllers.simulator.search import evaluate

    return [evaluate(world, job) for job in jobs]


def _side_by_side(pool: Any, world: WorldModel, jobs: Sequence[TuneJob]) -> Sequence[TuneResult]:
    from weir.controllers.simulator.search import evaluate

    if pool is None:
        return _in_turn(world, jobs)
    return list(pool.map(partial(evaluate, world), jobs))


def _storage(path: Path) -> Any:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from weir.controllers.model.errors import InvalidInput

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return JournalStorage(JournalFileBackend(str(path)))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no study"
        raise InvalidInput(f"--study: {path} cannot be used ({why})", field="study") from None


def _jobs(text: str) -> int:
    from weir.controllers.model.errors import InvalidInput

    if text == "auto":
        return os.cpu_count() or 1
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise InvalidInput(f"--jobs must be 'auto' or 1 to 1024, not '{text}'", field="jobs")
    return int(text)


def _write(path: Path, found: Tuning) -> None:
    from weir.controllers.model.errors import InvalidInput
    from weir.controllers.simulator.tuning import write_tuning

    try:
        path.write_bytes(write_tuning(found))
    except OSError as error:
        raise InvalidInput(
            f"--save: {path} cannot be written ({error.strerror})", field="save"
        ) from None


def _write_table(path: Path, world: WorldModel, found: Tuning) -> None:
    """The Q-table of the tuned settings, learned on the whole input."""
    from weir.controllers.simulator import Calibrated
    from weir.controllers.simulator import what_if as ask

    learned = ask(
        Calibrated(world=world),
        found.scaler,
        found.best.settings,
        target_latency_s=found.target_latency_s,
        seed=found.seed,
    )
    inputs.write_table(path, learned)


def _show(found: Tuning, json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from weir.controllers.simulator.tuning import write_tuning

    if json:
        print(write_tuning(found).decode())
        return
    console = Console() if sys.stdout.isatty() else Console(width=140)
    table = Table(title=f"{found.scaler}: {len(found.trials)} trials; * is recommended")
    heads = ("policy", "trained: over", "executor-h", "unseen: over", "executor-h", "settings")
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number in (0, 5) else "right")
    for point in (*found.front, found.default, *found.baselines):
        figures = [
            text
            for s in (point.trained, point.judged)
            for text in (("", "") if s is None else (f"{s.share_over_target:.2%}", f"{s.executor_hours:.1f}"))
        ]  # fmt: skip
        mark = "* " if point is found.best else "  "
        told = " ".join(f"{k}={_short(v)}" for k, v in point.settings.items())
        table.add_row(mark + point.label, *figures, told)
    console.print(table)
    for row in found.importance:
        console.print(
            f"{row.key:28} matters {row.over_target:4.0%} for the latency, "
            f"{row.executor_hours:4.0%} for the cost", highlight=False,
        )  # fmt: skip
    console.print(found.verdict, highlight=False)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
