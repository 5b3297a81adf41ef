"""Ids that callers choose: theirs alone, and one plan each."""

import pytest

from tests.support.world import demo_world
from weir.components.ui.asking import asked_before, own_id, propose, tell
from weir.components.web.security import NOBODY, Person, Role, acting_as
from weir.controllers.engine.propose.make import new_id
from weir.controllers.model.command import StartOperator, StopOperator
from weir.controllers.model.decision import Reason, Scale
from weir.controllers.model.errors import Refused
from weir.metrics.store.memory_store import MemoryStore

WHY = Reason(text="Chosen by hand.")


@pytest.fixture
def world():
    return demo_world()


@pytest.fixture
def store(world):
    found = MemoryStore()
    for name in world.series:
        found.append(world.newest(name))
    yield found
    acting_as(NOBODY)


def as_(name):
    acting_as(Person(name=name, role=Role.APPROVER))


def scale(world, executors):
    cluster = world.snapshot.cluster("wide")
    return Scale(cluster="wide", executors=executors, before=cluster.executors_wanted, reason=WHY)


def test_a_repeat_is_the_same_and_another_plan_is_refused(store, world):
    as_("ada")
    made = propose(store, scale(world, 4), id="click-1", now=world.at)
    assert propose(store, scale(world, 4), id="click-1", now=world.at) == made
    assert asked_before(store, "click-1") == made
    with pytest.raises(Refused, match="Something else was asked for under this id"):
        propose(store, scale(world, 5), id="click-1", now=world.at)
    assert store.recommendations() == [made]


def test_nobody_can_name_what_is_another_ones_or_the_engines(store, world):
    as_("ada")
    made = propose(store, scale(world, 4), id="click-1", now=world.at)
    engines = {made.id, f"{made.id}-undo", f"{made.id}~1", new_id("rate_based", "wide", 12.5)}
    as_("eve")
    assert asked_before(store, "click-1") is None
    for id in ("click-1", *engines):
        assert own_id("asked", id) not in engines
        assert own_id("told", id) not in {*engines, own_id("asked", id)}


def test_commands_too(store, world):
    act = {"now": world.at, "expires_after_s": 30.0}
    as_("ada")
    made = tell(store, "narrow", StopOperator(operator="top_n"), id="click-1", **act)
    assert made.id != "click-1"
    assert tell(store, "narrow", StopOperator(operator="top_n"), id="click-1", **act) == made
    with pytest.raises(Refused):
        tell(store, "narrow", StartOperator(operator="top_n"), id="click-1", **act)
    as_("eve")
    other = tell(store, "narrow", StartOperator(operator="top_n"), id="click-1", **act)
    assert {c.id for c in store.open_commands("narrow")} == {made.id, other.id}
