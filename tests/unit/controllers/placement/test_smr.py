"""SMR's rule hands arcs on, never loses one, and ends. Every ring planner passes the checks."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.controllers.model.decision import NoChange, Reslice
from weir.controllers.model.settings import describe
from weir.controllers.placement.base import (
    RingPlanner,
    RingProblem,
    SliceFacts,
    ring_planners,
)
from weir.controllers.placement.reslicing import first
from weir.controllers.placement.ring import Ring
from weir.controllers.placement.smr import Smr, SmrSettings

HOT, CALM, BUSY = 30.0, 1.0, 6.0
"""Seconds of arrivals that wait: overloaded, can take more, neither."""


def facts(cluster: str, load: float, queue_s: float | None = CALM, **more: Any) -> SliceFacts:
    return SliceFacts(cluster=cluster, load=load, queue_s=queue_s, **more)


def problem(*slices: SliceFacts, groups: int = 8, **more: Any) -> RingProblem:
    capacity = {f.cluster: 2.0 for f in slices} | more.pop("capacity", {})
    return RingProblem(
        slicing=first("op", len(slices), groups=groups),
        slices={f"op.{i}": f for i, f in enumerate(slices)},
        capacity=capacity,
        **more,
    )


def test_the_neighbour_takes_half_the_distance():
    found = Smr().plan(problem(facts("a", 2.0, HOT), facts("b", 0.2)))
    assert isinstance(found, Reslice)
    assert found.owners == {"op.0": (0, 1), "op.1": (2, 3, 4, 5, 6, 7)}
    assert found.touches == ("a", "b")
    assert found.prediction.load == pytest.approx({"a": 0.5, "b": 0.6})
    assert found.prediction.moved_share == 0.25


@pytest.mark.parametrize(
    ("queue_s", "load"), [(HOT, 1.0), (CALM, 2.0), (None, 2.0)], ids=["cpu", "queue", "unknown"]
)
def test_queue_and_cpu_must_both_be_high(queue_s: float | None, load: float):
    found = Smr().plan(problem(facts("a", load, queue_s), facts("b", 0.2), groups=8))
    assert isinstance(found, NoChange)


def test_a_neighbour_without_room_first_hands_on_to_its_own():
    found = Smr().plan(
        problem(facts("a", 2.0, HOT), facts("b", 1.5, BUSY), facts("c", 0.1), groups=12)
    )
    assert isinstance(found, Reslice)
    assert found.owners == {"op.0": (0, 1), "op.1": (2, 3, 4, 5), "op.2": tuple(range(6, 12))}
    assert "op.2 takes half of op.1's arc, then op.1 takes half of op.0's arc" in found.reason.text


def test_if_nobody_has_room_a_new_slice_joins_half_way_where_there_is():
    world = problem(facts("a", 2.0, HOT), facts("b", 1.8, HOT), capacity={"c": 2.0})
    found = Smr().plan(world)
    assert isinstance(found, Reslice)
    assert found.owners["op.2"] == (2, 3)
    assert found.clusters == {"op.2": "c"}
    closed = Smr().plan(
        problem(facts("a", 2.0, HOT), facts("b", 1.8, HOT), capacity={"c": 2.0}, closed=("c",))
    )
    assert isinstance(closed, NoChange)
    assert "nobody on the ring has room" in closed.reason.text
    few = Smr(SmrSettings(most_slices=2)).plan(world)
    assert isinstance(few, NoChange)


def test_two_idle_neighbours_become_one():
    fewer = Smr(SmrSettings(scale_in=True))
    found = fewer.plan(problem(facts("a", 0.1), facts("b", 0.2), facts("b", 0.3), groups=6))
    assert isinstance(found, Reslice)
    assert set(found.owners) == {"op.1", "op.2"}
    assert found.owners["op.1"] == (0, 1, 2, 3)
    stays = Smr(SmrSettings()).plan(problem(facts("a", 0.1), facts("b", 0.2), facts("b", 0.3)))
    assert isinstance(stays, NoChange)


def test_the_last_two_stay_unless_one_is_allowed():
    idle = problem(facts("a", 0.1), facts("b", 0.1))
    assert isinstance(Smr(SmrSettings(scale_in=True)).plan(idle), NoChange)
    assert isinstance(Smr(SmrSettings(scale_in=True, least_slices=1)).plan(idle), Reslice)


def test_half_the_way_goes_by_rows_where_they_are_measured():
    rows = {0: 10.0, 1: 10.0, 2: 10.0, 3: 70.0}
    found = Smr().plan(problem(facts("a", 2.0, HOT, group_rows_per_s=rows), facts("b", 0.1)))
    assert isinstance(found, Reslice)
    assert found.owners["op.0"] == (0, 1, 2)
    assert found.prediction.load["b"] == pytest.approx((0.1 + 1.4) / 2)


def test_a_taker_is_never_overloaded_by_what_it_takes():
    rows = {0: 1.0, 1: 1.0, 2: 1.0, 3: 97.0}
    found = Smr().plan(problem(facts("a", 3.0, HOT, group_rows_per_s=rows), facts("b", 0.1)))
    assert isinstance(found, NoChange)  # the one hot group would only change places


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="must be below"):
        SmrSettings(low_load=0.9, high_load=0.9)


# -- checks that every ring planner has to pass


@pytest.fixture(params=list(ring_planners().values()), ids=list(ring_planners()))
def planner(request: pytest.FixtureRequest) -> RingPlanner:
    found: RingPlanner = request.param()
    return found


@st.composite
def worlds(draw: st.DrawFn) -> RingProblem:
    clusters = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    count = draw(st.integers(1, 6))
    groups = draw(st.sampled_from([8, 16, 64]))
    rates = draw(st.booleans())
    slicing = first("op", count, groups=groups)
    slices = {}
    for name in slicing.owners:
        weights = {g: draw(st.sampled_from([0.0, 1.0, 5.0, 50.0])) for g in slicing.owners[name]}
        slices[name] = SliceFacts(
            cluster=draw(st.sampled_from(clusters)),
            load=draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])),
            queue_s=draw(st.sampled_from([None, 0.0, CALM, BUSY, HOT])),
            state_bytes=draw(st.sampled_from([None, 0.0, 1e6])),
            group_rows_per_s=weights if rates else {},
        )
    return RingProblem(slicing=slicing, slices=slices, capacity=dict.fromkeys(clusters, 2.0))


@settings(max_examples=60)
@given(world=worlds())
def test_every_planner_is_deterministic_whole_and_says_why(world: RingProblem):
    for kind in ring_planners().values():
        found = kind().plan(world)
        assert found == kind().plan(world)
        assert found.reason.text
        if isinstance(found, Reslice):
            after = world.slicing.resliced(found.owners)  # refuses what is lost or owned twice
            assert after.owners == found.owners
            assert found.was == world.slicing.owners
            assert found.slices == len(found.owners)
            assert found.owners != world.slicing.owners
            assert set(found.clusters) == set(found.owners) - set(world.slicing.owners)
            assert found.prediction.pause_s is not None
            assert set(found.prediction.slice_load) == set(found.owners)


@settings(max_examples=60)
@given(world=worlds())
def test_under_a_steady_load_every_planner_comes_to_rest(world: RingProblem):
    """With queues that follow the load of the cluster, as they do once what moved has settled."""
    willing = (Smr(SmrSettings(scale_in=True)), *(k() for k in ring_planners().values()))
    for kind in willing:
        at = settled(world, world.slicing, {n: f.cluster for n, f in world.slices.items()})
        for _ in range(200):
            found = kind.plan(at)
            if isinstance(found, NoChange):
                break
            where = {n: f.cluster for n, f in at.slices.items()} | found.clusters
            at = settled(at, at.slicing.resliced(found.owners), where)
        else:
            pytest.fail(f"{kind.name} goes on for ever")


def settled(world: RingProblem, slicing: Any, where: dict[str, str]) -> RingProblem:
    """The same work under another slicing."""
    cores = world.group_loads()
    rows = {g: r for f in world.slices.values() for g, r in f.group_rows_per_s.items()}
    load = dict.fromkeys(world.capacity, 0.0)
    for name, owned in slicing.owners.items():
        load[where[name]] += sum(cores[g] for g in owned) / world.capacity[where[name]]
    slices = {
        name: SliceFacts(
            cluster=where[name],
            load=sum(cores[g] for g in owned),
            queue_s=HOT if load[where[name]] >= 0.9 else CALM,
            group_rows_per_s={g: rows[g] for g in owned if g in rows},
        )
        for name, owned in slicing.owners.items()
    }
    return RingProblem(slicing=slicing, slices=slices, capacity=world.capacity)


def test_without_figures_of_a_slice_nothing_is_decided(planner: RingPlanner):
    world = problem(facts("a", 2.0, HOT), facts("b", 0.1))
    blind = RingProblem(
        slicing=world.slicing, slices={"op.0": world.slices["op.0"]}, capacity=world.capacity
    )
    found = planner.plan(blind)
    assert isinstance(found, NoChange)
    assert "op.1" in found.reason.text


def test_a_ring_planner_is_documented(planner: RingPlanner):
    assert planner.name
    assert planner.label
    assert ">>>" in (type(planner).__doc__ or "")
    assert all(row.help for row in describe(planner.Settings)) or not describe(planner.Settings)


def test_one_slice_alone_has_no_neighbour():
    assert Ring(first("op", 1)).neighbour("op.0") is None
    assert isinstance(Smr().plan(problem(facts("a", 4.0, HOT))), NoChange)
