"""ALBIC and COLA: traffic that stays on its bin, and what it costs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from tests.support.examples import examples
from tests.unit.controllers.balancing.problems import problems
from weir.controllers.balancing.albic import Albic, AlbicSettings
from weir.controllers.balancing.cola import Cola, ColaSettings
from weir.controllers.balancing.milp import Milp
from weir.controllers.balancing.pairs import scored_pairs
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem


def talking(bins: int = 6, pairs: int = 60, moves: int | None = 10, seed: int = 0) -> Problem:
    """Pairs of items that talk only to each other, on random bins."""
    rng = np.random.default_rng(seed)
    return Problem(
        bins=tuple(Bin(name=f"b{k}", capacity=100.0) for k in range(bins)),
        items=tuple(
            Item(name=f"i{k}", load=float(rng.uniform(2, 3)), bin=f"b{k % bins}")
            for k in range(2 * pairs)
        ),
        flows=tuple(
            Flow(source=f"i{k}", target=f"i{2 * pairs - 1 - k}", rate=float(rng.uniform(1, 5)))
            for k in range(pairs)
        ),
        budget=Budget(moves=moves),
    )


def test_albic_raises_collocation_round_by_round_and_keeps_the_balance():
    problem = talking()
    seen = []
    for _ in range(12):
        plan = Albic().plan(problem)
        assert len(plan.moves) <= 10
        assert plan.after.load_distance <= 10.0
        seen.append(plan.after.collocation)
        problem = problem.placed(plan.placement)
    assert seen[-1] > 0.9
    assert all(later >= earlier - 0.05 for earlier, later in itertools.pairwise(seen))


@settings(max_examples=examples(60))
@given(problem=problems())
def test_a_constant_load_comes_to_rest(problem: Problem):
    at_rest(problem, within=30)


@pytest.mark.parametrize("seed", range(40))
def test_a_constant_load_comes_to_rest_where_pairs_are_larger_than_a_unit(seed: int):
    rng = np.random.default_rng(seed)
    problem = talking(bins=int(rng.integers(2, 6)), pairs=8, moves=(None, 1, 4)[seed % 3])
    load = rng.uniform(0.2, 3.0, len(problem.items)) ** 2
    load *= rng.uniform(30.0, 90.0) * len(problem.bins) / load.sum()
    items = tuple(replace(i, load=float(s)) for i, s in zip(problem.items, load, strict=True))
    at_rest(replace(problem, items=items), within=30)


def at_rest(problem: Problem, within: int) -> None:
    """Plan and apply until nothing moves; no plan makes both balance and collocation worse."""
    for _ in range(within):
        plan = Albic().plan(problem)
        before, after = plan.before, plan.after
        if not plan.moves:
            return
        drains = any(not b.keep and m.source == b.name for b in problem.bins for m in plan.moves)
        assert (
            drains
            or after.load_distance < before.load_distance
            or after.collocation > before.collocation
        )
        problem = problem.placed(plan.placement)
    raise AssertionError(f"still moving after {within} rounds")


def test_a_pair_that_would_be_cut_again_is_not_brought_together():
    bins = (Bin(name="a", capacity=100.0), Bin(name="b", capacity=100.0))
    flows = (Flow(source="x", target="y", rate=5.0),)
    sizes = {"x": 14.0, "y": 14.0, "u": 10.0, "v": 10.0}
    items = tuple(
        Item(name=n, load=size, bin=b, operator=of)
        for (n, size), b, of in zip(sizes.items(), "abab", "sttt", strict=True)
    )
    problem = Problem(bins=bins, items=items, flows=flows)
    assert Albic().plan(problem).moves == ()
    assert Albic(AlbicSettings(max_unit_load=28.0)).plan(problem).after.collocation == 1.0


def test_a_plan_that_only_undoes_collocation_is_dropped_with_the_reason():
    problem = Problem(
        bins=(Bin(name="a", capacity=100.0), Bin(name="b", capacity=100.0)),
        items=tuple(
            Item(name=n, load=load, bin=b, operator=of)
            for n, load, b, of in (
                ("x", 14.0, "a", "s"),
                ("y", 14.0, "a", "t"),
                ("z", 12.0, "b", "t"),
            )
        ),
        flows=(Flow(source="x", target="y", rate=5.0),),
    )
    plan = Albic().plan(problem)  # the distance of 8 is acceptable, and 6 would part x and y
    assert plan.moves == ()
    assert plan.reason.text == (
        "What was found brings the load distance from 8.00 to 6.00 points and does not bring more "
        "traffic together."
    )
    assert Albic(AlbicSettings(max_distance=7.0)).plan(problem).after.load_distance == 6.0


def test_one_pair_per_round_is_the_papers_way():
    plan = Albic(AlbicSettings(max_pairs=1)).plan(talking())
    more = Albic().plan(talking())
    assert plan.after.collocation < more.after.collocation


def test_albic_without_traffic_is_the_optimiser():
    problem = replace(talking(), flows=())
    albic, milp = Albic().plan(problem), Milp().plan(problem)
    assert albic.placement.keys() == milp.placement.keys()
    assert albic.after.load_distance <= milp.after.load_distance + 0.1


def test_albic_gives_collocation_up_where_the_distance_would_be_too_large():
    problem = Problem(
        bins=(Bin(name="a", capacity=100.0), Bin(name="b", capacity=100.0)),
        items=tuple(Item(name=f"i{k}", load=30.0, bin="a") for k in range(2)),
        flows=(Flow(source="i0", target="i1", rate=5.0),),
    )
    plan = Albic().plan(problem)
    assert plan.after.load_distance == 0.0
    assert plan.after.collocation == 0.0


def fed(sources: int, targets: int, rates: tuple[float, ...], moves: int | None = None) -> Problem:
    """Each source feeds some of the target's slices, one rate each, which are on other bins."""
    items = [
        Item(name=f"s{k}", load=2.0, bin=f"b{k % 4}", operator="source") for k in range(sources)
    ]
    items += [
        Item(name=f"t{k}", load=2.0, bin=f"b{(k // len(rates) + 1 + k) % 4}", operator="target")
        for k in range(targets)
    ]
    return Problem(
        bins=tuple(Bin(name=f"b{k}", capacity=100.0) for k in range(4)),
        items=tuple(items),
        flows=tuple(
            Flow(source=f"s{k}", target=f"t{k * len(rates) + at}", rate=rate)
            for k in range(sources)
            for at, rate in enumerate(rates)
        ),
        budget=Budget(moves=moves),
    )


def test_the_mean_is_over_all_slices_downstream_whether_they_receive_rows_or_not():
    problem = fed(1, 40, (60.0, 40.0))  # a mean of 2.5, so both are above 3.75
    arrays_home = np.arange(41) % 4
    together, apart = scored_pairs(problem, arrays_home, 1.5)
    assert {p.rate for p in (*together, *apart)} == {60.0, 40.0}
    together, apart = scored_pairs(problem, arrays_home, 20.0)  # above 50
    assert {p.rate for p in (*together, *apart)} == {60.0}


def test_a_single_target_of_a_single_slice_is_the_mean_itself():
    problem = fed(1, 1, (9.0,))
    assert scored_pairs(problem, np.array([0, 1]), 1.5) == ([], [])


def test_slices_that_name_no_operator_are_told_apart_by_how_far_from_a_source_they_are():
    named = fed(8, 16, (5.0, 5.0))
    unnamed = replace(named, items=tuple(replace(i, operator="") for i in named.items))
    home = np.arange(24) % 4
    assert scored_pairs(unnamed, home, 1.5) == scored_pairs(named, home, 1.5)


def test_albic_reaches_what_cola_reaches_where_each_source_feeds_two_of_sixteen():
    problem = fed(8, 16, (60.0, 40.0))
    assert Cola().plan(problem).after.collocation == pytest.approx(1.0)
    for _ in range(10):
        plan = Albic().plan(problem)
        problem = problem.placed(plan.placement)
    assert plan.after.collocation == pytest.approx(1.0)


def test_cola_brings_all_together_with_many_moves():
    problem = talking(moves=None)
    plan = Cola().plan(problem)
    assert plan.after.collocation > 0.9
    assert plan.after.load_distance <= 5.0
    assert len(plan.moves) > 60


def test_cola_begins_with_one_part_and_splits_only_until_it_is_balanced():
    problem = replace(talking(bins=2, pairs=4, moves=None), budget=Budget())
    whole = Cola(ColaSettings(max_distance=100.0)).plan(problem)
    assert len(set(whole.placement.values())) == 1  # balanced enough without a cut
    assert len(set(Cola().plan(problem).placement.values())) == 2


def test_cola_cuts_on_for_a_smaller_distance():
    loose = Cola(ColaSettings(max_distance=10.0)).plan(talking(moves=None))
    tight = Cola(ColaSettings(max_distance=0.5)).plan(talking(moves=None))
    assert tight.after.load_distance <= 0.5 < 10.0
    assert tight.after.collocation <= loose.after.collocation


def test_cola_beyond_the_budget_says_so():
    plan = Cola().plan(talking(moves=5))
    assert plan.moves == ()
    assert "beyond the budget" in plan.reason.text
