"""`weir experiment`: the papers' experiments, run here."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from weir.metrics.lab.lab import ExperimentStatus
    from weir.metrics.lab.outcome import ExperimentResult

experiment_app = typer.Typer(help="The papers' experiments: list them, run them, write a report.")

Folder = Annotated[Path, typer.Option("--runs", help="Folder of the runs, with the lab in it")]
Names = Annotated[list[str] | None, typer.Argument(help="Names of experiments", metavar="NAME...")]
Quick = Annotated[bool, typer.Option("--quick", help="The small size of each")]


@experiment_app.command("list")
def list_(runs: Folder = Path("runs")) -> None:
    """Every experiment: paper, figure, how it is done, how long it takes, what was found."""
    from rich.console import Console
    from rich.table import Table

    from weir.metrics.lab.catalogue import EXPERIMENTS
    from weir.metrics.lab.lab import Lab

    lab = Lab(runs)
    table = Table()
    for head in ("name", "paper", "where", "question", "how", "quick", "full", "found here"):
        table.add_column(head, overflow="fold")
    for e in EXPERIMENTS:
        result = lab.result(e.name)
        found = "" if result is None else result.outcome.verdict.words
        if result is not None and result.quick:
            found += " (quick)"
        table.add_row(
            e.name, e.paper.value, e.where, e.question, e.how.value,
            time_words(e.quick.about_s), time_words(e.full.about_s), found,
        )  # fmt: skip
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width: nothing is to be cut off there
        console = Console(width=180)
    console.print(table)


@experiment_app.command()
def run(names: Names = None, quick: Quick = False, runs: Folder = Path("runs")) -> None:
    """Run experiments, or `all`; Ctrl-C stops, and the same command goes on where it was."""
    from weir.metrics.lab.catalogue import EXPERIMENTS, experiment
    from weir.metrics.lab.lab import Lab
    from weir.pipeline.experiments.process import perform, stop_on_signals

    wanted = [e.name for e in EXPERIMENTS] if names == ["all"] else list(names or [])
    if not wanted:
        raise typer.BadParameter("name an experiment, or say `all`; `weir experiment list`")
    for name in wanted:
        experiment(name)
    stop_on_signals()
    lab = Lab(runs)
    failed = False
    for name in wanted:
        lock = lab.take_lock()
        try:
            print_result(perform(lab, name, quick, _Teller()))
        except KeyboardInterrupt:
            print(f"\n{name} is stopped. The same command goes on where it was.")
            raise typer.Exit(130) from None
        except Exception as error:
            if len(wanted) == 1:
                raise
            failed = True
            print(f"\n{name}: {error}")
        finally:
            os.close(lock)
    raise typer.Exit(1 if failed else 0)


@experiment_app.command()
def report(
    names: Names = None,
    runs: Folder = Path("runs"),
    to: Annotated[Path, typer.Option(help="File whose sections are written")] = Path(
        "benchmarks/RESULTS.md"
    ),
) -> None:
    """Write what was found as sections of a file, and a table of all claims."""
    from weir.metrics.lab.lab import Lab
    from weir.metrics.lab.report import write_report

    written = write_report(Lab(runs), to, names or ())
    print(f"{to}: {', '.join(written) or 'nothing was found yet; run an experiment first'}")


def print_result(result: ExperimentResult) -> None:
    """What was found, for a terminal."""
    from weir.metrics.lab.report import number_words

    outcome = result.outcome
    print(f"{result.name}: {outcome.verdict.words}. {outcome.reason}")
    for number in outcome.numbers:
        said = f"; published: {number.published}" if number.published else ""
        print(f"  {number.name}: {number_words(number)}{said}")


def time_words(seconds: float) -> str:
    """About how long, in words.

    >>> time_words(1), time_words(45), time_words(130)
    ('1 s', '45 s', '2 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def progress_words(status: ExperimentStatus) -> str:
    """One line on how far it is."""
    left = "" if status.left_s is None else f", about {time_words(status.left_s)} left"
    return f"{status.name}: {100 * status.share:.0f} %{left} - {status.doing}"


class _Teller:
    """Prints a line when something new is done, at most every five seconds for the rest."""

    def __init__(self) -> None:
        self._doing, self._at = "", 0.0

    def __call__(self, status: ExperimentStatus) -> None:
        now = time.monotonic()
        if status.doing and (status.doing != self._doing or now - self._at > 5.0):
            self._doing, self._at = status.doing, now
            print(progress_words(status), flush=True)
