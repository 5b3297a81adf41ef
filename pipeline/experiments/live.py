"""A live system for experiments: Redis, Spark, clusters, an engine, a generator and a recorder.

It comes up once (a minute) and is shared by the parts of an experiment; what runs on it is
recorded, and the run is there to replay when the experiment has ended.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from redis.exceptions import RedisError

import weir
from weir.controllers import service
from weir.controllers.engine.ports import Workload
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.profile import Profile
from weir.controllers.model.sample import ClusterSample, Mode, OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.where import REDIS_URL
from weir.pipeline.experiments.base import Bench
from weir.pipeline.local.process import end, kill, scratch, spawn
from weir.pipeline.local.redis_server import RedisServer
from weir.pipeline.local.standalone import Standalone
from weir.pipeline.workloads.application import application

UP_S = 240.0
BY = "lab"
T = TypeVar("T")

STILL: Mapping[str, Mapping[str, Any]] = {
    "balance": {"planner": "no_op"},
    "reslice": {"planner": "no_reslice"},
    "record": {"flush_s": 5.0},
}
"""Nobody acts, unless an experiment says otherwise."""


@dataclass(frozen=True)
class LiveCluster:
    """One cluster, and what it runs at first."""

    name: str
    place: str
    executors: int = 1
    most: int = 4
    cores: int = 1


@dataclass(frozen=True)
class LivePlan:
    """What is brought up."""

    clusters: tuple[LiveCluster, ...]
    workload: str
    rows_per_s: float
    values: tuple[str, ...] = ()  # settings of the operators, key=value
    module: str = ""  # that declares the operators; empty: the workload's own
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of the engine
    period_s: float = 1.0


class LiveSystem:
    """All of it, until `close`. Hosts are not started again when they die."""

    def __init__(self, folder: Path, runs: Path, plan: LivePlan) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self._runs, self.plan = folder, runs, plan
        for name in ("tmp", "redis", "spark"):
            (folder / name).mkdir(parents=True)
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        self._others: list[subprocess.Popen[bytes]] = []
        self.source = application(plan.workload).source
        self.redis = RedisServer(folder / "redis")
        self.spark = Standalone(folder / "spark")

    def up(self, tell: Callable[[str, float], None]) -> "LiveSystem":
        """Start every part and wait until every operator commits."""
        began = time.monotonic()
        tell("Redis and Spark start", 0.0)
        self.redis.start()
        self.store = RedisStore.at(self.redis.url)
        for group, values in {**STILL, **self.plan.settings}.items():
            self.store.save_settings(group, dict(values))
        for cluster in self.plan.clusters:
            group = f"scale:{cluster.name}"
            if group not in self.plan.settings:
                self.store.save_settings(group, {"scaler": "no_op"})
        self.spark.start()
        self._others += [self._weir("engine"), self._weir("record", "--runs", self.folder / "runs")]
        for cluster in self.plan.clusters:
            self.start(cluster.name)
        self._others.append(
            self._weir("generate", "--workload", self.plan.workload, "--rate", self.plan.rows_per_s)
        )
        tell("clusters start", 0.05)
        self.settled(UP_S)
        tell(f"everything runs after {time.monotonic() - began:.0f} s", 0.1)
        return self

    def _weir(self, *args: object) -> "subprocess.Popen[bytes]":
        words = [str(a) for a in args]
        name = words[0] if words[0] != "host" else f"host-{words[1]}"
        return spawn(
            [sys.executable, "-m", "weir", *words],
            self.folder / f"{name}.log",
            # Its password is nothing for arguments, which everybody sees.
            {
                **scratch(self.folder / "tmp"),
                "PYTHONPATH": str(weir.ROOT),
                REDIS_URL: self.redis.url,
            },
        )

    def start(self, name: str) -> None:
        """Start a cluster."""
        cluster = next(c for c in self.plan.clusters if c.name == name)
        self.hosts[name] = self._weir(
            "host", name, "--master", self.spark.url, "--place", cluster.place,
            "--operators", self.plan.module or application(self.plan.workload).module,
            "--executors", cluster.executors, "--max-executors", cluster.most,
            "--cores", cluster.cores, "--period", self.plan.period_s,
            "--checkpoints", self.folder / "checkpoints",
            "--local-dir", self.folder / f"local-{name}",
            *(word for pair in self.plan.values for word in ("--set", pair)),
        )  # fmt: skip

    def kill(self, names: Sequence[str]) -> float:
        """kill -9 of drivers and their JVMs at one moment; when that was."""
        return kill([self.hosts.pop(name) for name in names])

    # -- what is so now, and what was

    def snapshot(self) -> Snapshot:
        """The present, from the store."""
        return Snapshot.of(self.store.latest(), time.time())

    def samples(self, since: float, until: float) -> dict[str, list[ClusterSample]]:
        """What every cluster has reported in that time."""
        return {c.name: list(self.store.samples(c.name, since, until)) for c in self.plan.clusters}

    def waiting_rows(self, operator: str = "") -> int:
        """Rows waiting before an operator or its slices, or before all of them."""
        return sum(
            o.queue_rows or 0 for o in self.snapshot().operators
            if not operator or operator in (o.name, o.slice_of)
        )  # fmt: skip

    def settled(self, within_s: float) -> None:
        """Wait until every operator that is placed runs and has committed."""
        places = [p for c in self.plan.clusters for p in c.place.split(",") if p]

        def all_commit() -> bool:
            found = {o.name: o for o in self.snapshot().operators}
            return all(n in found and found[n].status == "running" and found[n].batch_id is not None
                       for n in places)  # fmt: skip

        self.until(all_commit, within_s, "every operator commits")

    def until(self, ready: Callable[[], T], within_s: float, what: str) -> T:
        """Wait for a true value; a sentence if it does not come or the system has died."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                if found := ready():
                    return found
            except (RedisError, OSError, LookupError):
                pass
            dead = [n for n, p in self.hosts.items() if p.poll() is not None]
            if dead or any(p.poll() is not None for p in self._others):
                raise Unavailable(f"{', '.join(dead) or 'a part'} died; logs in {self.folder}")
            time.sleep(0.1)
        raise Unavailable(f"not within {within_s:.0f} s: {what}")

    # -- steering

    def rate(
        self, rows_per_s: float, profile: Profile | None = None, skew: float | None = None
    ) -> None:
        """What the generator sends from now on; 0 stops it."""
        self.store.set_workload(
            Workload(
                name=self.source.edge, rows_per_s=rows_per_s, paused=rows_per_s <= 0,
                profile=profile or Profile(), skew=skew,
            )
        )  # fmt: skip

    def mode(self, mode: Mode) -> None:
        """The same mode for every cluster."""
        for cluster in self.plan.clusters:
            asked = service.Request(by=BY, at=time.time(), comment="an experiment")
            service.set_mode(self.store, asked, cluster.name, mode)

    # -- the run, and down

    def run_id(self) -> str:
        """The run that is being recorded; it is among the runs once the system is closed."""

        def there() -> str:
            return next(
                (m.parent.name for m in (self.folder / "runs").glob("live-*/meta.json")), ""
            )

        return self.until(there, 60, "a run is being recorded")

    def close(self) -> None:
        """Stop every part, and put the run where the others are."""
        for process in reversed(self._others):
            end(process)
        for process in self.hosts.values():
            process.terminate()
        for process in self.hosts.values():
            end(process)
        self.spark.stop()
        self.redis.stop()
        for run in (self.folder / "runs").glob("live-*"):
            if not (self._runs / run.name).exists():
                self._runs.mkdir(parents=True, exist_ok=True)
                shutil.move(run, self._runs / run.name)
        shutil.rmtree(self.folder, ignore_errors=True)


def live_system(bench: Bench, plan: LivePlan) -> LiveSystem:
    """The experiment's system, brought up by the part that needs it first."""
    if "live" not in bench.shared:
        system = LiveSystem((bench.folder / "live").resolve(), bench.runs.resolve(), plan)
        bench.open.callback(system.close)
        bench.shared["live"] = system.up(bench.tell)
    found: LiveSystem = bench.shared["live"]
    return found


# -- figures of a stretch of time


def rows_out(samples: Mapping[str, Sequence[ClusterSample]], names: Sequence[str]) -> int:
    """Rows that these operators, or slices of them, have committed."""
    return sum(
        o.rows for found in samples.values() for s in found for o in s.operators
        if (o.slice_of or o.name) in names
    )  # fmt: skip


def busy_shares(samples: Mapping[str, Sequence[ClusterSample]]) -> dict[str, float | None]:
    """The mean share of each cluster's cores that was busy."""
    return {
        name: fmean(s.cluster.busy_share for s in found) if found else None
        for name, found in samples.items()
    }


def over_time(
    samples: Mapping[str, Sequence[ClusterSample]],
    began: float,
    ended: float,
    bucket_s: float,
    value: Callable[[Sequence[ClusterSample]], float | None],
) -> list[float | None]:
    """A figure of every stretch of `bucket_s`; None where nothing was reported."""
    count = max(1, int((ended - began) // bucket_s))
    buckets: list[list[ClusterSample]] = [[] for _ in range(count)]
    for found in samples.values():
        for sample in found:
            at = int((sample.at - began) // bucket_s)
            if 0 <= at < count:
                buckets[at].append(sample)
    return [value(b) if b else None for b in buckets]


def operators_of(samples: Sequence[ClusterSample], name: str) -> list[OperatorSample]:
    """What was reported of one operator, or of its slices."""
    return [o for s in samples for o in s.operators if name in (o.name, o.slice_of)]
