"""Every planner ends: on loads that differ by rounding, on extremes, and when its time is spent."""

import faulthandler
import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.unit.controllers.balancing.problems import random_problem, simple
from weir.checks import check_plan
from weir.controllers.balancing.albic import Albic, AlbicSettings
from weir.controllers.balancing.base import Deadline, planner, planners
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem
from weir.controllers.model.errors import InvalidInput

ALL = list(planners())
HANGS_S = 300
LOADS = (0.0, 5e-324, 1e-300, 1e-9, 1.0, 1.0, 1.0 + 2**-52, 2.0, 3.0, 1e9, 1e50, 1e300)
CAPACITIES = (1e-300, 1e-50, 1e-9, 1.0, 100.0, 1e9, 1e300)


@pytest.fixture(autouse=True, scope="module")
def _watchdog() -> Iterator[None]:
    """A compiled loop that never ends cannot be interrupted: show where it is and give up."""
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
@pytest.mark.parametrize("name", ALL)
def test_a_nearly_idle_item_is_not_moved_for_ever(name: str, scale: float):
    loads = [[1.0, 2.0], [3.0, 1e-9]]
    problem = simple([[load * scale for load in row] for row in loads])
    check_plan(problem, planner(name).plan(problem))


@st.composite
def extremes(draw: st.DrawFn) -> Problem:
    """Loads, capacities and costs from one end of the numbers to the other, side by side."""
    bins, items = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    names = [f"i{k}" for k in range(items)]
    load, cost = st.sampled_from(LOADS), st.sampled_from([0.0, 5e-324, 1.0, 1e9, 1e149])
    size = st.sampled_from(CAPACITIES) if draw(st.booleans()) else st.just(1.0)
    end = st.sampled_from(names)
    return Problem(
        bins=tuple(
            Bin(name=f"b{k}", capacity=draw(size), keep=draw(st.sampled_from([True, True, False])))
            for k in range(bins)
        ),
        items=tuple(
            Item(name=n, load=draw(load), bin=f"b{draw(st.integers(0, bins - 1))}",
                 move_cost=draw(cost), pinned=draw(st.integers(0, 5)) == 0)
            for n in names
        ),
        flows=tuple(
            Flow(source=draw(end), target=draw(end), rate=draw(load))
            for _ in range(draw(st.integers(0, 6)))
        ),
        budget=Budget(
            moves=draw(st.sampled_from([None, 0, 1, 5])),
            cost=draw(st.sampled_from([None, 0.0, 5e-324, 1e9])),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(problem=extremes())
def test_extremes_end_in_a_plan_or_in_a_refusal(name: str, problem: Problem):
    try:
        plan = planner(name).plan(problem, seed=1)
    except InvalidInput:  # out of proportion
        assume(False)
    assert set(plan.placement) == {i.name for i in problem.items}
    assert plan.reason.text


@pytest.mark.parametrize("looks", [0, 1, 2, 5, 20, 100])
@pytest.mark.parametrize("name", ALL)
def test_a_planner_whose_time_is_spent_answers_with_what_it_has(name: str, looks: int):
    problem = random_problem(4, bins=8, items=120, moves=None, flows=80)
    for ends in (lambda look: look, Deadline):
        left = itertools.chain([1.0] * looks, itertools.repeat(0.0))
        plan = planner(name).plan(problem, remaining_s=ends(left.__next__))
        check_plan(problem, plan)


@pytest.mark.parametrize("name", [name for name in ALL if name != "no_op"])
def test_every_planner_looks_at_the_clock(name: str):
    problem = random_problem(4, bins=8, items=120, moves=None, flows=80)
    counted = itertools.count()
    planner(name).plan(problem, remaining_s=Deadline(lambda: next(counted) + 1.0))
    assert next(counted) > 0


@pytest.mark.parametrize("name", ALL)
def test_a_deadline_that_is_far_away_changes_nothing(name: str):
    problem = random_problem(4, bins=8, items=120, moves=12, flows=80)
    assert planner(name).plan(problem) == planner(name).plan(
        problem, remaining_s=Deadline(lambda: 1e9)
    )


def test_units_of_any_size_take_a_limited_number_of_rounds():
    problem = random_problem(4, bins=4, items=30, moves=None, flows=20)
    huge = AlbicSettings(max_unit_load=1e300, max_distance=0.0)
    check_plan(problem, Albic(huge).plan(problem))
