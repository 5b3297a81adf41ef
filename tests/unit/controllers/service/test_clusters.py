"""Clusters come and go: orders within limits, drained before they end, carried out by a launcher."""

import pytest

from tests.support.people import _by_keywords
from tests.unit.controllers.engine.engine_world import Lead, World, run
from weir.controllers import service
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Part, Placement
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.controllers.model.hosting import HostOrder, HostState
from weir.pipeline.local.launcher import Launching

add = _by_keywords(service.add_cluster)
end = _by_keywords(service.end_cluster)


class Hosts:
    """A launcher that only keeps books."""

    def __init__(self, *names: str) -> None:
        self.there = set(names)

    def start(self, order: HostOrder) -> None:
        self.there.add(order.cluster)

    def end(self, cluster: str) -> bool:
        self.there.discard(cluster)
        return True

    def names(self) -> set[str]:
        return set(self.there)


@pytest.fixture
def world() -> World:
    found = World(a={"x": 0.4}, b={"y": 0.2})
    found.store.beat(Part(id="launcher", kind="launcher", name="launcher", at=found.now))
    return found


def draining(world: World) -> str:
    return str(world.store.settings("balance").get("draining_clusters", ""))


def test_a_cluster_is_added_within_the_limits_and_once(world: World) -> None:
    hosts = Hosts("a", "b")
    order = add(world.store, "c", by="ada", now=world.now)
    assert order == add(world.store, "c", by="bob", now=world.now)
    Launching(world.store, hosts, lambda: world.now).step()
    assert hosts.there == {"a", "b", "c"}
    assert [e.action for e in world.store.audit()] == ["cluster.added"]
    world.store.save_settings("clusters", {"most": 3})
    with pytest.raises(Refused, match="3 clusters are the most"):
        add(world.store, "d", by="ada", now=world.now)
    with pytest.raises(Refused, match="already"):
        add(world.store, "a", by="ada", now=world.now)
    for name in ("", "../x", "a b", "-x", "x" * 101):
        with pytest.raises(InvalidInput):
            add(world.store, name, by="ada", now=world.now)


def test_a_launcher_keeps_to_the_limit_whoever_wrote_the_orders(world: World) -> None:
    for i in range(9):
        order = HostOrder(cluster=f"n{i}", wanted=HostState.RUNNING, at=world.now, by="eve")
        said = AuditEntry(at=world.now, by="eve", action="cluster.added")
        assert world.store.change_host_order(None, order, said)
    hosts = Hosts("a", "b")
    launching = Launching(world.store, hosts, lambda: world.now)
    launching.step()
    launching.step()
    assert len(hosts.there) == 4


def test_without_a_launcher_nothing_is_ordered(world: World) -> None:
    world.tick(20.0)
    for verb in (add, end):
        with pytest.raises(Unavailable, match="no launcher"):
            verb(world.store, "a", by="ada", now=world.now)
    assert not world.store.host_orders()


def test_a_cluster_is_emptied_first_and_then_ended_and_forgotten(world: World) -> None:
    hosts, lead = Hosts("a", "b"), Lead(world)
    launching = Launching(world.store, hosts, lambda: world.now)
    assert end(world.store, "b", by="ada", now=world.now).wanted is HostState.DRAINING
    assert draining(world) == "b"
    run(world, lead, 6.0)
    launching.step()
    assert hosts.there == {"a", "b"}  # y still runs there
    world.store.place(Placement(operator="y", cluster="a"))
    run(world, lead, 6.0)
    assert world.store.host_orders()["b"].wanted is HostState.ENDED
    world.places.pop("b")
    launching.step()
    assert hosts.there == {"a"}
    assert world.store.clusters() == ["a"]
    assert not world.store.host_orders()
    told = {e.action for e in world.store.audit()}
    assert {"cluster.draining", "cluster.ended", "cluster.forgotten"} <= told


def test_the_last_ones_stay(world: World) -> None:
    end(world.store, "b", by="ada", now=world.now)
    with pytest.raises(Refused, match="1 of the clusters must be left"):
        end(world.store, "a", by="ada", now=world.now)
    with pytest.raises(NotFound):
        end(world.store, "nowhere", by="ada", now=world.now)


def test_the_engine_ends_what_was_drained_only_if_it_may(world: World) -> None:
    lead = Lead(world)
    world.store.save_settings("balance", {"draining_clusters": "b"})
    world.store.place(Placement(operator="y", cluster="a"))
    run(world, lead, 6.0)
    assert not world.store.host_orders()
    world.store.save_settings("clusters", {"end_drained": True})
    run(world, lead, 4.0)
    assert world.store.host_orders()["b"].wanted is HostState.ENDED


def test_one_that_is_wanted_again_is_no_longer_drained(world: World) -> None:
    end(world.store, "b", by="ada", now=world.now)
    assert add(world.store, "b", by="ada", now=world.now).wanted is HostState.RUNNING
    assert draining(world) == ""
