"""Weir's command line. With no command it brings up everything on this machine."""

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.commands import recommendations
from weir.commands.experiment import experiment_app
from weir.commands.key import key
from weir.commands.recommendations import Comment
from weir.commands.runs import record, runs_app
from weir.commands.start import GIVEN, REFUSED, hide_passwords, settle
from weir.commands.train_qtable import train_qtable
from weir.commands.tune import tune
from weir.commands.user import token, user
from weir.commands.web import web
from weir.commands.what_if import what_if
from weir.commands.what_if_places import what_if_places
from weir.controllers.model.errors import WeirError
from weir.metrics.store.where import DEFAULT_REDIS, REDIS_URL

if TYPE_CHECKING:  # only what a command needs is loaded
    from weir.controllers.model.command import CommandResult
    from weir.metrics.store.redis_store import RedisStore

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

Redis = Annotated[
    str, typer.Option("--redis", envvar=REDIS_URL, help="URL of Redis or Valkey, 6.2 or later")
]
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
    """Keep snapshots and history; any number may run, one of them leads."""
    from weir.pipeline.engine import process as command

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
        memory=memory, address=address, bind=bind, conf=tuple(_pairs(conf or []).items()),
    )  # fmt: skip
    command.run(settings, operators, _pairs(set_ or []))


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

    control.status(_store(redis), Console())


@app.command()
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
    print(control.rate(_store(redis), rows_per_s, name, pause, comment, skew, shape or None))


@app.command()
def scale(
    cluster: str, executors: int, redis: Redis = DEFAULT_REDIS, comment: Comment = ""
) -> None:
    """Bring a cluster to a number of executors."""
    from weir.commands import control

    _finish(control.scale(_store(redis), cluster, executors, comment))


@app.command()
def operator(
    verb: Annotated[str, typer.Argument(help="start, stop or restart")],
    name: str,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Start, stop or restart an operator."""
    from weir.commands import control

    _finish(control.operator(_store(redis), verb, name, comment))


@app.command()
def move(operator: str, cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Move an operator to another cluster, with its state."""
    from weir.commands import control

    done = control.move(_store(redis), operator, cluster, comment).moves[0]
    pause = "" if done.paused_s is None else f", paused {done.paused_s:.1f} s"
    print(f"{done.step}{pause}{': ' + done.message if done.message else ''}")
    raise typer.Exit(0 if done.step == "done" else 1)


@app.command()
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
        print(command.preview(_store(redis), operator, asked))
        return
    done = command.reslice(_store(redis), operator, asked, comment)
    print(command.outcome_words(done))
    raise typer.Exit(0 if done.applied_at else 1)


@app.command()
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

    wanted = _pairs(weights or []) if weights or equal else None
    print(command.shares(_store(redis), cluster, wanted, model, comment))


@app.command()
def balance(
    planner: Annotated[str | None, typer.Option(help="Planner that the engine follows")] = None,
    redis: Redis = DEFAULT_REDIS,
) -> None:
    """Show or set which planner the engine follows; `mode` says whether it acts by itself."""
    from weir.commands import control

    print(control.balance(_store(redis), planner))


@app.command()
def add(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Ask the launcher for one more cluster."""
    from weir.commands import control

    print(control.add(_store(redis), cluster, comment))


@app.command()
def end(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Let planners empty a cluster; once it is empty it is ended."""
    from weir.commands import control

    print(control.end(_store(redis), cluster, comment))


@app.command()
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

    launching.run(_store(redis), command, logs)


@app.command()
def forget(cluster: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Remove a cluster that is gone for good, with its series and what was learned of it."""
    from weir.commands import control

    print(control.forget(_store(redis), cluster, comment))


@app.command()
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


@app.command()
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


@app.command("import")
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


@app.command()
def follow(
    path: Annotated[str, typer.Argument(help="An event log that grows")],
    runs: Annotated[Path, typer.Option(help="Folder that the run is written to")] = Path("runs"),
    period: Annotated[float, typer.Option(help="Seconds of a period")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="One sample per line")] = False,
) -> None:
    """Make a run of an event log while it grows; the log is only read."""
    from weir.commands import follow as command

    raise typer.Exit(command.run(path, json, period, runs_dir=str(runs)))


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


def _store(redis: str) -> "RedisStore":
    from weir.metrics.store.redis_store import RedisStore

    return RedisStore.at(redis)


def _finish(result: "CommandResult") -> None:
    print(f"{result.status}: {result.message}")
    raise typer.Exit(0 if result.status == "done" else 1)


def _pairs(items: list[str]) -> dict[str, str]:
    from weir.controllers.model.errors import InvalidInput

    for item in items:
        if "=" not in item:
            raise InvalidInput(f"'{item}' is not of the form key=value", field="set")
    return dict(item.split("=", 1) for item in items)


def main() -> None:
    """Run the command line; a problem is one sentence and exit code 2."""
    from redis.exceptions import AuthenticationError, AuthorizationError
    from redis.exceptions import ConnectionError as RedisAway

    hide_passwords()
    settle()
    words = sys.argv[1:]
    if not words or (words[0].startswith("-") and "--help" not in words):
        words = ["demo", *words]
    try:
        app(words, prog_name="weir")
    except WeirError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (AuthenticationError, AuthorizationError) as error:
        print(f"{REFUSED} ({error})", file=sys.stderr)
        sys.exit(2)
    except RedisAway as error:
        print(f"Redis cannot be reached: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
