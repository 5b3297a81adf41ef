"""What the README shows: attach a job of one's own, host operators of one's own."""

import time
import uuid
from pathlib import Path

from tests.support.system import System, running
from tests.support.waiting import wait_until
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.model.command import Command, ScaleTo

PLACE = 2


def test_a_job_is_watched_with_one_line_and_leaves_no_trace(system: System, tmp_path: Path) -> None:
    job = ("examples/attach_job.py", "--redis", system.redis_url, "--seconds", "600")
    with running(tmp_path / "job.log", *job):
        found = wait_until(
            lambda: (o := system.snapshot().operator("orders_by_customer")) and o.batch_id and o,
            180,
            "the job's query is there",
        )
        assert found.cluster == "orders"
        cluster = system.snapshot().cluster("orders")
        assert not cluster.hosted
        assert cluster.declared is None
        assert not cluster.can_scale
        assert "local master" in cluster.message
        fast = wait_until(
            lambda: (o := system.operator("orders_by_customer")).processed_rows_per_s > 100 and o,
            30,
            "its rate",
        )
        assert fast.stateful
        assert any(p.id == "agent:orders" for p in system.store.parts())
    wait_until(
        lambda: all(p.id != "agent:orders" for p in system.store.parts()), 15, "its part has gone"
    )
    system.store.forget("orders", AuditEntry(at=time.time(), by="test", action="cluster.forgotten"))


def an_executor_that_never_comes_is_noticed(system: System) -> None:
    """More than the cluster manager can grant: three facts, said in words, asked for again."""
    now = time.time()
    system.store.submit(
        Command(
            id=uuid.uuid4().hex, cluster="mine", action=ScaleTo(executors=2),
            issued_at=now, expires_at=now + 60, by="test",
        )
    )  # fmt: skip
    wait_until(
        lambda: "1 of 2 executors has not come" in system.snapshot().cluster("mine").message,
        90,
        "the missing executor is named",
    )
    mine = system.snapshot().cluster("mine")
    assert (mine.executors_wanted, mine.executors_granted, mine.executors) == (2, 1, 1)
    assert "asked again" in mine.message


def test_a_hosts_good_operators_run_beside_broken_ones(system: System, tmp_path: Path) -> None:
    host = (
        "-m", "weir", "host", "mine", "--master", system.master, "--redis", system.redis_url,
        "--operators", "tests.support.broken_operators", "--period", "2",
        "--place", "sensor_minutes,raises,unreachable",
        "--cores", "6", "--max-executors", "2",  # the worker has room for one of them
        "--checkpoints", str(tmp_path / "checkpoints"), "--local-dir", str(tmp_path / "local"),
    )  # fmt: skip
    with running(tmp_path / "host.log", *host):
        wait_until(lambda: system.operator("sensor_minutes").batch_id, 180, "the good one runs")
        assert system.operator("sensor_minutes").status == "running"
        wait_until(
            lambda: system.operator("sensor_minutes").latency_p50_s is not None, 30, "its latency"
        )
        raises = system.operator("raises")
        assert raises.status == "failed"
        assert "operator 'raises': its builder failed: no such topic" in raises.message
        assert raises.restarts >= 1
        unreachable = system.operator("unreachable")
        assert unreachable.status == "failed"
        assert "cannot be written" in unreachable.message
        assert "next try in" in unreachable.message
        log = (tmp_path / "host.log").read_text()
        assert "operator 'sensor_minutes': the name is used twice" in log
        an_executor_that_never_comes_is_noticed(system)
    system.store.forget("mine", AuditEntry(at=time.time(), by="test", action="cluster.forgotten"))
