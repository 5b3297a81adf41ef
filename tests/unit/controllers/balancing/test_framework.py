"""The integrative framework, the order of moves, and the problem of a snapshot."""

import numpy as np
import pytest
from msgspec.structs import replace

from tests.unit.controllers.balancing.problems import random_problem, simple
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.dodo import DodoNoCapacity
from weir.controllers.balancing.flux import Flux
from weir.controllers.balancing.from_snapshot import explain, problem_of
from weir.controllers.balancing.integrative import integrate
from weir.controllers.balancing.milp import Milp
from weir.controllers.balancing.order import order_moves
from weir.controllers.balancing.plan import Plan, plan_of
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem
from weir.controllers.model.decision import Moves, NoChange, Reason
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.snapshot import Edge, Snapshot


def out_above(limit: float):
    def judge(problem: Problem, plan) -> Problem | None:
        if max(plan.after.load.values()) <= limit:
            return None
        return replace(problem, bins=(*problem.bins, Bin(name="new", capacity=100.0)))

    return judge


def test_a_rebalance_that_cures_the_overload_suppresses_the_scale_out():
    done = integrate(simple([[40.0, 40.0, 40.0], [10.0]]), Milp(), out_above(90.0))
    assert not done.scaled
    assert max(done.plan.after.load.values()) <= 90.0


def test_an_overload_that_no_plan_cures_scales_out_and_plans_again():
    done = integrate(simple([[60.0, 60.0], [60.0, 60.0]]), Milp(), out_above(90.0))
    assert done.scaled
    assert done.plan.after.load["new"] > 0.0


def test_drained_bins_are_ended():
    done = integrate(simple([[10.0], [], [5.0]], keep=[True, False, True]), Milp())
    assert done.ended == ("b1",)
    assert "b1" not in done.plan.after.load


def test_flux_takes_the_largest_suitable_item_pair_by_pair():
    plan = Flux().plan(simple([[30.0, 25.0, 5.0], [20.0, 1.0], [18.0], [6.0]], moves=2))
    assert {(m.operator, m.target) for m in plan.moves} == {("b0i0", "b3"), ("b1i1", "b2")}


@pytest.mark.parametrize("seed", range(5))
def test_no_bin_is_overfull_on_the_way(seed: int):
    problem = random_problem(seed, moves=20)
    arrays = Arrays.of(problem)
    plan = Flux().plan(problem)
    index = {b.name: k for k, b in enumerate(problem.bins)}
    place = np.array([index[plan.placement[i.name]] for i in problem.items])
    order = order_moves(arrays, place)
    assert sorted(order) == np.flatnonzero(place != arrays.home).tolist()
    load, after = arrays.bin_load(arrays.home), arrays.bin_load(place)
    most = np.maximum(load, after)
    for item in order:
        load[arrays.home[item]] -= arrays.load[item]
        load[place[item]] += arrays.load[item]
        assert (load <= most + arrays.load[item]).all()
    assert load == pytest.approx(after)


def test_two_that_change_places_still_get_an_order():
    arrays = Arrays.of(simple([[30.0], [20.0]]))
    assert order_moves(arrays, np.array([1, 0])) == [1, 0]


def snapshot() -> Snapshot:
    return Snapshot(
        at=0.0,
        period_s=2.0,
        clusters=(
            Cluster(name="big", executors=3, cores_per_executor=2, hosted=True),
            Cluster(name="small", executors=1, cores_per_executor=1, hosted=True),
            Cluster(name="foreign", executors=2),
            Cluster(name="down", executors=0, hosted=True),
        ),
        operators=(
            OperatorSample(name="extract", cluster="big", load=1.2),
            OperatorSample(name="count", cluster="small", load=9.9, state_bytes=1000),
            OperatorSample(name="top", cluster="small", load=0.2),
            OperatorSample(name="theirs", cluster="foreign", load=1.0),
            OperatorSample(name="broken", cluster="big", load=1.0, status=OperatorStatus.FAILED),
        ),
        edges=(
            Edge(source="tweets", target="extract", dataset="tweets", rows_per_s=10.0),
            Edge(
                source="extract", target="count", dataset="words", rows_per_s=5.0, bytes_per_s=50.0
            ),
        ),
    )


def test_the_problem_of_a_snapshot():
    series = {"count": LoadSeries((0.6, 0.8, 1.0)), "top": LoadSeries((0.2, 0.2, 0.2))}
    problem = problem_of(snapshot(), series, Budget(moves=1), pinned={"top"}, draining={"small"})
    assert [(b.name, b.capacity, b.keep) for b in problem.bins] == [
        ("big", 6.0, True), ("small", 1.0, False)]  # fmt: skip
    assert {i.name: (i.load, i.move_cost, i.pinned) for i in problem.items} == {
        "extract": (1.2, 0.0, False),
        "count": (pytest.approx(0.8), 1000.0, False),
        "top": (pytest.approx(0.2), 0.0, True),
    }
    assert [(f.source, f.target, f.rate) for f in problem.flows] == [("extract", "count", 50.0)]


def test_the_plan_of_a_snapshot_as_a_decision_and_in_words():
    series = {"count": LoadSeries((0.6, 0.8, 1.0)), "top": LoadSeries((0.1, 0.2, 0.3))}
    problem = problem_of(snapshot(), series, Budget(moves=1))
    plan = Milp().plan(problem)
    assert isinstance(plan.decision, Moves)
    assert plan.decision.prediction.cost == 1000.0
    assert plan.decision.prediction.pause_s == pytest.approx(6.5)
    text = explain(plan, problem)
    assert "Moving count from small to big helps because small carries 100 %" in text
    assert "rises and falls with the rest of small (correlation 1.00)" in text
    assert "exchanges data with extract there" in text


def test_a_plan_that_hurts_is_not_said_to_help():
    bins = (Bin(name="c1", capacity=6.0), Bin(name="c2", capacity=1.0))
    items = (
        Item(name="extract", load=1.5, bin="c1"),
        Item(name="count", load=4.2, bin="c1"),
        Item(name="top_n", load=0.1, bin="c2"),
    )
    problem = Problem(bins=bins, items=items)
    text = explain(DodoNoCapacity().plan(problem), problem)
    assert text.startswith("Moving extract from c1 to c2 does not help: c1 carries 95 % of its")
    assert text.endswith("It brings the load distance from 72.9 to 77.1 points.")


def test_emptying_and_bringing_together_help_whatever_the_balance():
    problem = simple([[4.0], [10.0], [10.0]], keep=[False, True, True])
    text = explain(Milp().plan(problem), problem)
    assert "helps because b0 is to be emptied" in text
    items = tuple(replace(i, load=5.0) for i in simple([[1.0, 1.0], [1.0, 1.0]]).items)
    flows = (Flow(source="b0i0", target="b1i0", rate=5.0),)
    problem = replace(simple([[], []]), items=items, flows=flows, budget=Budget(moves=1))
    text = explain(by_hand(problem, "b0i0", "b1"), problem)
    assert "helps the traffic, not the balance: b0 carries 10 %" in text
    assert "it exchanges data with b1i0 there" in text


def by_hand(problem: Problem, item: str, target: str) -> Plan:
    """The plan of a single move."""
    arrays = Arrays.of(problem)
    place = arrays.home.copy()
    place[[i.name for i in problem.items].index(item)] = [b.name for b in problem.bins].index(
        target
    )
    return plan_of("by_hand", problem, arrays, place, Reason(text="Chosen by hand."))


def test_no_plan_in_words_and_as_a_decision():
    problem = simple([[1.0], [1.0]])
    plan = Milp().plan(problem)
    assert isinstance(plan.decision, NoChange)
    assert explain(plan, problem) == plan.reason.text
