"""Commands that read files: problems, event logs."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add every command of this file."""
    app.command()(plan)
    app.command()(size)
    app.command("import")(import_)
    app.command()(follow)


def plan(
    problem: Annotated[
        str, typer.Argument(help="JSON file with bins, items, flows and budget; - for stdin")
    ],
    planner: Annotated[
        str, typer.Option(help="Name of a planner, or 'all' for a comparison")
    ] = "milp",
    # Numbers as text: what is wrong with them is said in one sentence, like all else.
    moves: Annotated[str | None, typer.Option(metavar="N", help="Most moves")] = None,
    cost: Annotated[str | None, typer.Option(metavar="X", help="Most migration cost")] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="S", help="Seconds to look for a better plan")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is random")] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="With 'all': a list instead of a table")
    ] = False,
) -> None:
    """Plan which item goes to which bin."""
    from weir.commands import plan as command

    raise typer.Exit(command.run(problem, planner, moves, cost, time_limit, seed, json))


def size(
    problem: Annotated[
        str, typer.Argument(help="JSON file with operators, external and routing; - for stdin")
    ],
    scaler: Annotated[str, typer.Option(help="Model that sizes the network")] = "drs",
    k_max: Annotated[
        str | None, typer.Option(metavar="N", help="Share out so many processors")
    ] = None,
    t_max: Annotated[
        str | None, typer.Option(metavar="S", help="Fewest processors within so many seconds")
    ] = None,
) -> None:
    """Size a network of operators: how many processors each needs."""
    from weir.commands import size as command

    raise typer.Exit(command.run(problem, scaler, k_max, t_max))


def import_(
    paths: Annotated[list[str], typer.Argument(help="Event logs, or folders of them")],
    runs: Annotated[Path, typer.Option(help="Folder that the runs are written to")] = Path("runs"),
    spark: Annotated[
        str | None, typer.Option(help="Parse on this Spark master, for thousands of logs")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One summary object per application attempt")
    ] = False,
) -> None:
    """Make runs of Spark event logs, of any version and compression."""
    from weir.commands import import_ as command

    raise typer.Exit(command.run(paths, json, str(runs), spark))


def follow(
    path: Annotated[str, typer.Argument(help="An event log that grows")],
    runs: Annotated[Path, typer.Option(help="Folder that the run is written to")] = Path("runs"),
    period: Annotated[float, typer.Option(help="Seconds of a period")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="One sample per line")] = False,
) -> None:
    """Make a run of an event log while it grows; the log is only read."""
    from weir.commands import follow as command

    raise typer.Exit(command.run(path, json, period, runs_dir=str(runs)))
