"""One operator in a host: a query that ends late keeps its lease, and only its own waits."""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from tests.unit.pipeline.hosts.queries import Fake
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import OperatorStatus
from weir.metrics.store.memory_store import MemoryStore
from weir.pipeline.hosts.operator import Operator
from weir.pipeline.hosts.runner import HALT_S, Runner


class Place:
    """A host without Spark: its runners, stepped and renewed by turns."""

    def __init__(self, world: "World", name: str) -> None:
        self._world = world
        self.name = name
        self.runners: dict[str, Runner] = {}

    def declare(self, operator: Operator) -> Runner:
        world = self._world
        self.runners[operator.name] = Runner(
            operator, MagicMock(), world.store, f"app-{self.name}/1", "redis://", Path("/tmp"),
            clock=lambda: world.now,
        )  # fmt: skip
        return self.runners[operator.name]


class World:
    """Two hosts, one store, one clock; `wanted` says where each operator is placed."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.store = MemoryStore(clock=lambda: self.now)
        self.a, self.b = Place(self, "a"), Place(self, "b")
        self.wanted: dict[str, str] = {}

    def run(self, seconds: float, check: Callable[[], None] = lambda: None) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += 0.5
            for place in (self.a, self.b):
                for name, runner in place.runners.items():
                    runner.renew()
                    runner.step(self.wanted.get(name) == place.name)
            check()


@pytest.fixture
def world() -> World:
    return World()


def test_a_batch_longer_than_a_lease_runs_in_one_place_only(world: World) -> None:
    assert FailoverSettings().lease_s < 18.0
    x = Fake("x", lambda: world.now, batch_s=20.0)
    y = Fake("y", lambda: world.now)
    for place in (world.a, world.b):
        place.declare(x)
    world.a.declare(y)
    world.wanted = {"x": "a", "y": "a"}
    world.run(3.0)
    world.wanted["x"] = "b"

    def one_writes() -> None:
        assert sum(q.writes for q in x.queries) <= 1

    world.run(18.0, one_writes)
    assert [q.writes for q in x.queries] == [True]
    assert world.store.lease(operator_lease("x")).holder == "app-a/1"
    assert world.b.runners["x"].status is OperatorStatus.WAITING
    world.run(4.0, one_writes)
    assert [q.writes for q in x.queries] == [False, True]
    assert world.a.runners["x"].status is OperatorStatus.STOPPED
    assert world.store.lease(operator_lease("x")).holder == "app-b/1"
    assert (len(y.queries), world.a.runners["y"].restarts) == (1, 0)
    assert world.a.runners["y"].status is OperatorStatus.RUNNING


def test_what_does_not_reach_a_batch_boundary_is_stopped_before_its_lease_goes(
    world: World,
) -> None:
    x = Fake("x", lambda: world.now, batch_s=1e9)
    for place in (world.a, world.b):
        place.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    world.wanted = {"x": "b"}
    world.run(HALT_S - 1.0)
    assert [q.writes for q in x.queries] == [True]
    world.run(3.0)
    assert [q.stopped for q in x.queries] == [True, False]


def test_a_query_that_cannot_be_stopped_keeps_its_lease(world: World) -> None:
    def refuse() -> None:
        raise RuntimeError("it does not react")

    x = Fake("x", lambda: world.now, batch_s=1e9)
    runner = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    x.queries[0].stop = refuse
    world.wanted = {}
    world.run(HALT_S + 60.0)
    assert world.store.lease(operator_lease("x")).holder == "app-a/1"
    del x.queries[0].stop
    world.run(1.0)
    assert runner.status is OperatorStatus.STOPPED
    assert world.store.lease(operator_lease("x")) is None


def test_without_its_lease_a_query_does_not_finish_its_batch(world: World) -> None:
    x = Fake("x", lambda: world.now, batch_s=20.0)
    runner = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    world.store.release(world.store.lease(operator_lease("x")))
    world.run(0.5)
    assert (x.queries[0].stopped, runner.message) == (True, "its lease had run out")
    world.run(1.0)
    assert runner.status is OperatorStatus.RUNNING
    world.store.renew = world.store.acquire = MagicMock(side_effect=OSError)
    world.run(FailoverSettings().alone_s + 1.0)
    assert [q.stopped for q in x.queries] == [True, True]
    assert "until Redis is back" in runner.message


def test_a_store_that_is_away_is_said_once_and_again_when_it_is_back(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    x = Fake("x", lambda: world.now)
    world.a.declare(x)
    world.wanted = {"x": "a"}
    there = world.store.renew, world.store.acquire
    for _ in range(2):
        world.store.renew = world.store.acquire = MagicMock(side_effect=OSError)
        world.run(FailoverSettings().alone_s + 30.0)
        world.store.renew, world.store.acquire = there
        world.run(5.0)
    said = [r.getMessage() for r in caplog.records if "store is away" in r.getMessage()]
    assert [m.endswith("no longer") for m in said] == [False, True] * 2


def test_a_host_that_stalls_for_longer_than_its_lease_goes_on_if_nobody_took_it(
    world: World,
) -> None:
    x = Fake("x", lambda: world.now, batch_s=20.0)
    runner = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    lease = world.store.lease(operator_lease("x"))
    world.now += FailoverSettings().lease_s + 1.0  # nothing of it runs
    assert world.store.lease(operator_lease("x")) is None
    world.run(1.0)
    assert world.store.lease(operator_lease("x")) == lease
    assert (len(x.queries), x.queries[0].writes, runner.restarts) == (1, True, 0)


def test_a_host_that_was_suspended_stops_writing_once_somebody_else_has_its_lease(
    world: World,
) -> None:
    x = Fake("x", lambda: world.now, batch_s=20.0)
    suspended = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    world.a.runners.clear()  # SIGSTOP
    world.b.declare(x)
    world.wanted = {"x": "b"}
    world.run(60.0)
    assert world.b.runners["x"].status is OperatorStatus.RUNNING
    world.a.runners["x"] = suspended  # SIGCONT
    world.run(0.5)
    assert [q.stopped for q in x.queries] == [True, False]
    assert world.store.lease(operator_lease("x")).holder == "app-b/1"


def test_a_restart_waits_for_the_batch_and_keeps_the_lease(world: World) -> None:
    x = Fake("x", lambda: world.now, batch_s=20.0)
    runner = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    token = world.store.lease(operator_lease("x")).token
    runner.restart()
    world.run(19.0)
    assert (len(x.queries), runner.status) == (1, OperatorStatus.STARTING)
    world.run(3.0)
    assert (len(x.queries), runner.status) == (2, OperatorStatus.RUNNING)
    assert world.store.lease(operator_lease("x")).token == token


def test_the_last_commit_is_known_also_of_a_host_that_was_killed(world: World) -> None:
    x = Fake("x", lambda: world.now)
    world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(1.0)
    x.queries[0].trigger(1_700_000_000.0)
    world.run(5.0)
    assert world.store.last_commit("x") == pytest.approx(1_700_000_000.5)
    x.queries[0].trigger(1_700_000_010.0, batch=False)
    world.run(5.0)
    assert world.store.last_commit("x") == pytest.approx(1_700_000_000.5)
    world.a.runners.clear()  # kill -9
    runner = world.b.declare(x)
    world.wanted = {"x": "b"}
    world.run(FailoverSettings().lease_s + 2.0)
    assert runner.facts().last_commit_at == pytest.approx(1_700_000_000.5)


def test_a_trigger_that_found_nothing_to_do_is_told_until_there_is_a_batch(world: World) -> None:
    x = Fake("x", lambda: world.now)
    runner = world.a.declare(x)
    world.wanted = {"x": "a"}
    world.run(3.0)
    assert runner.facts().idle is None
    x.queries[0].trigger(1_700_000_000.0, batch=False)
    world.run(3.0)
    assert runner.facts().idle.run_id == "r"
    x.queries[0].trigger(1_700_000_002.0)
    world.run(3.0)
    assert runner.facts().idle is None
