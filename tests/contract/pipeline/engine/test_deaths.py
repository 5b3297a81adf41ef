"""Hosts that are killed or suspended, a real engine and a real Redis: nothing is lost or doubled."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lean_host import EDGE
from tests.support.processes import start, stop, weir
from tests.support.waiting import wait_until
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.placement import operator_lease
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.local.redis_server import RedisServer

OPERATOR = "count"


class Stage:
    """Hosts by name, one engine, one store."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self.store = RedisStore.at(url)
        self.store.client.flushall()
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("a", "b"):
            self.start(name)
            wait_until(lambda: name in self.store.clusters(), 60, f"{name} reports")  # noqa: B023
        self.engine = start(weir("engine", "--redis", url), folder / "engine.log")
        wait_until(lambda: any(p.kind == "engine" for p in self.store.parts()), 120, "an engine")
        self.writing(0)

    def start(self, name: str) -> None:
        argv = [sys.executable, "-m", "tests.support.lean_host", self._url, name, OPERATOR]
        self.hosts[name] = start(argv, self._folder / f"{name}.log")

    def said(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text()

    def where(self) -> str:
        return self.store.placements()[OPERATOR].cluster

    def rows(self) -> list[int]:
        edge = EdgeStream(self.store.client, EDGE, 1)
        (end,) = edge.ends().values()
        return [n for batch in edge.read(0, 0, end) for n in batch.column("n").to_pylist()]

    def writing(self, more_than: int) -> None:
        wait_until(lambda: len(self.rows()) > more_than, 60, "rows come")

    def rescues(self) -> list[Recommendation]:
        return [r for r in self.store.recommendations() if r.kind == "rescue"]

    def close(self) -> None:
        for process in (*self.hosts.values(), self.engine):
            process.kill() if process is not self.engine else stop(process)
            process.wait()


@pytest.fixture
def stage(redis_server: RedisServer, tmp_path: Path) -> Iterator[Stage]:
    found = Stage(redis_server.url, tmp_path)
    yield found
    found.close()


def test_a_host_that_is_killed_is_rescued_and_one_that_wakes_up_is_fenced(stage: Stage) -> None:
    first = stage.where()
    stage.hosts[first].kill()
    wait_until(lambda: stage.where() != first, 60, "it is placed elsewhere")
    second = stage.where()
    stage.writing(len(stage.rows()))
    wait_until(lambda: stage.rescues()[0].status is Status.EFFECTIVE, 60, "it is judged")
    (found,) = stage.rescues()
    assert found.measured is not None
    assert found.measured.outage_s is not None
    assert [d.cluster for d in stage.store.deaths()] == [first]

    stage.start(first)
    wait_until(lambda: not stage.store.deaths(), 60, "it is back")
    assert stage.where() == second  # what was rescued stays

    os.kill(stage.hosts[second].pid, signal.SIGSTOP)
    wait_until(lambda: stage.where() == first, 60, "it is rescued again")
    stage.writing(len(stage.rows()))
    lease = stage.store.lease(operator_lease(OPERATOR))
    assert lease is not None
    os.kill(stage.hosts[second].pid, signal.SIGCONT)
    wait_until(lambda: not stage.store.deaths(), 60, "the suspended one is back")
    woke_at = time.time()
    wait_until(lambda: time.time() > woke_at + 2.0, 30, "it had time to write")
    assert stage.store.lease(operator_lease(OPERATOR)) == lease
    rows = stage.rows()
    assert rows == list(range(len(rows)))  # none lost, none twice, all in order
    assert {"cluster.died", "cluster.returned"} <= {e.action for e in stage.store.audit()}


def test_the_switch_is_off_then_a_person_decides(stage: Stage) -> None:
    stage.store.save_settings("failover", {"rescue_by_itself": False})
    first = stage.where()
    stage.hosts[first].kill()
    wait_until(stage.rescues, 60, "it is proposed")
    (found,) = stage.rescues()
    assert found.status is Status.PROPOSED
    assert stage.where() == first
