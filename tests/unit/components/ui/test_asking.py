"""Ids that callers choose: theirs alone, and one plan each."""

import pytest

from tests.support.world import demo_world
from weir.components.ui.asking import request
from weir.components.web.security import NOBODY, Person, Role, acting_as
from weir.controllers import service
from weir.controllers.engine.ports import Part
from weir.controllers.engine.propose.make import new_id
from weir.controllers.model.errors import Refused
from weir.controllers.model.placement import Placement
from weir.controllers.service import Request
from weir.controllers.service.recommendations import find_repeated
from weir.controllers.service.request import COMMENT_MOST
from weir.metrics.store.memory_store import MemoryStore


@pytest.fixture
def world():
    return demo_world()


@pytest.fixture
def store(world):
    found = MemoryStore()
    found.beat(Part(id="engine:1", kind="engine", name="leader", at=world.at))
    found.place(Placement(operator="top_n", cluster="narrow"))
    for name in world.series:
        found.append(world.newest(name))
    return found


def click(world, by="ada", id="click-1"):
    return Request(by=by, at=world.at, id=id)


def test_a_request_is_of_whoever_is_signed_in():
    acting_as(Person(name="ada", role=Role.APPROVER, address="10.0.0.7"))
    try:
        made = request("why" * COMMENT_MOST, None)
    finally:
        acting_as(NOBODY)
    assert (made.by, made.address, made.id, len(made.comment)) == (
        "ada", "10.0.0.7", "", COMMENT_MOST,
    )  # fmt: skip


def test_a_repeat_is_the_same_and_another_plan_is_refused(store, world):
    made = service.scale(store, click(world), "wide", 4)
    assert service.scale(store, click(world), "wide", 4) == made
    assert find_repeated(store, click(world)) == made
    with pytest.raises(Refused, match="Something else was asked for under this id"):
        service.scale(store, click(world), "wide", 5)
    assert store.recommendations() == [made]


def test_nobody_can_name_what_is_another_ones_or_the_engines(store, world):
    made = service.scale(store, click(world), "wide", 4)
    engines = {made.id, f"{made.id}-undo", f"{made.id}~1", new_id("rate_based", "wide", 12.5)}
    assert find_repeated(store, click(world, by="eve")) is None
    for id in ("click-1", *engines):
        other = click(world, by="eve", id=id)
        assert other.key("asked") not in engines
        assert other.key("told") not in {*engines, other.key("asked")}


def test_commands_too(store, world):
    made = service.tell_operator(store, click(world), "stop", "top_n")
    assert made.id != "click-1"
    assert service.tell_operator(store, click(world), "stop", "top_n") == made
    with pytest.raises(Refused):
        service.tell_operator(store, click(world), "start", "top_n")
    other = service.tell_operator(store, click(world, by="eve"), "start", "top_n")
    assert {c.id for c in store.open_commands("narrow")} == {made.id, other.id}
