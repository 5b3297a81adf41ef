"""One plan for size and place: the cheapest combination, within limits, in executors."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from weir.controllers.balancing.joint import ClusterSize, JointProblem, Way, best_options
from weir.controllers.balancing.latency import Timing, latency_s, timing_of
from weir.controllers.balancing.problem import Bin, Budget, Item, Problem


def question(
    loads: dict[str, list[float]], sizes: dict[str, tuple[int, int | None]]
) -> JointProblem:
    """Loads of the operators by cluster; executors that are there and that its scaler wants."""
    return JointProblem(
        problem=Problem(
            bins=tuple(Bin(name=n, capacity=float(have)) for n, (have, _) in sizes.items()),
            items=tuple(
                Item(name=f"{name}{k}", load=load, bin=name)
                for name, some in loads.items()
                for k, load in enumerate(some)
            ),
            budget=Budget(moves=2),
        ),
        sites={n: ClusterSize(name=n, executors=have, high=8, wanted=want) for n, (have, want) in sizes.items()},
    )  # fmt: skip


def test_a_move_that_spares_a_scale_out_is_the_plan_and_scaling_stands_beside_it() -> None:
    found = best_options(question({"a": [0.6, 0.5], "b": [0.1]}, {"a": (1, 2), "b": (1, None)}), [])
    assert (found[0].way, found[0].executors, len(found[0].moves)) == (Way.PLACE, 2, 1)
    scale = next(o for o in found if o.way is Way.SIZE)
    assert (scale.sizes, scale.executors) == ({"a": 2}, 3)
    assert {o.way for o in found} >= {Way.PLACE, Way.SIZE, Way.NOTHING}


def test_an_overload_that_no_move_cures_is_scaled_out() -> None:
    found = best_options(question({"a": [1.6], "b": [0.7]}, {"a": (1, 3), "b": (1, None)}), [])
    assert (found[0].way, found[0].sizes) == (Way.SIZE, {"a": 3})


def test_scale_in_is_judged_on_the_plan() -> None:
    """b alone could be smaller, but it takes over what a cannot carry."""
    asked = question({"a": [0.6, 0.6], "b": [0.2]}, {"a": (1, 2), "b": (2, 1)})
    best = best_options(asked, [])[0]
    assert [m.target for m in best.moves] == ["b"]
    assert "b" not in best.sizes


def test_a_calm_world_is_left_alone() -> None:
    found = best_options(
        question({"a": [0.33, 0.03], "b": [0.28]}, {"a": (1, None), "b": (1, None)}), []
    )
    assert found[0].way is Way.NOTHING


def test_the_cap_over_all_holds_but_stops_no_scale_in() -> None:
    asked = question({"a": [1.6], "b": [0.2]}, {"a": (1, 3), "b": (2, 1)})
    assert best_options(replace(asked, most_executors=4), [])[0].executors <= 4
    assert best_options(replace(asked, most_executors=2), [], may_move=False)[0].sizes in (
        {},
        {"b": 1},
    )


def test_what_people_look_at_stays_until_another_is_clearly_better() -> None:
    asked = question({"a": [0.5, 0.45, 0.2], "b": [0.1]}, {"a": (1, None), "b": (1, None)})
    best, *_ = best_options(asked, [])
    other = next(
        i for i in asked.problem.items if i.bin == "a" and i.name != best.moves[0].operator
        and abs(i.load - 0.5) < 0.1
    )  # fmt: skip
    proposed = (replace(best.moves[0], operator=other.name),)
    assert best_options(asked, [], proposed=proposed)[0].moves == proposed


def test_a_target_that_only_another_place_keeps_is_worth_a_move() -> None:
    asked = question({"a": [0.55, 0.2], "b": []}, {"a": (1, None), "b": (1, None)})
    timings = {"a0": Timing(trigger_s=2.0, fixed_s=1.0), "a1": Timing(trigger_s=2.0, fixed_s=0.2)}
    asked = replace(asked, timings=timings, target_s=4.0)
    best = best_options(asked, [])[0]
    assert best.moves
    assert best.latency_s is not None
    assert best.latency_s <= 4.0


@given(
    load=st.floats(0.0, 0.9), others=st.floats(0.0, 3.0), cores=st.integers(1, 8),
    trigger=st.floats(0.1, 30.0), fixed=st.floats(0.0, 5.0),
)  # fmt: skip
def test_latency_never_falls_with_load_and_never_rises_with_cores(
    load: float, others: float, cores: int, trigger: float, fixed: float
) -> None:
    timing = Timing(trigger_s=trigger, fixed_s=fixed)
    here = latency_s(load, others, cores, timing)
    assert here >= trigger / 2.0 or math.isinf(here)
    assert latency_s(load, others, cores + 1, timing) <= here + 1e-9
    assert latency_s(load + 0.05, others, cores, timing) >= here - 1e-9


@pytest.mark.parametrize("batch_s", [0.5, 1.9, 6.0])
def test_the_timing_reproduces_the_batch_that_was_measured(batch_s: float) -> None:
    timing = timing_of(0.4, 0.1, 1.0, trigger_s=2.0, batch_s=batch_s)
    period_s = max(2.0, batch_s)
    expected = max(batch_s, 0.4 / 0.9 * period_s)
    assert latency_s(0.4, 0.1, 1.0, timing) == pytest.approx(period_s / 2.0 + expected)
