"""The optimiser: against brute force, against Flux, and with more time."""

import itertools
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.controllers.balancing.problems import random_problem, simple
from weir.controllers.balancing import kernel
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Deadline
from weir.controllers.balancing.bound import lower_bound
from weir.controllers.balancing.flux import Flux
from weir.controllers.balancing.milp import Milp, MilpSettings
from weir.pipeline.experiments.albic_instances import instance


def brute_force(arrays: Arrays) -> float:
    """The smallest load distance of all placements within the budget."""
    best = np.inf
    kept = np.flatnonzero(arrays.keep)
    choices = [
        sorted({*kept.tolist(), int(home)}) if movable else [int(home)]
        for home, movable in zip(arrays.home, arrays.movable, strict=True)
    ]
    for place in itertools.product(*choices):
        placed = np.array(place)
        moves, cost = arrays.spent(placed)
        if moves <= arrays.max_moves and cost <= arrays.max_cost:
            best = min(best, arrays.distance(placed))
    return best


loads = st.lists(st.lists(st.floats(1.0, 30.0), max_size=3), min_size=2, max_size=3)


@settings(max_examples=examples(25))
@given(loads=loads, moves=st.integers(1, 4), data=st.data())
def test_bound_and_plan_enclose_the_optimum(loads, moves, data):
    capacity = [data.draw(st.sampled_from([50.0, 100.0])) for _ in loads]
    problem = simple(loads, capacity=capacity, moves=moves)
    arrays = Arrays.of(problem)
    if not len(arrays.load):
        return
    optimum = brute_force(arrays)
    assert lower_bound(arrays) <= optimum + 1e-6
    ends = time.monotonic() + 600.0
    plan = Milp().plan(problem, remaining_s=lambda: ends - time.monotonic())
    assert plan.after.load_distance == pytest.approx(optimum, abs=0.01)


def test_a_handful_of_items_needs_no_time():
    """Swap-greedy alone ends at 3.3 here."""
    problem = simple([[4.0, 5.0, 10.0], [5.0, 13.0]], capacity=[50.0, 100.0], moves=4)
    plan = Milp().plan(problem)
    assert plan.after.load_distance == pytest.approx(4 / 3)
    assert plan.bound == pytest.approx(plan.after.load_distance)


def test_given_time_a_small_problem_is_solved_exactly():
    problem = random_problem(1, bins=3, items=8, moves=4)
    ends = time.monotonic() + 600.0
    plan = Milp().plan(problem, remaining_s=lambda: ends - time.monotonic())
    assert plan.after.load_distance == pytest.approx(brute_force(Arrays.of(problem)), abs=1e-6)
    assert plan.bound == pytest.approx(plan.after.load_distance, abs=0.01)


def test_what_is_proven_optimal_takes_no_more_time():
    problem = random_problem(1, bins=3, items=8, moves=4)
    looks = iter([9.0] * 1000)  # going on would take all of them, and one more would fail
    assert Milp().plan(problem, remaining_s=lambda: next(looks)).moves


@pytest.mark.parametrize("seed", range(12))
def test_never_worse_than_flux(seed: int):
    for problem in (
        random_problem(seed, bins=10, items=90, moves=3 + seed),
        instance(20, 400, (0.2, 0.6, 1.0)[seed % 3], (5, 10, 40)[seed % 3], seed),
    ):
        ours, flux = Milp().plan(problem), Flux().plan(problem)
        assert ours.after.load_distance <= flux.after.load_distance + 1e-9
        assert ours.bound is not None
        assert ours.bound <= ours.after.load_distance + 1e-9


def test_gap_to_the_bound_is_small_on_the_papers_instances():
    gaps = []
    for varies, moves in itertools.product((0.2, 0.6, 1.0), (10, 20, 40)):
        plan = Milp().plan(instance(20, 400, varies, moves, seed=1))
        gaps.append(plan.after.load_distance - (plan.bound or 0.0))
    assert np.mean(gaps) <= 0.12


def test_more_time_is_never_a_worse_plan():
    problem = instance(40, 800, 0.6, 20, seed=3)
    distances = []
    counted = itertools.count()
    Milp().plan(problem, seed=1, remaining_s=Deadline(lambda: next(counted) + 1.0))
    fixed = next(counted)  # looks at the clock before the first one that goes on
    for looks in (0, 1, 3, 9, 20):
        left = itertools.chain([1.0] * (fixed + looks), itertools.repeat(0.0))
        plan = Milp().plan(problem, seed=1, remaining_s=left.__next__)
        distances.append(plan.after.load_distance)
    assert distances == sorted(distances, reverse=True)
    assert (
        distances[-1] < Milp(MilpSettings(tries=0, most_tries=0)).plan(problem).after.load_distance
    )


def test_a_changed_kernel_is_compiled_into_its_users_again():
    folder = Path(kernel.__file__).parent
    stated = f"# kernel.py {zlib.crc32(Path(kernel.__file__).read_bytes()):08x}"
    users = [
        f
        for f in folder.glob("*.py")
        if "njit" in (text := f.read_text()) and "kernel import" in text
    ]
    assert {f.name for f in users} == {"flux.py", "shake.py"}
    for file in users:
        assert stated in file.read_text(), f"write '{stated}' into {file.name}"


@pytest.mark.parametrize("time_s", [None, 20.0])
def test_where_the_distance_cannot_shrink_the_other_side_is_tightened(time_s: float | None):
    problem = simple([[40.0], [5.0] * 4, []])
    left = None if time_s is None else lambda: time_s
    plan = Milp().plan(problem, remaining_s=left)
    assert plan.after.load_distance == plan.before.load_distance == 20.0
    assert plan.after.load == pytest.approx({"b0": 40.0, "b1": 10.0, "b2": 10.0})
    assert len(plan.moves) == 2


def test_a_budget_that_cannot_help_is_not_spent():
    problem = simple([[90.0], [10.0, 1.0], [10.0, 1.0]], moves=5)
    assert Milp().plan(problem).moves == ()


def test_draining_does_not_stall_on_a_tie():
    problem = simple([[90.0], [10.0], [10.0], [4.0]], keep=[True, True, True, False], moves=1)
    plan = Milp().plan(problem)
    assert [m.operator for m in plan.moves] == ["b3i0"]


def test_an_urgent_overload_goes_before_draining():
    loads = [[5.0] * 40, [5.0] * 8, [5.0] * 8, [5.0] * 8]
    plan = Milp().plan(simple(loads, keep=[True, True, True, False], moves=4))
    assert [m.source for m in plan.moves] == ["b0"] * 4
