"""Every planner, found by itself, through the same checks."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from tests.support.examples import examples
from tests.unit.controllers.balancing.problems import problems, random_problem, simple
from weir.checks import check_plan, check_planner
from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
from weir.controllers.model.errors import InvalidInput

ALL = list(planners())
DRAINING = [name for name in ALL if name != "no_op"]


def test_the_planners_of_the_product_are_all_found():
    assert set(ALL) == {
        "no_op", "static_greedy", "dodo", "dodo_no_capacity", "flux", "milp", "albic", "cola",
        "integrative",
    }  # fmt: skip


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_rules_hold_on_anything_valid(name: str, problem: Problem):
    check_plan(problem, planner(name).plan(problem, seed=3))


@pytest.mark.parametrize("name", ALL)
def test_every_planner_passes_the_checks_that_anybody_can_run(name: str):
    check_planner(planner(name))


@pytest.mark.parametrize("name", ALL)
def test_same_seed_same_plan(name: str):
    problem = random_problem(5, bins=8, items=80, moves=None, flows=60)
    one, two = (planner(name).plan(problem, seed=7) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_numbers_that_make_no_sense_are_refused_by_name(name: str, bad: float):
    good = simple([[1.0, 2.0], [3.0]])
    first = good.items[0]
    for field, item in {
        "load": replace(first, load=bad),
        "move_cost": replace(first, move_cost=bad),
        "series": replace(first, series=(1.0, bad)),
        "resources": replace(first, resources={"memory": bad}),
    }.items():
        with pytest.raises(InvalidInput) as error:
            planner(name).plan(replace(good, items=(item, *good.items[1:])))
        assert error.value.field == f"items[0].{field}"


@pytest.mark.parametrize("seconds", [None, 0.2])
@pytest.mark.parametrize("name", DRAINING)
def test_nothing_goes_where_it_may_not_be(name: str, seconds: float | None):
    problem = simple([[60.0, 5.0], [], []], moves=2)
    big = replace(problem.items[0], allowed=("b2",))
    problem = replace(problem, items=(big, *problem.items[1:]))
    ends = time.monotonic() + (seconds or 0.0)
    remaining = None if seconds is None else lambda: ends - time.monotonic()
    plan = planner(name).plan(problem, remaining_s=remaining)
    check_plan(problem, plan)
    assert plan.placement["b0i0"] in ("b0", "b2")
    nowhere = replace(problem, items=tuple(replace(i, allowed=("b0",)) for i in problem.items))
    assert planner(name).plan(nowhere).moves == ()


def test_the_optimiser_finds_the_best_of_what_is_allowed():
    problem = simple([[30.0, 20.0, 10.0], [], []])
    items = tuple(replace(i, allowed=("b0", "b1")) for i in problem.items)
    plan = planner("milp").plan(replace(problem, items=items))
    assert plan.after.load == {"b0": 30.0, "b1": 30.0, "b2": 0.0}


@pytest.mark.parametrize("name", ALL)
def test_a_load_that_is_not_known_is_no_plan(name: str):
    problem = simple([[60.0, 30.0], []])
    guess = replace(problem.items[1], known=False)
    plan = planner(name).plan(replace(problem, items=(problem.items[0], guess)))
    assert plan.moves == ()
    assert plan.reason.text == "The load of b0i1 is not known yet."


@pytest.mark.parametrize("name", ALL)
def test_constant_series_do_not_disturb(name: str):
    problem = simple([[30.0, 20.0, 10.0], [5.0]])
    steady = replace(problem, items=tuple(replace(i, series=(i.load,) * 4) for i in problem.items))
    plan = planner(name).plan(steady)
    check_plan(steady, plan)
    assert plan.after.correlation_sum == 0.0


@pytest.mark.parametrize("name", DRAINING)
def test_bins_to_be_emptied_are_empty_in_the_end(name: str):
    problem = replace(
        random_problem(2, bins=5, items=30, moves=None),
        budget=Budget(moves=None if name == "cola" else 4),
    )
    problem = replace(problem, bins=(replace(problem.bins[0], keep=False), *problem.bins[1:]))
    for _ in range(12):
        plan = planner(name).plan(problem)
        check_plan(problem, plan)
        problem = problem.placed(plan.placement)
    assert not [i for i in problem.items if i.bin == "b0"]
    assert plan.after.left_on_draining == 0.0


@pytest.mark.parametrize("name", DRAINING)
def test_items_without_load_leave_a_bin_to_be_emptied_too(name: str):
    problem = simple([[0.0, 0.0], [10.0], [10.0]], keep=[False, True, True])
    plan = planner(name).plan(problem)
    assert {m.operator for m in plan.moves} == {"b0i0", "b0i1"}


@pytest.mark.parametrize("name", ["static_greedy", "flux", "milp", "albic", "integrative"])
def test_capacities_are_regarded(name: str):
    problem = simple([[10.0] * 12, []], capacity=[100.0, 300.0])
    plan = planner(name).plan(problem)
    assert plan.after.load["b0"] == pytest.approx(30.0, abs=10.1)
    assert plan.after.load["b1"] == pytest.approx(30.0, abs=10.1)


@pytest.mark.parametrize("name", ["flux", "milp", "albic", "integrative", "static_greedy", "cola"])
def test_a_second_resource_holds_a_move_back(name: str):
    items = tuple(
        Item(name=f"i{k}", load=20.0, bin="a", resources={"memory": 6.0}) for k in range(4)
    )
    free = Problem(bins=(Bin(name="a", capacity=100.0), Bin(name="b", capacity=100.0)), items=items)
    tight = replace(
        free, bins=(free.bins[0], Bin(name="b", capacity=100.0, resources={"memory": 7.0}))
    )
    assert list(planner(name).plan(free).placement.values()).count("b") == 2
    assert list(planner(name).plan(tight).placement.values()).count("b") <= 1


def test_without_a_stated_limit_the_capacity_is_the_limit_in_the_same_unit():
    items = tuple(Item(name=f"i{k}", load=20.0, bin="a", resources=(60.0,)) for k in range(4))
    bins = (Bin(name="a", capacity=100.0), Bin(name="b", capacity=100.0))
    plan = planner("milp").plan(Problem(bins=bins, items=items))
    assert list(plan.placement.values()).count("b") == 1
    in_bytes = tuple(replace(i, resources={"memory": 4e9}) for i in items)
    plan = planner("milp").plan(Problem(bins=bins, items=in_bytes))
    assert list(plan.placement.values()).count("b") == 2
