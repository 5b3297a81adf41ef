"""The engine adds clusters where all are full, and empties and ends those that are not needed."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.unit.controllers.engine.engine_world import Lead, Place, World, run
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.facts import read_facts
from weir.controllers.engine.ports import Part, Placement
from weir.controllers.model.hosting import HostOrder, HostState

MAY = {"by_itself": True, "for_s": 20.0, "rest_s": 30.0, "most": 3}


@pytest.fixture
def world() -> World:
    """Two clusters of one executor each, full; a launcher that only takes orders."""
    found = World(a={"x": 1.0}, b={"y": 1.2})
    for place in found.places.values():
        place.most = 1
    found.store.save_settings("clusters", MAY)
    return found


def lived(world: World, seconds: float) -> Lead:
    lead = Lead(world)
    end = world.now + seconds
    while world.now < end:
        world.store.beat(Part(id="launcher", kind="launcher", name="launcher", at=world.now))
        run(world, lead, 2.0, ask=False)
    world.store.release(lead.lease)
    return lead


def added(world: World, name: str = "more-1") -> None:
    """The launcher did as it was told."""
    world.places[name] = Place(most=1)


def test_where_all_are_full_one_more_is_ordered_once(world: World) -> None:
    lived(world, 40.0)
    orders = world.store.host_orders()
    assert {n: (o.wanted, o.by) for n, o in orders.items()} == {
        "more-1": (HostState.RUNNING, "engine")
    }
    entry = next(e for e in world.store.audit() if e.action == "cluster.added")
    assert "100 % or more for 20 s" in (entry.why or "")


def unwanted(world: World) -> None:
    world.store.save_settings("clusters", {**MAY, "by_itself": False})


def at_the_limit(world: World) -> None:
    world.store.save_settings("clusters", {**MAY, "most": 2})


def room_in_one(world: World) -> None:
    world.work["x"] = 0.3


def may_grow(world: World) -> None:
    world.places["b"].most = 2


def paused(world: World) -> None:
    world.store.save_settings("engine", {"paused": True})


@pytest.mark.parametrize("change", [unwanted, at_the_limit, room_in_one, may_grow, paused])
def test_else_nothing_is_ordered(world: World, change: Callable[[World], None]) -> None:
    change(world)
    world.report()
    lived(world, 60.0)
    assert not world.store.host_orders()


def test_one_that_was_added_is_emptied_and_ended_when_the_others_suffice(world: World) -> None:
    lived(world, 40.0)
    added(world)
    world.store.place(Placement(operator="y", cluster="more-1"))
    world.work |= {"x": 0.2, "y": 0.1}
    lived(world, 60.0)
    order = world.store.host_orders()["more-1"]
    assert (order.wanted, order.by) == (HostState.DRAINING, "engine")
    facts = read_facts(world.store, world.now, 1, outlook=None, outlooks={})
    assert facts.balance.draining_clusters == "more-1"  # planners empty it
    world.store.place(Placement(operator="y", cluster="b"))
    lived(world, 6.0)
    assert world.store.host_orders()["more-1"].wanted is HostState.ENDED


def test_those_that_were_there_from_the_start_stay(world: World) -> None:
    world.work |= {"x": 0.1, "y": 0.1}
    lived(world, 60.0)
    assert not world.store.host_orders()


def test_changes_rest_between_each_other(world: World) -> None:
    world.store.save_settings("clusters", {**MAY, "rest_s": 1000.0})
    at = world.now
    order = HostOrder(cluster="b", wanted=HostState.RUNNING, at=at, by="ada")
    said = AuditEntry(at=at, by="ada", action="cluster.added", subject="b")
    world.store.change_host_order(None, order, said)
    world.work |= {"x": 0.1, "y": 0.1}
    lived(world, 100.0)
    assert world.store.host_orders() == {"b": order}
    world.store.change_host_order(order, replace(order, at=at - 1000.0), said)
    lived(world, 10.0)
    assert world.store.host_orders()["b"].wanted is HostState.DRAINING
