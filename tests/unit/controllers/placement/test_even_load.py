"""Key groups even out what whole slices cannot; what is even enough, or cannot be helped, stays."""

import pytest

from tests.unit.controllers.placement.test_smr import facts, problem
from weir.controllers.model.decision import NoChange, Reslice
from weir.controllers.placement.base import RingProblem
from weir.controllers.placement.even_load import EvenLoad, EvenLoadSettings


def uneven() -> RingProblem:
    """Four slices of 0.55 cores, three of them in a; another operator needs 0.7 in b."""
    return problem(*(facts(cluster, 0.55) for cluster in "aaab"), groups=64, other_load={"b": 0.7})


def test_what_no_move_of_a_slice_evens_out_key_groups_do():
    world = uneven()
    found = EvenLoad().plan(world)
    assert isinstance(found, Reslice)
    assert found.reason.numbers["before"] == pytest.approx(10.0)
    assert found.reason.numbers["after"] < 1.0
    assert len(found.owners["op.3"]) == 16 + found.reason.numbers["groups"]
    loads = found.prediction.load
    assert loads["a"] == pytest.approx(loads["b"], abs=0.02)
    changed = [n for n, g in found.owners.items() if g != found.was[n]]
    assert len(changed) == 2, "no other slice pauses"


@pytest.mark.parametrize(
    ("use", "why"),
    [
        (EvenLoadSettings(least_gain=11.0), "load distance of 10.0 points by 11 or more"),
        (EvenLoadSettings(least_load=0.9), "below 90 %"),
    ],
)
def test_it_stays_calm_where_nothing_is_to_be_gained(use: EvenLoadSettings, why: str):
    found = EvenLoad(use).plan(uneven())
    assert isinstance(found, NoChange)
    assert why in found.reason.text


def test_a_key_group_that_is_too_heavy_to_help_is_passed_over():
    rates = dict.fromkeys(range(8), 1.0) | {7: 25.0}
    hot = facts("a", 1.6, group_rows_per_s=rates)
    found = EvenLoad().plan(problem(hot, facts("b", 0.8), groups=16))
    assert isinstance(found, Reslice)
    assert 7 in found.owners["op.0"]
    assert found.prediction.load["a"] == pytest.approx(0.6, abs=0.03)


def test_nothing_is_handed_to_a_cluster_that_is_closed_or_is_the_same():
    closed = problem(facts("a", 1.6), facts("b", 0.2), closed=("b",))
    alone = problem(facts("a", 1.6), facts("a", 0.2))
    for world in (closed, alone):
        assert isinstance(EvenLoad().plan(world), NoChange)


def test_it_goes_by_load_per_core_of_clusters_that_differ_in_size():
    found = EvenLoad().plan(
        problem(facts("a", 1.8), facts("b", 0.9), groups=64, capacity={"a": 2.0, "b": 4.0})
    )
    assert isinstance(found, Reslice)
    assert found.prediction.load == pytest.approx({"a": 0.45, "b": 0.45}, abs=0.02)
