"""Commands that act on what runs: each does one verb of the service and waits for its end."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.commands.options import Redis, pairs_of, store_at
from weir.commands.recommendations import Comment
from weir.commands.terminal import say
from weir.metrics.store.where import DEFAULT_REDIS

if TYPE_CHECKING:
    from weir.controllers.model.command import CommandResult


def register(app: typer.Typer) -> None:
    """Add every command of this file."""
    for function in (
        rate, scale, operator, move, reslice, shares, balance, add, end, launch, forget,
    ):  # fmt: skip
        app.command()(function)


def rate(
    rows_per_s: Annotated[
        float | None, typer.Argument(help="Rows per second; without it the present rate is shown")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Which generator")] = None,
    pause: Annotated[bool | None, typer.Option("--pause/--resume", help="Stop or go on")] = None,
    skew: Annotated[
        float | None, typer.Option(help="Exponent of Zipf's law of the keys; 0: all alike")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="constant, ramp, step, burst, daily or trace")
    ] = None,
    to: Annotated[float | None, typer.Option(help="The profile's other rate")] = None,
    over: Annotated[
        float | None, typer.Option(help="Seconds of a ramp, until a step, of a cycle or a day")
    ] = None,
    lasts: Annotated[float | None, typer.Option(help="Seconds that a burst lasts")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="CSV with times and rates; the rate is its mean")
    ] = None,
    speed_up: Annotated[float | None, typer.Option(help="How much faster a trace runs")] = None,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Steer the load generator: rate, profile, skew."""
    from weir.commands import control

    given = {
        "kind": profile or ("trace" if trace else None), "to_rows_per_s": to, "over_s": over,
        "lasts_s": lasts, "speed_up": speed_up, "trace": trace and control.read_csv(trace),
    }  # fmt: skip
    shape = {key: value for key, value in given.items() if value is not None}
    say(control.rate(store_at(redis), rows_per_s, name, pause, comment, skew, shape or None))


def scale(
    cluster: str, executors: int, redis: Redis = DEFAULT_REDIS, comment: Comment = ""
) -> None:
    """Bring a cluster to a number of executors."""
    from weir.commands import control

    _finish(control.scale(store_at(redis), cluster, executors, comment))


def operator(
    verb: Annotated[str, typer.Argument(help="start, stop or restart")],
    name: str,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Start, stop or restart an operator."""
    from weir.commands import control

    _finish(control.operator(store_at(redis), verb, name, comment))


def move(operator: str, cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Move an operator to another cluster, with its state."""
    from weir.commands import control

    done = control.move(store_at(redis), operator, cluster, comment).moves[0]
    pause = "" if done.paused_s is None else f", paused {done.paused_s:.1f} s"
    say(f"{done.step}{pause}{': ' + done.message if done.message else ''}")
    raise typer.Exit(0 if done.step == "done" else 1)


def reslice(
    operator: str,
    slices: Annotated[int | None, typer.Option(help="So many slices")] = None,
    groups: Annotated[str, typer.Option(help="Key groups to hand over, e.g. 0-7,12")] = "",
    to: Annotated[
        str, typer.Option(help="The slice that takes them; the next name: a new one")
    ] = "",
    cluster: Annotated[str, typer.Option(help="Where a new slice runs")] = "",
    preview: Annotated[bool, typer.Option(help="Only say what it would bring")] = False,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Give an operator more slices or fewer, or hand key groups from one to another."""
    from weir.commands import slices as command

    asked = command.ResliceArguments(slices=slices, groups=groups, to=to, cluster=cluster)
    if preview:
        say(command.preview(store_at(redis), operator, asked))
        return
    done = command.reslice(store_at(redis), operator, asked, comment)
    say(command.outcome_words(done))
    raise typer.Exit(0 if done.applied_at else 1)


def shares(
    cluster: str,
    weights: Annotated[
        list[str] | None, typer.Argument(help="operator=weight ...; without any they are shown")
    ] = None,
    equal: Annotated[bool, typer.Option(help="All operators alike")] = False,
    model: Annotated[bool, typer.Option(help="Let the engine set them by the model")] = False,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Show or set how operators share the cores of their cluster."""
    from weir.commands import shares as command

    wanted = pairs_of(weights or []) if weights or equal else None
    say(command.shares(store_at(redis), cluster, wanted, model, comment))


def balance(
    planner: Annotated[str | None, typer.Option(help="Planner that the engine follows")] = None,
    redis: Redis = DEFAULT_REDIS,
) -> None:
    """Show or set which planner the engine follows; `mode` says whether it acts by itself."""
    from weir.commands import control

    say(control.balance(store_at(redis), planner))


def add(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Ask the launcher for one more cluster."""
    from weir.commands import control

    say(control.add(store_at(redis), cluster, comment))


def end(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Let planners empty a cluster; once it is empty it is ended."""
    from weir.commands import control

    say(control.end(store_at(redis), cluster, comment))


def launch(
    command: Annotated[
        str,
        typer.Option(help="Command of a host, e.g. 'spark-submit weir_host.py {name}'"),
    ],
    redis: Redis = DEFAULT_REDIS,
    logs: Annotated[Path, typer.Option(help="Folder for the hosts' logs")] = Path("logs"),
) -> None:
    """Start and end hosts on this machine as ordered by `add`, `end` and the pages."""
    from weir.commands import launch as launching

    launching.run(store_at(redis), command, logs)


def forget(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Remove a cluster that is gone for good, with its series and what was learned of it."""
    from weir.commands import control

    say(control.forget(store_at(redis), cluster, comment))


def _finish(result: "CommandResult") -> None:
    say(f"{result.status}: {result.message}")
    raise typer.Exit(0 if result.status == "done" else 1)
