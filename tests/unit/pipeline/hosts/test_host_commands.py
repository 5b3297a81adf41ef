"""A host around its runners: leases while Spark keeps it waiting, and commands to operators."""

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from tests.support.waiting import wait_until
from tests.unit.pipeline.hosts.queries import Fake
from weir.controllers.engine.ports import Placement
from weir.controllers.model.command import RestartOperator, StopOperator
from weir.controllers.model.errors import Refused
from weir.controllers.model.failover import FAILOVER
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import OperatorStatus
from weir.metrics.store.memory_store import MemoryStore
from weir.pipeline.hosts import host as host_module
from weir.pipeline.hosts.host import Host, HostSettings

QUICK_LEASE_S = 2.5


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host of one operator, x, without Spark; leases and looks are quick."""
    agent = SimpleNamespace(holder="app-a/1", start=lambda: None, close=lambda: None)
    monkeypatch.setattr(host_module, "create_session", lambda *_, **__: MagicMock())
    monkeypatch.setattr(host_module, "SparkExecutors", lambda *_: None)
    monkeypatch.setattr(host_module, "Agent", lambda *_, **__: agent)
    store = MemoryStore()
    store.save_settings(FAILOVER, {"lease_s": QUICK_LEASE_S})
    store.place(Placement(operator="x", cluster="a"))
    settings = HostSettings(name="a", master="", redis_url="", place=("x",))
    found = Host(settings, [Fake("x", time.monotonic)], store)
    thread = threading.Thread(target=found.run, daemon=True)
    thread.start()
    wait_until(lambda: found._runners["x"].status is OperatorStatus.RUNNING, 20, "x runs")
    yield found
    found.stop()
    thread.join(120.0)
    assert not thread.is_alive()


def test_a_lease_is_kept_while_its_host_waits_for_spark(host: Host) -> None:
    operator = host._operators["x"]
    assert isinstance(operator, Fake)
    (query,) = operator.queries
    goes, ended = threading.Event(), threading.Event()

    def stop() -> None:
        goes.set()
        ended.wait()
        query.stopped = True

    query.stop = stop
    host.store.place(Placement(operator="x", cluster="b"))
    assert goes.wait(120.0)
    since = time.monotonic()
    over = since + QUICK_LEASE_S + 0.5
    wait_until(lambda: time.monotonic() > over, 5, "it would have run out")
    assert host.store.lease(operator_lease("x")).holder == "app-a/1"
    ended.set()
    wait_until(lambda: host.store.lease(operator_lease("x")) is None, 20, "it is given back")


def test_a_command_changes_what_is_there_and_not_what_was(host: Host) -> None:
    store = host.store
    host.commands.stop(StopOperator(operator="x"), lambda *_: None)
    assert store.placements()["x"] == Placement(operator="x", cluster="a", wanted="stopped")
    said = host.commands.restart(RestartOperator(operator="x"), lambda *_: None)
    assert "is running again" in said
    store.place(Placement(operator="x", cluster="b"))  # a move that this host has not seen yet
    host._read_placement = lambda: None
    host._placed = {"x": Placement(operator="x", cluster="a")}
    with pytest.raises(Refused, match="not placed in cluster a"):
        host.commands.stop(StopOperator(operator="x"), lambda *_: None)
    assert store.placements()["x"] == Placement(operator="x", cluster="b")


def test_a_command_that_a_move_overtakes_looks_again(host: Host) -> None:
    store, moved = host.store, Placement(operator="x", cluster="b")
    first = store.placements

    def overtaken() -> dict[str, Placement]:
        store.placements = first
        seen = first()
        store.place(moved)
        return seen

    host._read_placement = lambda: None
    store.placements = overtaken
    with pytest.raises(Refused, match="not placed in cluster a"):
        host.commands.want("x", "stopped")
    assert first()["x"] == moved
