"""Weir's command line. With no command it brings up everything on this machine."""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from weir.commands import acting, files, recommendations
from weir.commands.experiment import experiment_app
from weir.commands.extras import missing_words
from weir.commands.key import key
from weir.commands.options import Redis, pairs_of, store_at
from weir.commands.runs import record, runs_app
from weir.commands.start import GIVEN, REFUSED, hide_passwords, settle
from weir.commands.terminal import say
from weir.commands.train_qtable import train_qtable
from weir.commands.tune import tune
from weir.commands.user import token, user
from weir.commands.web import web
from weir.commands.what_if import what_if
from weir.commands.what_if_places import what_if_places
from weir.controllers.model.errors import WeirError
from weir.metrics.store.where import DEFAULT_REDIS

# Matrices are small here: more threads of the library cost several times the work. It looks
# when it is loaded, which is later, and in every process that starts from here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Weir: a control room for Spark Structured Streaming.

    Without a command: Redis, Spark Standalone, two clusters, a workload, the engine and the
    pages, all on this machine; the address is printed and Ctrl-C stops everything.

    On several machines: one Redis, then `engine`, `web` and one `host` per cluster, each with
    --redis and --master. A job of your own needs one line: weir.attach(spark, "name").
    """,
)

Master = Annotated[
    str, typer.Option("--master", help="URL of Spark's master, e.g. spark://host:7077")
]


WorkloadName = Annotated[
    str, typer.Option(help="What is run; `weir workloads` tells about all that can be")
]


@app.callback()
def _logging() -> None:
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="Port of the pages; a free one if taken")] = 8050,
    redis: Annotated[
        str | None,
        typer.Option(envvar=GIVEN, show_envvar=False, help="Use this Redis instead of our own"),
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="Use this Spark master instead of our own")
    ] = None,
    period: Annotated[float, typer.Option(help="Seconds between samples")] = 2.0,
    rate: Annotated[
        float | None, typer.Option(help="Rows per second at the start; else the workload's own")
    ] = None,
    ramp: Annotated[float, typer.Option(help="Rows per second added each second")] = 5.0,
    most: Annotated[
        float | None, typer.Option(help="Where the ramp ends; else the workload's own")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder that runs are recorded to")] = Path("runs"),
    workload: WorkloadName = "top_n",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the operators, key=value")
    ] = None,
) -> None:
    """Bring up everything on this machine; what `weir` alone does."""
    from weir.commands.extras import ensure

    ensure("demo")
    from weir.commands import demo as command

    settings = command.DemoSettings(
        port=port, redis_url=redis, master=master, period_s=period,
        rows_per_s=rate, ramp_rows_per_s2=ramp, most_rows_per_s=most, runs=runs.resolve(),
        set_=tuple(set_ or ()), workload=workload,
    )  # fmt: skip
    raise typer.Exit(command.run(settings))


@app.command()
def workloads() -> None:
    """The applications that `demo --workload` runs, and where each comes from."""
    from weir.pipeline.workloads.application import applications

    for name, found in sorted(applications().items()):
        typer.echo(f"{name}: {found.title}\n  {found.origin}\n")


@app.command()
def engine(redis: Redis = DEFAULT_REDIS) -> None:
    """Propose, carry out and judge; any number may run, one of them leads."""
    from weir.pipeline.engine import start as command

    command.run(redis)


@app.command()
def host(
    name: Annotated[str, typer.Argument(help="Name of the cluster")],
    master: Master,
    redis: Redis = DEFAULT_REDIS,
    operators: Annotated[
        str, typer.Option(help="Module that declares the operators")
    ] = "weir.pipeline.workloads.top_n",
    place: Annotated[
        str, typer.Option(help="Operators to run here unless placed elsewhere, by comma")
    ] = "",
    executors: Annotated[int, typer.Option(min=1, help="Executors at the start")] = 1,
    min_executors: Annotated[int, typer.Option(min=1, help="Fewest executors")] = 1,
    max_executors: Annotated[int, typer.Option(min=1, help="Most executors")] = 4,
    cores: Annotated[int, typer.Option(min=1, help="Cores of an executor")] = 1,
    period: Annotated[float, typer.Option(help="Seconds between samples")] = 10.0,
    checkpoints: Annotated[Path, typer.Option(help="Folder that all hosts reach")] = Path(
        "checkpoints"
    ),
    local_dir: Annotated[Path | None, typer.Option(help="Spark's scratch folder")] = None,
    memory: Annotated[str, typer.Option(help="Memory of an executor")] = "512m",
    address: Annotated[
        str, typer.Option(help="Where executors reach this machine, if on others")
    ] = "127.0.0.1",
    bind: Annotated[str | None, typer.Option(help="Where to listen, if not at --address")] = None,
    conf: Annotated[
        list[str] | None, typer.Option(help="Any setting of Spark, key=value; may be repeated")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the operators, key=value")
    ] = None,
) -> None:
    """Run a cluster: a Spark application that hosts operators."""
    from weir.commands import host as command
    from weir.pipeline.hosts.host import HostSettings

    settings = HostSettings(
        name=name, master=master, redis_url=redis,
        place=tuple(p.strip() for p in place.split(",") if p.strip()),
        executors=executors, min_executors=min(min_executors, executors),
        max_executors=max(max_executors, executors), cores=cores, period_s=period,
        checkpoints=checkpoints.resolve(), local_dir=local_dir,
        memory=memory, address=address, bind=bind, conf=tuple(pairs_of(conf or []).items()),
    )  # fmt: skip
    command.run(settings, operators, pairs_of(set_ or []))


@app.command()
def generate(
    redis: Redis = DEFAULT_REDIS,
    rate: Annotated[float, typer.Option(min=0, help="Rows per second at the start")] = 100.0,
    ramp: Annotated[float, typer.Option(help="Rows per second added each second")] = 0.0,
    most: Annotated[float, typer.Option(help="Where the ramp ends")] = 0.0,
    workload: WorkloadName = "top_n",
) -> None:
    """Generate the demo's rows; steer it with `rate` or on the page."""
    from weir.commands import generate as command

    command.run(redis, workload, rate, ramp, most)


@app.command()
def status(redis: Redis = DEFAULT_REDIS) -> None:
    """Show clusters, operators and parts."""
    from rich.console import Console

    from weir.commands import control

    control.status(store_at(redis), Console())


acting.register(app)
files.register(app)
recommendations.register(app)
app.command("record")(record)
app.command("what-if")(what_if)
app.command("what-if-places")(what_if_places)
app.command("tune")(tune)
app.command("train-qtable")(train_qtable)
app.add_typer(runs_app, name="runs")
app.add_typer(experiment_app, name="experiment")
app.command("web")(web)
app.command("key")(key)
app.add_typer(user, name="user")
app.add_typer(token, name="token")


def main() -> None:
    """Run the command line; a problem is one sentence and exit code 2."""
    from redis.exceptions import AuthenticationError, AuthorizationError, RedisError
    from redis.exceptions import ConnectionError as RedisAway

    hide_passwords()
    settle()
    words = sys.argv[1:]
    if not words or (words[0].startswith("-") and "--help" not in words):
        words = ["demo", *words]
    try:
        app(words, prog_name="weir")
    except WeirError as error:
        say(error, sys.stderr)
        sys.exit(2)
    except (AuthenticationError, AuthorizationError) as error:
        print(f"{REFUSED} ({error})", file=sys.stderr)
        sys.exit(2)
    except RedisAway as error:
        print(f"Redis cannot be reached: {error}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        missing = missing_words(error)
        if missing is None:
            raise
        print(missing, file=sys.stderr)
        sys.exit(2)
    except RedisError as error:  # it does not answer in time, has no memory left, ...
        say(f"Redis did not do that: {error}", sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
