"""kill -9 of a real `weir engine` at every step of every kind of action, on a real Redis.

Agent and hosts are played here and can be held, so that each kill meets the step it is meant
for; where only the engine's own next look would end a step, the process is stopped first. Then
another engine goes on: nothing may be lost, done twice, or stuck.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.support import people
from tests.support.feeder import Feeder, Hosts
from tests.support.models import ClusterModel, OperatorModel, demo
from tests.support.processes import start, weir
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveStep
from weir.controllers.engine.audit import first_break
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status
from weir.controllers.model.command import CommandStatus, ScaleTo
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.placement import LEADER, cluster_lease
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.agent.commands import CommandRunner
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

HOLDER = "agent/1"
FOREVER_S = 1e9
DONE = (Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)


class Agent:
    """Carries out what reaches cluster wide; can be away, or take its time."""

    def __init__(self, store: RedisStore, model: ClusterModel) -> None:
        self.done: list[int] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self._store, self.model = store, model
        self.come()
        self._runner = CommandRunner(store, "wide", HOLDER, {ScaleTo: self._scale}, poll_s=0.1)
        self._runner.start()

    def come(self) -> None:
        self._lease = self._store.acquire(cluster_lease("wide"), HOLDER, 3600.0)

    def leave(self) -> None:
        assert self._lease is not None
        self._store.release(self._lease)

    def end(self) -> None:
        self.go_on.set()
        self._runner.close()

    def _scale(self, action: ScaleTo, report: Callable[[float, str], None]) -> str:
        assert self.go_on.wait(120)
        self.done.append(action.executors)
        self.model.executors = action.executors
        return f"{action.executors} are there"


class Movers(Hosts):
    """Hosts that count who has arrived where, and can be held."""

    def __init__(self, feeder: Feeder) -> None:
        super().__init__(feeder.store, feeder.models)
        self.arrived: list[tuple[str, str]] = []

    def hold(self, *, releasing: bool = False, adopting: bool = False) -> None:
        self.LOOK_EVERY_S = FOREVER_S if releasing else Hosts.LOOK_EVERY_S
        self.PAUSE_S = FOREVER_S if adopting else 0.3

    def _resume(
        self, model: ClusterModel, operator: OperatorModel, since: float, now: float
    ) -> None:
        self.arrived.append((operator.name, model.name))
        super()._resume(model, operator, since, now)


class Engines:
    """Two processes, one of which leads; one that is killed is replaced."""

    def __init__(self, url: str, store: RedisStore) -> None:
        self._argv = weir("engine", "--redis", url)
        self._store = store
        self._stopped: subprocess.Popen[bytes] | None = None
        self._processes = [self._new(), self._new()]
        wait_until(lambda: len(store.parts()) >= 2, 120, "both engines are there")

    def stop_leader(self) -> None:
        """Stop it where it is, to be killed there."""
        self._stopped = self._leader()
        os.kill(self._stopped.pid, signal.SIGSTOP)

    def kill_leader(self) -> None:
        """kill -9, and start another one."""
        leader = self._stopped or self._leader()
        self._stopped = None
        leader.kill()
        leader.wait()
        self._processes[self._processes.index(leader)] = self._new()

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _leader(self) -> subprocess.Popen[bytes]:
        wait_until(lambda: self._leading() is not None, 60, "one leads")
        pid = self._leading()
        return next(p for p in self._processes if p.pid == pid)

    def _leading(self) -> int | None:
        lease = self._store.lease(LEADER)
        part = f"engine:{lease.holder.split('/')[1]}" if lease else ""
        return next((p.pid for p in self._store.parts() if p.id == part), None)

    def _new(self) -> subprocess.Popen[bytes]:
        return start(self._argv)


class Stage:
    """Redis, two clusters, and engines that die."""

    def __init__(self, url: str) -> None:
        self.store = RedisStore.at(url)
        self.store.client.flushall()
        self.store.save_settings("engine", {"settle_s": 2.0})
        self.store.save_settings("balance", {"planner": "no_op"})
        for name in ("wide", "narrow"):
            self.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        self.feeder = Feeder(url, demo(), period_s=0.5, rate_rows_per_s=300, wave=0.0, obeys=True)
        self.hosts = self.feeder._hosts = Movers(self.feeder)
        self.hosts.hold()
        wide = next(m for m in self.feeder.models if m.name == "wide")
        wide.most = 12  # every test leaves it one larger
        self.agent = Agent(self.store, wide)
        self.feeder.start(parts=False)
        self.engines = Engines(url, self.store)
        wait_until(lambda: self.store.clusters() == ["narrow", "wide"], 30, "clusters report")
        wait_until(lambda: len(self.store.placements()) == 3, 30, "operators are placed")

    def end(self) -> None:
        self.engines.end()
        self.agent.end()
        self.feeder.stop()

    def status(self, id: str) -> Status:
        found = self.store.recommendation(id)
        assert found is not None
        return found.status

    def command(self, id: str) -> CommandStatus | None:
        told = self.store.command(id)
        return told[1].status if told else None

    def step(self, id: str) -> MoveStep | None:
        found = next((r for r in self.store.rebalances() if r.id == id), None)
        return found.moves[0].step if found else None

    def until(self, condition: Callable[[], object], what: str) -> None:
        wait_until(condition, 90, what)


Ask = Callable[[], Recommendation]


def approved(stage: Stage, ask: Ask) -> str:
    """Killed before it has seen that something was approved."""
    stage.engines.stop_leader()
    found = ask()
    stage.engines.kill_leader()
    assert stage.status(found.id) is Status.APPROVED
    return found.id


def given(stage: Stage, ask: Ask) -> str:
    """Killed when the command is given and nobody has taken it."""
    stage.agent.leave()
    found = ask()
    stage.until(lambda: stage.command(found.id) is CommandStatus.PENDING, "it is given")
    stage.engines.kill_leader()
    assert stage.command(found.id) is CommandStatus.PENDING
    stage.agent.come()
    return found.id


def running(stage: Stage, ask: Ask) -> str:
    """Killed while the agent is at work."""
    stage.agent.go_on.clear()
    found = ask()
    stage.until(lambda: stage.command(found.id) is CommandStatus.RUNNING, "it runs")
    stage.engines.kill_leader()
    stage.agent.go_on.set()
    return found.id


def reported(stage: Stage, ask: Ask) -> str:
    """Killed when the agent is done and the engine has not seen it."""
    stage.agent.go_on.clear()
    found = ask()
    stage.until(lambda: stage.command(found.id) is CommandStatus.RUNNING, "it runs")
    stage.engines.stop_leader()
    stage.agent.go_on.set()
    stage.until(lambda: stage.command(found.id) is CommandStatus.DONE, "it is done")
    stage.engines.kill_leader()
    assert stage.status(found.id) is Status.APPLYING
    return found.id


def releasing(stage: Stage, ask: Ask) -> str:
    """Killed while the old host still has the operator."""
    stage.hosts.hold(releasing=True)
    found = ask()
    stage.until(lambda: stage.step(found.id) is MoveStep.RELEASING, "it is to let go")
    stage.engines.kill_leader()
    assert stage.step(found.id) is MoveStep.RELEASING
    stage.hosts.hold()
    return found.id


def adopting(stage: Stage, ask: Ask) -> str:
    """Killed while the operator is nowhere."""
    stage.hosts.hold(adopting=True)
    found = ask()
    stage.until(lambda: stage.step(found.id) is MoveStep.ADOPTING, "it is on its way")
    stage.engines.kill_leader()
    stage.hosts.hold()
    return found.id


def arrived(stage: Stage, ask: Ask) -> str:
    """Killed when the operator has arrived and the engine has not seen it."""
    stage.hosts.hold(adopting=True)
    before = len(stage.hosts.arrived)
    found = ask()
    stage.until(lambda: stage.step(found.id) is MoveStep.ADOPTING, "it is on its way")
    stage.engines.stop_leader()
    stage.hosts.hold()
    stage.until(lambda: len(stage.hosts.arrived) > before, "it is there")
    stage.engines.kill_leader()
    assert stage.step(found.id) is MoveStep.ADOPTING
    return found.id


def applied(stage: Stage, ask: Ask) -> str:
    """Killed before it is judged."""
    found = ask()
    stage.until(lambda: stage.status(found.id) is Status.APPLIED, "it is applied")
    stage.engines.kill_leader()
    assert stage.status(found.id) is Status.APPLIED
    return found.id


@pytest.fixture(scope="module")
def stage(redis_server: RedisServer) -> Iterator[Stage]:
    found = Stage(redis_server.url)
    yield found
    found.end()


def ended(stage: Stage, id: str) -> None:
    """It is at its end, went every way once, and left nothing open."""
    stage.until(lambda: stage.status(id) in DONE, "another engine ends it")
    trail = [e.action for e in stage.store.audit_since(0) if e.subject == id]
    assert trail[:-1] == [
        f"recommendation.{s}" for s in ("proposed", "approved", "applying", "applied")
    ]
    assert first_break(stage.store.audit_since(0)) is None
    for other in stage.store.recommendations():
        if other.status is Status.PROPOSED and other.by == ENGINE:  # a rollback, as advice
            people.reject(stage.store, other.id, by="ada", now=time.time())
    assert all(r.status.final for r in stage.store.recommendations())


def scaled(stage: Stage, executors: int) -> Ask:
    def ask() -> Recommendation:
        now = time.time()
        decision = scale_by_hand(Snapshot.of(stage.store.latest(), now), "wide", executors)
        return people.propose_by_hand(stage.store, decision, by="ada", now=now)

    return ask


def moved(stage: Stage, source: str, target: str) -> Ask:
    def ask() -> Recommendation:
        moves = (Move(operator="top_n", source=source, target=target),)
        decision = Moves(moves=moves, reason=Reason(text="Chosen by hand."))
        return people.propose_by_hand(stage.store, decision, by="ada", now=time.time())

    return ask


def taken_back(stage: Stage, id: str) -> Ask:
    return lambda: people.rollback(stage.store, id, by="ada", now=time.time())


def reports(stage: Stage, executors: int) -> None:
    """The clusters' figures have the new number."""

    def seen() -> bool:
        found = Snapshot.of(stage.store.latest(), time.time()).cluster("wide")
        return found is not None and found.executors == executors

    stage.until(seen, f"{executors} are reported")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kill", [approved, given, running, reported, applied])
def test_scaling_out_and_in_and_back(stage: Stage, kill: Callable[[Stage, Ask], str]) -> None:
    before, few = len(stage.agent.done), stage.agent.model.executors
    out = kill(stage, scaled(stage, few + 1))
    ended(stage, out)
    reports(stage, few + 1)
    in_ = kill(stage, scaled(stage, few))
    ended(stage, in_)
    reports(stage, few)
    back = kill(stage, taken_back(stage, in_))
    ended(stage, back)
    reports(stage, few + 1)
    assert stage.agent.done[before:] == [few + 1, few, few + 1]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kill", [approved, releasing, adopting, arrived, applied])
def test_moving_and_moving_back(stage: Stage, kill: Callable[[Stage, Ask], str]) -> None:
    before = list(stage.hosts.arrived)
    there = kill(stage, moved(stage, "narrow", "wide"))
    ended(stage, there)
    back = kill(stage, taken_back(stage, there))
    ended(stage, back)
    assert stage.hosts.arrived[len(before) :] == [("top_n", "wide"), ("top_n", "narrow")]
    assert stage.store.placements()["top_n"].cluster == "narrow"
    homes = {o.name: m.name for m in stage.feeder.models for o in m.operators}
    assert homes == {"extractor": "wide", "topic_count": "narrow", "top_n": "narrow"}
