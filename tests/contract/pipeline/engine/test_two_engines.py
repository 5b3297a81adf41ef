"""Two real engines on a real Redis: one is stopped or killed while it acts, nothing happens twice."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.support import people
from tests.support.feeder import Feeder
from tests.support.models import demo
from tests.support.processes import start, stop, weir
from tests.support.waiting import wait_until
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.command import ScaleTo
from weir.controllers.model.placement import LEADER, cluster_lease
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.agent.commands import CommandRunner
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

HOLDER = "agent/1"


class Agent:
    """Carries out what reaches cluster wide, and counts."""

    def __init__(self, store: RedisStore, feeder: Feeder) -> None:
        self.done: list[int] = []
        self.go_on = threading.Event()
        self._model = next(m for m in feeder.models if m.name == "wide")
        store.acquire(cluster_lease("wide"), HOLDER, 3600.0)
        self.runner = CommandRunner(store, "wide", HOLDER, {ScaleTo: self._scale}, poll_s=0.1)
        self.runner.start()

    def _scale(self, action: ScaleTo, report: Callable[[float, str], None]) -> str:
        assert self.go_on.wait(240)
        self.done.append(action.executors)
        self._model.executors = action.executors
        return f"{action.executors} are there"


class Engines:
    """Two processes, one of which leads."""

    def __init__(self, url: str, store: RedisStore) -> None:
        self._store = store
        self.processes = [start(weir("engine", "--redis", url)) for _ in range(2)]
        wait_until(lambda: len(self._engines()) == 2, 120, "both engines are there")

    def leader(self) -> subprocess.Popen[bytes]:
        wait_until(lambda: self._leading() is not None, 30, "one leads")
        pid = self._leading()
        return next(p for p in self.processes if p.pid == pid)

    def awake(self, pid: int, since: float) -> None:
        """Wait for signs of life of this one, three beats after it may go on."""
        at = lambda: max((p.at for p in self._store.parts() if p.pid == pid), default=0.0)  # noqa: E731
        wait_until(lambda: at() > since + 2.0, 60, "it is awake")

    def end(self) -> None:
        for process in self.processes:
            stop(process)

    def _engines(self) -> list[int]:
        return [p.pid for p in self._store.parts() if p.kind == "engine"]

    def _leading(self) -> int | None:
        lease = self._store.lease(LEADER)
        if lease is None:
            return None
        part = f"engine:{lease.holder.split('/')[1]}"
        return next((p.pid for p in self._store.parts() if p.id == part), None)


@pytest.fixture
def stage(redis_server: RedisServer) -> Iterator[tuple[RedisStore, Agent, Engines]]:
    store = RedisStore.at(redis_server.url)
    store.client.flushall()
    store.save_settings("engine", {"settle_s": 3.0})
    for name in ("wide", "narrow"):
        store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    feeder = Feeder(redis_server.url, demo(), period_s=0.5, rate_rows_per_s=300, wave=0.0)
    feeder.start(parts=False)
    agent = Agent(store, feeder)
    engines = Engines(redis_server.url, store)
    yield store, agent, engines
    engines.end()
    agent.runner.close()
    feeder.stop()


def asked(store: RedisStore, executors: int) -> Recommendation:
    now = time.time()
    snapshot = Snapshot.of(store.latest(), now)
    return people.propose_by_hand(
        store, scale_by_hand(snapshot, "wide", executors), by="ada", now=now
    )


def status(store: RedisStore, found: Recommendation) -> Status:
    kept = store.recommendation(found.id)
    assert kept is not None
    return kept.status


def test_a_leader_that_is_stopped_or_killed_does_nothing_twice(
    stage: tuple[RedisStore, Agent, Engines],
) -> None:
    store, agent, engines = stage
    wait_until(lambda: store.clusters() == ["narrow", "wide"], 30, "clusters report")
    done = (Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)

    for executors, until in ((4, Status.APPROVED), (5, Status.APPLYING), (4, Status.APPLIED)):
        leader = engines.leader()
        before = len(agent.done)
        agent.go_on.clear()
        found = asked(store, executors)
        order = (Status.APPROVED, Status.APPLYING, Status.APPLIED, *done)
        passed = order[order.index(until) :]
        if until is Status.APPLIED:
            agent.go_on.set()
        wait_until(lambda: status(store, found) in passed, 60, f"it is {until}")  # noqa: B023
        os.kill(leader.pid, signal.SIGSTOP)
        agent.go_on.set()
        try:
            wait_until(lambda: status(store, found) in done, 90, "the other one ends it")  # noqa: B023
        finally:
            os.kill(leader.pid, signal.SIGCONT)
        engines.awake(leader.pid, time.time())  # and has gone on where it was
        assert agent.done[before:] == [executors]
        assert status(store, found) in done

    leader = engines.leader()
    agent.go_on.set()
    found = asked(store, 2)
    leader.kill()
    leader.wait()
    wait_until(lambda: status(store, found) in done, 90, "the other one ends it")
    assert agent.done[-1] == 2
    assert agent.done == [4, 5, 4, 2]
    assert all(r.status.final for r in store.recommendations() if r.by == "ada")
    assert first_break(store.audit_since(0)) is None
