"""A host follows who owns which key groups: no old owner runs beside a new one."""

import dataclasses
import threading
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from tests.unit.pipeline.hosts.queries import Query
from weir.controllers.engine.ports import Placement
from weir.controllers.model.command import DropState, RewriteState
from weir.controllers.model.errors import Refused
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import OperatorStatus
from weir.controllers.model.slicing import Slicing
from weir.metrics.store.memory_store import MemoryStore
from weir.pipeline.hosts import host as host_module
from weir.pipeline.hosts.handover import Handover
from weir.pipeline.hosts.host import Host, HostSettings
from weir.pipeline.hosts.operator import Operator, slice_folder
from weir.pipeline.local.ports import LOOPBACK


@dataclass(frozen=True)
class Counted(Operator):
    """An operator whose slices' queries are all kept, by the checkpoint that they began with."""

    queries: dict[str, Query] = field(default_factory=dict)

    def start(self, *_: Any) -> object:
        assert self.share is not None
        query = self.queries[slice_folder(self.name, self.share.born)] = Query(time.monotonic)
        return query


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def operator() -> Counted:
    return Counted("x", lambda *_: None, key="k", slices=2, groups=8)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, store: MemoryStore, operator: Counted) -> Host:
    agent = SimpleNamespace(holder="app-a/1", start=lambda: None, close=lambda: None)
    monkeypatch.setattr(host_module, "create_session", lambda *_, **__: MagicMock())
    monkeypatch.setattr(host_module, "SparkExecutors", lambda *_: None)
    monkeypatch.setattr(host_module, "Agent", lambda *_, **__: agent)
    settings = HostSettings(name="a", master="", redis_url="", place=("x",))
    found = Host(settings, [operator], store)
    found._slices.begin()
    found._place()
    return found


def look(host: Host, times: int = 3) -> None:
    """What `run` does again and again."""
    for _ in range(times):
        host._read_placement()
        host._follow_slices()
        for name, runner in host._runners.items():
            host._step(name, runner)


def writing(operator: Counted) -> list[str]:
    return sorted(name for name, query in operator.queries.items() if query.writes)


def test_all_slices_begin_where_the_operator_is_placed(
    host: Host, store: MemoryStore, operator: Counted
) -> None:
    look(host)
    assert writing(operator) == ["x.0@1", "x.1@1"]
    assert set(store.placements()) == {"x.0", "x.1"}
    facts = {f.name: f for f in host._facts()}
    assert facts["x.1"].slice_of == "x"
    assert facts["x.1"].key_groups == (4, 5, 6, 7)
    assert store.lease(operator_lease("x")) is None


def test_what_is_held_stops_and_the_new_owners_begin_anew(
    host: Host, store: MemoryStore, operator: Counted
) -> None:
    look(host)
    first = store.slicings()["x"]
    held = first.holding(["x.0", "x.1"])
    assert store.slice_if(held, first)
    look(host)
    assert writing(operator) == []
    assert all(store.lease(operator_lease(n)) is None for n in ("x.0", "x.1"))
    after = held.handed((3,), "x.0", "x.1")
    assert store.slice_if(after, held)
    look(host)
    assert writing(operator) == ["x.0@3", "x.1@3"]
    assert {f.name: f.key_groups for f in host._facts()} == {
        "x.0": (0, 1, 2),
        "x.1": (3, 4, 5, 6, 7),
    }


def test_a_slice_that_is_no_more_ends_and_a_new_one_begins_where_it_is_placed(
    host: Host, store: MemoryStore, operator: Counted
) -> None:
    look(host)
    first = store.slicings()["x"]
    after = first.merged("x.1", "x.0")
    assert store.slice_if(after, first)
    look(host, 4)
    assert writing(operator) == ["x.0@2"]
    assert set(host._runners) == {"x.0"}
    more = after.split("x.0")
    assert store.slice_if(more, after)
    store.place(Placement(operator="x.1", cluster="b"))
    look(host, 4)
    assert writing(operator) == ["x.0@3"]
    store.place(Placement(operator="x.1", cluster="a"))
    look(host, 4)
    assert writing(operator) == ["x.0@3", "x.1@3"]


def test_a_host_with_an_old_view_starts_nothing_once_it_has_the_lease(
    host: Host, store: MemoryStore, operator: Counted
) -> None:
    """It had looked before the slices were held, and then was suspended for a while."""
    host._read_placement()
    host._follow_slices()
    first = store.slicings()["x"]
    store.slice_if(first.holding(["x.0"]), first)
    for name, runner in host._runners.items():
        host._step(name, runner)
    assert writing(operator) == ["x.1@1"]
    assert store.lease(operator_lease("x.0")) is None


def test_nothing_is_rewritten_while_a_slice_runs(
    host: Host, store: MemoryStore, operator: Counted
) -> None:
    look(host)
    before = store.slicings()["x"]
    action = RewriteState(operator="x", before=before, after=before.joined())
    with pytest.raises(Refused, match=r"x\.0 is still running"):
        host._handover.rewrite(action, lambda *_: None)
    assert host._runners["x.0"].status is OperatorStatus.RUNNING
    assert store.lease(operator_lease("x.2")) is None


def test_an_order_for_slices_that_are_others_by_now_is_refused(
    host: Host, store: MemoryStore
) -> None:
    before = store.slicings()["x"]
    store.slice_if(before.joined(), before)
    action = RewriteState(operator="x", before=before, after=before.split("x.0"))
    with pytest.raises(Refused, match="others by now"):
        host._handover.rewrite(action, lambda *_: None)
    assert store.lease(operator_lease("x.0")) is None


def test_only_checkpoints_that_nobody_uses_are_dropped(
    store: MemoryStore, operator: Counted, tmp_path: Any
) -> None:
    first = Slicing.even("x", 2, groups=8)
    after = first.split("x.0")
    store.slice_if(after, None)
    for name in ("x.0@1", "x.0@2", "x.1@1", "x.2@2"):
        (tmp_path / "x" / name).mkdir(parents=True)
    (tmp_path / "y.0@1").mkdir()
    handover = Handover(MagicMock(), store, "me", "", tmp_path, {"x": operator})
    born = {"x.0": 1, "x.1": 1, "x.2": 2, "../y.0": 1}
    handover.drop(DropState(operator="x", born=born), lambda *_: None)
    assert sorted(f.name for f in (tmp_path / "x").iterdir()) == ["x.0@2", "x.1@1", "x.2@2"]
    assert (tmp_path / "y.0@1").exists()


@pytest.mark.parametrize(("reach", "address", "stops"), [
    (False, "10.0.0.3", True), (True, "10.0.0.3", False), (False, LOOPBACK, False),
])  # fmt: skip
def test_a_host_whose_executors_do_not_reach_the_checkpoints_stops(
    host: Host, monkeypatch: pytest.MonkeyPatch, reach: bool, address: str, stops: bool
) -> None:
    monkeypatch.setattr(host_module, "executors_reach", lambda *_: reach)
    monkeypatch.setattr(host_module, "warm_up", lambda *_: 0.0)
    host.settings = dataclasses.replace(host.settings, address=address)
    running = threading.Thread(target=host.run)
    running.start()
    try:
        running.join(0.5 if not stops else 20.0)
        assert running.is_alive() != stops
    finally:
        host.stop()
        running.join(20.0)
