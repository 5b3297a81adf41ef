"""Everything on one machine: Redis, Spark, two clusters, a workload, engine and pages."""

import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redis.exceptions import RedisError
from rich.console import Console

from weir.commands.parts import Processes
from weir.commands.trail import auditing, me, request
from weir.components.pages.sign_in.service import SignIn, admin_link
from weir.components.web.app import gunicorn_argv, web_env
from weir.components.web.security.settings import SignInSettings
from weir.controllers import service
from weir.controllers.engine.propose.scaling import ScaleSettings, scaler_group
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.slicing import slice_name
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.users import UsersFile
from weir.metrics.store.where import REDIS_URL, forget_url, keep_url, shown_url
from weir.pipeline.local.launcher import Launching
from weir.pipeline.local.ports import LOOPBACK, free_port
from weir.pipeline.local.redis_server import RedisServer
from weir.pipeline.local.standalone import Standalone
from weir.pipeline.local.supervisor import Child
from weir.pipeline.workloads.application import DEFAULT, Application, application

CLUSTER = "cluster "
"""How the names of hosts begin in the table of parts."""
SLICES = 4
"""Of the operator with keyed state, shared by the two clusters."""
TARGET_LATENCY_S = 15.0  # the ranking alone runs every ten seconds


@dataclass(frozen=True)
class DemoCluster:
    """One of the demonstration's clusters: the extreme case puts the work on the small one."""

    name: str
    executors: int
    max_executors: int
    cores: int


CLUSTERS = (DemoCluster("wide", 2, 4, 2), DemoCluster("narrow", 1, 4, 1))


@dataclass(frozen=True)
class DemoSettings:
    """What `weir demo` can be told."""

    port: int = 8050
    redis_url: str | None = None
    master: str | None = None
    period_s: float = 2.0
    rows_per_s: float | None = None  # None: the application's own
    ramp_rows_per_s2: float = 5.0
    most_rows_per_s: float | None = None
    workers: int = 2
    set_: tuple[str, ...] = ()  # settings of the operators, key=value
    runs: Path = Path("runs")
    workload: str = DEFAULT


def place(run: Application, cluster: str, pairs: Sequence[str]) -> str:
    """What a cluster is given at first, with its share of the slices.

    >>> from weir.pipeline.workloads.top_n import APPLICATION as run
    >>> place(run, "narrow", ["slices=4"]), place(run, "narrow", ["slices=4", "slices=0"])
    ('topic_count.2,topic_count.3,top_n', 'topic_count,top_n')
    """
    own, clusters = run.places.get(cluster, ()), list(run.places)
    slices = next((int(p[7:]) for p in reversed(pairs) if re.fullmatch(r"slices=\d+", p)), 0)
    if not slices or not own or not run.sliced:
        return ",".join(own)
    place = clusters.index(cluster)
    share = range(place * slices // len(clusters), (place + 1) * slices // len(clusters))
    mine = [slice_name(run.sliced, i) for i in share]
    at = own.index(run.sliced) if run.sliced in own else len(own)
    others = [name for name in own if name != run.sliced]
    return ",".join([*others[:at], *mine, *others[at:]])


class Everything:
    """All parts, in the order in which they come up; they go down in reverse."""

    def __init__(self, settings: DemoSettings, folder: Path, console: Console) -> None:
        self.settings = settings
        self._runs = application(settings.workload)
        self.folder = folder
        self.console = console
        self.stopping = threading.Event()
        self.parts = Processes(folder, console, self.stopping)
        self._more: Callable[[DemoCluster], Child] | None = None  # starts one more host
        self._launching: Launching | None = None
        self.redis_url = ""
        self.kept = False  # whether the commands of this folder find our Redis
        self.port = free_port(settings.port)
        self.address = f"http://{LOOPBACK}:{self.port}"
        users = os.environ.get("WEIR_USERS") or str(folder / "users.json")
        self.sign_in = SignInSettings(users=users)

    # -- up

    def up(self) -> None:
        """Start every part and wait until there are live figures of every cluster."""
        began = time.monotonic()
        with self.parts.shown():
            redis_url = self.redis_url = self._redis()
            store = RedisStore.at(redis_url)
            web = self._add(
                "web", gunicorn_argv(LOOPBACK, self.port, self.settings.workers),
                self._web_answers,
                web_env(
                    redis_url, target_latency_s=TARGET_LATENCY_S, runs_dir=self.settings.runs,
                    sign_in=self.sign_in,
                ),
            )  # fmt: skip
            master = self._spark()
            hosts = [self._host(c, master, store) for c in CLUSTERS]
            self._more = lambda c: self._host(c, master, store)
            self._launching = Launching(store, self)
            engine = self._add(
                "engine", self._app("engine"),
                lambda: any(p.kind == "engine" for p in store.parts()),
            )  # fmt: skip
            recorder = self._add(
                "recorder",
                self._app("record", "--runs", str(self.settings.runs)),
                lambda: any(p.kind == "recorder" for p in store.parts()),
            )
            self.parts.wait([web, engine, recorder, *hosts])
            # Rows begin to flow when both clusters can take them; then the figures are live.
            generator = self._add(
                "generator",
                self._app(
                    "generate",
                    "--workload", self._runs.name,
                    "--rate", str(_first(self.settings.rows_per_s, self._runs.rows_per_s)),
                    "--ramp", str(self.settings.ramp_rows_per_s2),
                    "--most", str(_first(self.settings.most_rows_per_s, self._runs.most_rows_per_s)),
                ),
                lambda: all(any(o.batch_rows for o in s.operators) for s in store.latest()),
            )  # fmt: skip
            self.parts.wait([generator])
            if self.stopping.is_set():  # told to stop before everything was up
                return
            self._aim(store)
        took_s = time.monotonic() - began
        people = SignIn(store.client, UsersFile(self.sign_in.users), self.sign_in)
        with auditing(redis_url):
            link = admin_link(people, me())
        self.console.print(f"\nWeir is live after {took_s:.0f} s: [bold]{self.address}[/bold]")
        self.console.print("Sign in as admin with this link; it works once:")
        self.console.print(f"    {self.address}{link}", soft_wrap=True, markup=False)
        self.console.print(self._how_to_command(), soft_wrap=True, markup=False)
        self.console.print("Ctrl-C stops everything.\n")

    def _aim(self, store: RedisStore) -> None:
        """The scaler aims at the latency that the pages show, unless a person has said otherwise."""
        for cluster in CLUSTERS:
            group = scaler_group(cluster.name, ScaleSettings().scaler)
            if "target_latency_s" not in store.settings(group):
                asked = request("the target of the demonstration")
                service.set_settings(store, asked, group, {"target_latency_s": TARGET_LATENCY_S})

    def _how_to_command(self) -> str:
        """Say which Redis is used, and how commands find it."""
        where = f"Redis: {shown_url(self.redis_url)}"
        if self.settings.redis_url:
            return f"{where}; give it to other commands with {REDIS_URL} or --redis."
        if self.kept:
            return f"{where}; commands in this folder find it, such as: weir status"
        name = self.folder / "redis-url"
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as out:
            out.write(self.redis_url)
        return (
            f"{where}; commands in this folder talk to the demo that was here first. To this one:\n"
            f'    {REDIS_URL}="$(cat {name})" weir status'
        )

    def _redis(self) -> str:
        if self.settings.redis_url:
            return self.settings.redis_url
        # The other commands look at Redis's usual port unless they are told otherwise.
        server = RedisServer(self.folder / "redis", free_port(6379))
        self.parts.wait([self._add("redis", server.argv, server.answers)])
        self.kept = keep_url(server.url)
        return server.url

    def _spark(self) -> str:
        if self.settings.master:
            return self.settings.master
        check_localhost()
        spark = Standalone(self.folder / "spark")
        for part, argv, ready in (
            ("spark master", spark.master_argv, spark.master_ready),
            ("spark worker", spark.worker_argv, spark.worker_ready),
        ):
            self.parts.wait([self._add(part, argv, ready, spark.environment)])
        return spark.url

    def _host(self, cluster: DemoCluster, master: str, store: RedisStore) -> Child:
        pairs = (*((f"slices={SLICES}",) if self._runs.sliced else ()), *self.settings.set_)
        argv = self._app(
            "host", cluster.name, "--master", master, "--operators", self._runs.module,
            "--place", place(self._runs, cluster.name, pairs),
            "--executors", str(cluster.executors), "--max-executors", str(cluster.max_executors),
            "--cores", str(cluster.cores), "--period", str(self.settings.period_s),
            "--checkpoints", str(self.folder / "checkpoints"),
            "--local-dir", str(self.folder / f"local-{cluster.name}"),
            *(word for pair in pairs for word in ("--set", pair)),
        )  # fmt: skip

        def live() -> bool:
            found = next((s for s in store.latest() if s.cluster.name == cluster.name), None)
            return found is not None and all(o.status == "running" for o in found.operators)

        return self._add(CLUSTER + cluster.name, argv, live)

    def _app(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "weir", *args]

    def _add(
        self,
        name: str,
        argv: list[str],
        ready: Callable[[], bool],
        env: dict[str, str] | None = None,
    ) -> Child:
        return self.parts.start(name, argv, ready, {REDIS_URL: self.redis_url, **(env or {})})

    def _web_answers(self) -> bool:
        with urllib.request.urlopen(f"{self.address}/health", timeout=2) as answer:
            return bool(answer.status < 500)

    # -- while it runs, and down

    def watch(self) -> None:
        """Start again what dies, until told to stop."""
        looked_at = 0.0
        while not self.stopping.wait(0.3):
            if time.monotonic() - looked_at > 1.0:
                looked_at = time.monotonic()
                with suppress(RedisError, OSError):
                    for done in self._launching.step() if self._launching else ():
                        self.console.print(done)
            self.parts.watch()

    # -- clusters that come and go: see `weir.controllers.model.hosting.HostLauncher`

    def start(self, order: HostOrder) -> None:
        """Start one more host beside the others."""
        if self._more is not None:
            name, most = order.cluster, order.max_executors
            self._more(DemoCluster(name, order.executors, most, order.cores))

    def end(self, cluster: str) -> bool:
        """Stop a host and no longer watch it."""
        self.parts.end(CLUSTER + cluster)
        return True

    def names(self) -> set[str]:
        """The clusters whose hosts are watched."""
        names = (child.name for child in self.parts.children)
        return {n.removeprefix(CLUSTER) for n in names if n.startswith(CLUSTER)}

    def down(self) -> None:
        """Stop every part, the last one started first."""
        forget_url(self.redis_url)
        self.parts.stop()


def run(settings: DemoSettings) -> int:
    """Bring everything up, keep it up, and leave nothing behind."""
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="weir-"))
    (folder / "tmp").mkdir()
    everything = Everything(settings, folder, console)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: everything.stopping.set())
    failed = None
    try:
        everything.up()
        everything.watch()
    except Unavailable as error:
        failed = error
    finally:
        everything.down()
        shutil.rmtree(folder, ignore_errors=True)
    if failed:
        console.print(f"[red]Weir could not start:[/red] {failed}")
        return 1
    console.print("Everything has stopped.")
    return 0


def check_localhost(found: Callable[[str], str] = socket.gethostbyname) -> None:
    """Spark's driver listens at the name localhost, which a bare machine may not know."""
    try:
        found("localhost")
    except OSError:
        raise Unavailable(
            "this machine does not know the name localhost, which Spark needs; add the line "
            "'127.0.0.1 localhost' to /etc/hosts"
        ) from None


def _first(given: float | None, own: float) -> float:
    return own if given is None else given
