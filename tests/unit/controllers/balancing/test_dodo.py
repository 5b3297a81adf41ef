"""DoDo's two cases, its thresholds and its order."""

import pytest
from msgspec.structs import replace

from weir.controllers.balancing.dodo import DodoNoCapacity, DodoPlanner, DodoPlannerSettings
from weir.controllers.balancing.problem import Bin, Budget, Item, Problem

BINS = (Bin(name="c1", capacity=3.0), Bin(name="c2", capacity=6.0), Bin(name="c3", capacity=1.0))


def case(extract: str, count: str, top: str, rate: float = 1.0) -> Problem:
    return Problem(
        bins=BINS,
        items=(
            Item(name="generator", load=0.9, bin="c1", pinned=True),
            Item(name="extract", load=1.8 * rate, bin=extract),
            Item(name="count", load=0.8 * rate, bin=count),
            Item(name="top_n", load=0.25 * rate, bin=top),
        ),
        budget=Budget(moves=1),
    )


def moves(planner: DodoPlanner, problem: Problem) -> list[tuple[str, str]]:
    return [(m.operator, m.target) for m in planner.plan(problem).moves]


def test_extreme_case_moves_the_heavy_operator_to_the_large_cluster():
    assert moves(DodoPlanner(), case("c2", "c3", "c3")) == [("count", "c2")]


def test_optimal_case_moves_nothing_with_capacity():
    for rate in (0.5, 1.0, 2.0):
        assert moves(DodoPlanner(), case("c2", "c2", "c3", rate)) == []


def test_without_capacity_a_large_operator_ends_up_on_the_small_cluster():
    problem = case("c2", "c2", "c3", rate=1.0)
    hot = replace(
        problem, items=(*problem.items[:2], replace(problem.items[2], load=2.6), problem.items[3])
    )
    assert moves(DodoPlanner(), hot) == []
    plan = DodoNoCapacity().plan(
        replace(
            hot,
            items=(
                replace(hot.items[0], load=1.5),
                *hot.items[1:3],
                replace(hot.items[3], load=0.05),
            ),
        )
    )
    assert [(m.operator, m.target) for m in plan.moves] == [("extract", "c3")]
    assert plan.after.load["c3"] > 150.0


def test_below_the_load_threshold_nothing_moves():
    problem = case("c2", "c3", "c3")
    plan = DodoPlanner(DodoPlannerSettings(load_threshold=0.8)).plan(problem)
    assert plan.moves == ()
    assert "80 %" in plan.reason.text


def test_above_the_correlation_threshold_nothing_moves():
    problem = case("c2", "c3", "c3")
    rising = tuple(
        replace(i, series=tuple(i.load * f for f in (0.8, 1.0, 1.2))) for i in problem.items
    )
    correlated = replace(problem, items=rising)
    assert moves(DodoPlanner(), correlated) == [("count", "c2")]
    assert moves(DodoPlanner(DodoPlannerSettings(correlation_threshold=0.9)), correlated) == []


def test_the_operator_that_correlates_with_its_cluster_goes_first():
    wave, other = (1.0, 2.0, 1.0, 2.0), (2.0, 1.0, 2.0, 1.0)
    problem = Problem(
        bins=(Bin(name="hot", capacity=10.0), Bin(name="cold", capacity=10.0)),
        items=(
            Item(name="against", load=1.5, bin="hot", series=other),
            Item(name="base", load=6.0, bin="hot", series=tuple(4 * v for v in wave)),
            Item(name="with", load=1.5, bin="hot", series=wave),
            Item(name="there", load=1.5, bin="cold", series=other),
        ),
        budget=Budget(moves=1),
    )
    plan = DodoPlanner().plan(problem)
    assert [m.operator for m in plan.moves] == ["with"]
    assert plan.after.correlation_sum >= plan.before.correlation_sum


@pytest.mark.parametrize("count", [2, 3])
def test_the_middle_cluster_of_an_odd_number_stays_alone(count: int):
    bins = tuple(Bin(name=f"b{k}", capacity=1.0) for k in range(count))
    loads = {2: [0.8, 0.1], 3: [0.9, 0.5, 0.1]}[count]
    problem = Problem(
        bins=bins,
        items=tuple(
            Item(name=f"b{k}i{p}", load=load / 4, bin=f"b{k}")
            for k, load in enumerate(loads)
            for p in range(4)
        ),
    )
    touched = {place for m in DodoPlanner().plan(problem).moves for place in (m.source, m.target)}
    assert touched == {"b0", f"b{count - 1}"}


def test_each_cluster_gives_at_most_one_operator_at_a_time():
    problem = Problem(
        bins=(Bin(name="hot", capacity=10.0), Bin(name="cold", capacity=10.0)),
        items=tuple(Item(name=f"i{k}", load=1.0, bin="hot") for k in range(8)),
    )
    assert len(DodoPlanner().plan(problem).moves) == 1


def test_a_short_series_is_compared_over_the_periods_that_both_have():
    wave = tuple(1.0 + k % 5 for k in range(30))
    problem = Problem(
        bins=(Bin(name="hot", capacity=10.0), Bin(name="cold", capacity=10.0)),
        items=(
            Item(name="base", load=5.0, bin="hot", series=tuple(2.0 * v for v in wave)),
            Item(name="flat", load=1.0, bin="hot", series=(1.0,) * 8),  # padded: it would rise
            Item(name="wavy", load=1.0, bin="hot", series=tuple(v / 3.0 for v in wave)),
            Item(name="there", load=0.1, bin="cold", series=(0.1,) * 30),
        ),
    )
    assert moves(DodoPlanner(), problem) == [("wavy", "cold")]
