"""Three clusters on one Spark, each a process that may be killed or suspended, and one engine."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.made import topic_counts
from tests.support.processes import start, stop, weir
from tests.support.waiting import wait_until
from weir.controllers.engine.ports import Workload
from weir.controllers.model.sample import OperatorStatus
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.redis_store import RedisStore, connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.local.process import kill, scratch
from weir.pipeline.local.redis_server import RedisServer
from weir.pipeline.local.standalone import Standalone
from weir.pipeline.workloads.top_n import SHARDS, TWEETS, counted

PLACE = {"a": "extractor", "b": "topic_count", "c": "top_n"}
HOST = (
    "--executors", 1, "--max-executors", 2, "--cores", 2, "--period", 1,
    "--set", "top_n_trigger_s=2", "--set", "trigger_s=1",
)  # fmt: skip


class Fleet:
    """Redis, Spark, an engine, a generator, and a host per cluster that nobody restarts.

    `host` is how each is started. Without a rate there is no generator, and whoever asked for
    it waits for its operators itself.
    """

    def __init__(
        self,
        folder: Path,
        place: Mapping[str, str] = PLACE,
        rate: float | None = 100.0,
        host: Sequence[object] = HOST,
    ) -> None:
        self.folder = folder
        self._place = place
        self._host = host
        (folder / "tmp").mkdir(parents=True)
        self.redis = RedisServer(folder / "redis")
        self.redis.folder.mkdir(exist_ok=True)
        self.redis.start()
        self.store = RedisStore.at(self.redis.url)
        self.store.save_settings("failover", {"most_rescues": 0})
        for name in place:
            self.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        self.store.save_settings("balance", {"planner": "no_op"})
        (folder / "spark").mkdir()
        self.spark = Standalone(folder / "spark").start()
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        for name in place:
            self.start(name)
        self._others = [self._start("engine")]
        if rate is None:
            for name in place:
                self.alive(name, 240)
        else:
            self._others.append(self._start("generate", "--rate", rate))
            self.settled(240)

    def _start(self, *args: object) -> "subprocess.Popen[bytes]":
        log = self.folder / f"{args[0]}-{args[1] if args[0] == 'host' else ''}.log"
        return start(
            weir(*args, "--redis", self.redis.url), log, scratch(self.folder / "tmp"),
            start_new_session=True,
        )  # fmt: skip

    def start(self, name: str) -> None:
        """Start a cluster."""
        self.hosts[name] = self._start(
            "host", name, "--master", self.spark.url, "--place", self._place[name],
            "--checkpoints", self.folder / "checkpoints",
            "--local-dir", self.folder / f"local-{name}", *self._host,
        )  # fmt: skip

    def kill(self, *names: str) -> float:
        """kill -9 of driver and JVM; when that was."""
        return kill([self.hosts.pop(name) for name in names])

    def suspend(self, name: str) -> None:
        """Neither driver nor JVM get any time."""
        os.killpg(self.hosts[name].pid, signal.SIGSTOP)

    def wake(self, name: str) -> None:
        """They go on where they were."""
        os.killpg(self.hosts[name].pid, signal.SIGCONT)

    def snapshot(self) -> Snapshot:
        """The present."""
        return Snapshot.of(self.store.latest(), time.time())

    def settled(self, within_s: float = 120.0) -> None:
        """Wait until every operator commits in a host that lives."""

        def all_commit() -> bool:
            now = time.time()
            found = {o.name: o for o in self.snapshot().operators}
            return len(found) == len(self._place) and all(
                o.status is OperatorStatus.RUNNING
                and o.cluster in self.hosts
                and now - (o.batch_at or 0.0) < 10.0
                for o in found.values()
            )

        wait_until(all_commit, within_s, "every operator commits")

    def alive(self, name: str, within_s: float = 120.0) -> None:
        """Wait until a cluster reports and is not dead."""
        wait_until(
            lambda: (
                not self.snapshot().stale(name)
                and name not in {d.cluster for d in self.store.deaths()}
            ),
            within_s,
            f"{name} is back",
        )

    def counts(self) -> tuple[int, bool]:
        """Stop the input and let the pipeline run dry: rows generated, and whether all were
        counted exactly once."""
        self.store.set_workload(Workload(name="tweets", rows_per_s=0.0, paused=True))
        with connect(self.redis.url) as client:
            edge = EdgeStream(client, TWEETS, SHARDS)
            last = -1

            def at_rest() -> bool:
                nonlocal last
                before, last = last, edge.totals()[0]
                time.sleep(1.0)  # rows come several times a second
                return before == last

            wait_until(at_rest, 60, "the input has stopped")
        wait_until(lambda: sum(counted(self.redis.url).values()) >= last, 180, "all is counted")
        return last, counted(self.redis.url) == topic_counts(last)

    def close(self) -> None:
        """Stop everything."""
        for process in (*self._others, *self.hosts.values()):
            with_group = process.poll() is None
            stop(process)
            if with_group:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        self.spark.stop()
        self.redis.stop()
