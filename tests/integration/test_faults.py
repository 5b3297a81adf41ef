"""Kill any one process: it is noticed, it comes back, nothing else dies, counts stay exact."""

import os
import signal
import time
from pathlib import Path

import psutil

from tests.support.made import topic_counts
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import list_runs
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.workloads.top_n import SHARDS, TWEETS, counted

PLACE = 7


def kill(processes: list[psutil.Process]) -> None:
    """kill -9 of the first."""
    os.kill(processes[0].pid, signal.SIGKILL)


def commits(system: System) -> dict[str, int]:
    return {o.name: o.batch_id for o in system.snapshot().operators if o.batch_id is not None}


def test_the_engine(system: System) -> None:
    others = {p.pid for p in system.children("host")}
    before = {p.id for p in system.store.parts() if p.kind == "engine"}
    kill(system.children("engine"))
    wait_until(
        lambda: (
            {p.id for p in system.store.parts() if p.kind == "engine" and time.time() - p.at < 2}
            - before
        ),
        30,
        "another engine leads",
    )
    led_at = time.time()
    wait_until(
        lambda: all(view.at > led_at for view in system.store.scale_outlooks().values()),
        60,
        "the scalers are asked again",
    )
    assert {p.pid for p in system.children("host")} == others


def test_a_web_worker(system: System) -> None:
    masters = [p for p in system.children("gunicorn") if p.parent().pid == system.process.pid]
    workers = masters[0].children()
    os.kill(workers[0].pid, signal.SIGKILL)
    wait_until(lambda: len(masters[0].children()) == len(workers), 20, "a new worker")
    for _ in range(10):
        assert system.get("/api/v1/snapshot")["clusters"]


def test_redis(system: System) -> None:
    hosts = {p.pid for p in system.children("host")}
    before = wait_until(lambda: commits(system), 20, "batches")
    everything = psutil.Process(system.process.pid).children()
    kill([p for p in everything if p.name() == "redis-server"])
    wait_until(
        lambda: all(commits(system)[name] > before[name] for name in before),
        90,
        "every operator commits again",
    )
    assert {p.pid for p in system.children("host")} == hosts
    wait_until(lambda: system.health()["status"] == "ok", 60, "all parts are up")


def test_an_executor(system: System) -> None:
    lost = system.snapshot().cluster("narrow").executors_lost
    executors = [
        p
        for p in system.children("org.apache.spark.executor.CoarseGrainedExecutorBackend")
        if system.snapshot().cluster("narrow").app_id in p.cmdline()
    ]
    kill(executors)
    wait_until(
        lambda: system.snapshot().cluster("narrow").executors_lost > lost, 30, "the loss is counted"
    )
    wait_until(lambda: system.snapshot().cluster("narrow").executors == 1, 60, "it is replaced")
    before = commits(system)["topic_count"]
    wait_until(lambda: commits(system)["topic_count"] > before, 90, "batches go on")


def test_the_jvm_of_a_driver(system: System) -> None:
    """Its host does not stay behind with the leases, as if all were well."""
    narrow = next(p for p in system.children("host") if "narrow" in p.cmdline())
    before = commits(system)["topic_count"]
    app = system.snapshot().cluster("narrow").app_id
    kill([p for p in narrow.children() if p.name() == "java"])
    wait_until(lambda: not narrow.is_running() or narrow.status() == "zombie", 10, "it ends too")
    wait_until(
        lambda: (found := system.snapshot().cluster("narrow")).app_id != app and found.executors,
        120,
        "it is back, as a new application",
    )
    wait_until(lambda: commits(system)["topic_count"] > before, 90, "batches go on")


def test_counts_at_rest_are_exact_after_all_that(system: System) -> None:
    system.rate(paused=True)
    wait_until(system.drained, 180, "the pipeline is drained")
    with connect(system.redis_url) as client:
        generated = EdgeStream(client, TWEETS, SHARDS).totals()[0]
    assert generated > 10_000
    wait_until(
        lambda: sum(counted(system.redis_url).values()) >= generated, 60, "the ranking is complete"
    )
    assert counted(system.redis_url) == topic_counts(generated)


def test_the_run_was_recorded(system: System) -> None:
    """Every sample that is in Redis stands in the run, and nothing twice."""
    now = time.time()
    (info,) = wait_until(
        lambda: (found := list_runs(system.runs)) and found[0].last_at >= now and found,
        90,
        "all until now is on disk",
    )
    kept = {(s.cluster.name, s.at): s for s in read_samples(system.runs / info.id)}
    recorded = read_samples(system.runs / info.id, now - 120, now)
    assert len(recorded) == len({(s.cluster.name, s.at) for s in recorded}) > 50
    for cluster in ("wide", "narrow"):
        for sample in system.store.samples(cluster, now - 120, now - 1):
            assert kept[cluster, sample.at] == sample


def test_ctrl_c_stops_everything_and_leaves_nothing(system: System) -> None:
    processes = psutil.Process(system.process.pid).children(recursive=True)
    unpacked = [
        Path(mapped.path)
        for process in processes
        if process.name() == "java"
        for mapped in process.memory_maps()
        if Path(mapped.path).name.startswith(("liblz4", "librocksdb"))
    ]
    assert unpacked
    assert all(system.scratch in path.parents for path in unpacked), "outside of its own folder"
    assert system.stop() == 0
    _gone, alive = psutil.wait_procs(processes, timeout=60)
    assert not alive
    assert "Everything has stopped." in system.log_file.read_text()
    assert not list(system.scratch.iterdir())
