"""The budget, exactly: what it allows is allowed, what it does not is not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.examples import examples
from tests.unit.controllers.balancing.problems import random_problem, simple
from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.problem import Budget, Flow, Problem

ACTING = [name for name in planners() if name != "no_op"]


def costing(problem: Problem, cost: float, budget: float) -> Problem:
    items = tuple(replace(i, move_cost=cost) for i in problem.items)
    return replace(problem, items=items, budget=Budget(cost=budget))


@pytest.mark.parametrize("name", ACTING)
@pytest.mark.parametrize("cost", [0.3, 1 / 3, 5e9, 123_456_789_012.0, 0.0])
def test_a_budget_of_one_items_cost_allows_that_item(name: str, cost: float):
    problem = costing(simple([[30.0, 20.0], []]), cost, budget=cost)
    assert len(planner(name).plan(problem).moves) == 1


@pytest.mark.parametrize("name", ["flux", "milp", "static_greedy"])
def test_many_costs_that_add_up_to_the_budget_are_within_it(name: str):
    # One by one ten times 0.1 comes to 0.9999999999999999, three times 0.1 to more than 0.3.
    problem = costing(simple([[1.0] * 20, []]), 0.1, budget=1.0)
    assert len(planner(name).plan(problem).moves) == 10
    problem = costing(simple([[1.0] * 6, []]), 0.1, budget=0.3)
    assert len(planner(name).plan(problem).moves) == 2


@pytest.mark.parametrize("name", planners())
def test_a_budget_below_the_cheapest_move_is_said_to_be_that(name: str):
    problem = costing(simple([[30.0, 20.0], []]), 0.3, budget=0.0)
    plan = planner(name).plan(problem)
    assert plan.moves == ()
    assert plan.reason.text == "The budget allows no move: the cheapest costs 0.3."


@pytest.mark.parametrize("name", planners())
@settings(max_examples=examples(15))
@given(
    seed=st.integers(0, 10_000),
    tenths=st.lists(st.integers(0, 9), min_size=18, max_size=18),
    budget=st.integers(1, 30),
)
def test_costs_that_round_never_pass_the_budget(
    name: str, seed: int, tenths: list[int], budget: int
):
    problem = random_problem(seed, bins=4, items=18, moves=None)
    names = [i.name for i in problem.items]
    problem = replace(
        problem,
        items=tuple(
            replace(i, move_cost=t / 10) for i, t in zip(problem.items, tenths, strict=True)
        ),
        flows=tuple(
            Flow(source=a, target=b, rate=1.0) for a, b in zip(names, names[3:], strict=False)
        ),
        budget=Budget(cost=budget / 10),
    )
    plan = planner(name).plan(problem)  # a plan beyond the budget raises
    cost = {i.name: i.move_cost for i in problem.items}
    assert math.fsum(cost[m.operator] for m in plan.moves) <= budget / 10
