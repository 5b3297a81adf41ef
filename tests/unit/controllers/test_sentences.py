"""Sentences that a person reads: whole, with one number where two would read the same."""

import re

import pytest
from msgspec.structs import replace

from tests.unit.controllers.engine.asked import NOW, scale
from weir.controllers.balancing.explain import explain
from weir.controllers.balancing.problem import Bin, Item, Problem
from weir.controllers.engine.judge.verification import judge
from weir.controllers.engine.propose.outlook import by_hand, continue_outlook, outlook
from weir.controllers.model.decision import Move
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import span
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create
from weir.controllers.simulator.summary import SimulationSummary
from weir.controllers.simulator.tuning import Candidate, verdict


def seen(at: float, **figures: float) -> Snapshot:
    given = {
        "arrival_rows_per_s": 5.0, "processed_rows_per_s": 5.0, "cost_s_per_row": 0.0001,
        "load": 0.0005, "queue_rows": 0, "processing_s": 0.01, "trigger_s": 0.01,
    } | figures  # fmt: skip
    operator = OperatorSample(name="o", cluster="a", batch_id=int(at), batch_rows=1, **given)
    cluster = Cluster(name="a", executors=1, executors_wanted=1, max_executors=4)
    sample = ClusterSample(at=at, period_s=10.0, cluster=cluster, operators=(operator,))
    return Snapshot.of([sample], at)


def test_too_early_says_what_is_needed() -> None:
    scaler = create("horizon", {}, Scope(cluster="a"))
    decision, _ = scaler.decide(seen(10.0), scaler.fresh(), 10.0)
    assert re.fullmatch(
        r"Too early to tell: \d batch(es)? in less than a second; 3 batches and 30 s are needed\.",
        decision.reason.text,
    )


def test_what_is_foreseen_is_never_nothing_nor_a_range_of_one_number() -> None:
    scaler = create("horizon", {}, Scope(cluster="a"))
    memory = scaler.fresh()
    for i in range(1, 12):
        decision, memory = scaler.decide(seen(10.0 * i), memory, 10.0 * i)
    said = decision.reason.text
    assert "the latency foreseen is below 0.1 s" in said
    assert "0.0 s" not in said
    for low, high in re.findall(r"\(([\d.]+) to ([\d.]+)", said):
        assert low != high


def test_a_plan_that_hardly_changes_the_distance_leaves_it() -> None:
    bins = (Bin(name="a", capacity=4.0), Bin(name="b", capacity=4.0))
    items = (Item(name="x", load=2.0, bin="a"), Item(name="y", load=0.0001, bin="a"))
    problem = Problem(bins=bins, items=items)
    plan = by_hand(problem, [Move(operator="y", source="a", target="b")])
    assert explain(plan, problem).endswith("It leaves the load distance at 25.0 points.")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (0.9, "The load went from 120 % to 90 %; 60 % was predicted, so 50 % of it came true."),
        (1.2, "The load stayed at 120 %; 60 % was predicted, so none of it came true."),
        (1.4, "The load went from 120 % to 140 %; 60 % was predicted, so none of it came true."),
        (0.3, "The load went from 120 % to 30 %; 60 % was predicted, so it changed by more than that."),
    ],
)  # fmt: skip
def test_a_verdict_says_how_much_came_true(now: float, said: str) -> None:
    found = scale(4)
    before = replace(found.before, load={"a": 1.2}, executors={"a": 2}, work_cores=2.4)
    found = replace(found, before=before, predicted=replace(before, load={"a": 0.6}))
    measured = replace(before, load={"a": now}, executors={"a": 4})
    assert judge(found, measured, 0.5).verdict.startswith(said)


def test_figures_that_read_the_same_are_as_before() -> None:
    def point(hours: float, over: float) -> Candidate:
        summary = SimulationSummary(
            scaler="drs", latency_p50_s=1, latency_p95_s=2, latency_p99_s=3,
            share_over_target=over, executors_mean=2, executors_peak=3, executor_hours=hours,
            actions=1, settle_steps=1, served_share=1.0,
        )  # fmt: skip
        return Candidate(label="trial 7", scaler="drs", judged=summary)

    _, said = verdict(point(1.5, 0.01), point(2.0, 0.010001))
    assert said.endswith(
        "1.00 % of the time over target as before, 1.50 executor-hours instead of 2.00."
    )


def test_a_time_that_passed_has_the_unit_that_suits_it() -> None:
    assert [span(s) for s in (-1.0, 0.0, 1.0, 119.0, 300.0, 86_400.0)] == [
        "less than a second", "less than a second", "1 s", "119 s", "5 min", "24.0 h",
    ]  # fmt: skip


def numbered(*numbers: int) -> Problem:
    bins = tuple(Bin(name=f"c-{n}", capacity=1.0) for n in numbers)
    items = tuple(
        Item(name=f"op-{n}", load=0.1, bin=f"c-{n}", series=(0.1, 0.2, 0.1 * n)) for n in numbers
    )
    return Problem(bins=bins, items=items)


def test_names_stand_in_the_order_of_their_numbers() -> None:
    view = outlook(numbered(10, 2, 1), NOW, wait="", chosen="milp", auto=False)
    assert view.clusters.rows == ("c-1", "c-2", "c-10")
    assert view.operators.rows == ("op-1", "op-2", "op-10")
    assert view.operators_by_cluster.columns == view.clusters.rows
    samples = [
        ClusterSample(
            at=NOW, period_s=1.0, cluster=Cluster(name=f"c-{n}"),
            operators=(OperatorSample(name=f"op-{n}", cluster=f"c-{n}"),),
        )
        for n in (10, 9)
    ]  # fmt: skip
    snapshot = Snapshot.of(samples, NOW)
    assert [c.name for c in snapshot.clusters] == ["c-9", "c-10"]
    assert [o.name for o in snapshot.operators] == ["op-9", "op-10"]


def test_the_load_at_first_is_that_of_the_first_view_with_all_operators() -> None:
    starting = outlook(numbered(1, 2), NOW, wait="", chosen="milp", auto=False)
    view = continue_outlook(starting, None, told=False)
    assert (view.distance, view.first_load, view.load_index) == ((), None, None)
    whole = continue_outlook(replace(starting, at=NOW + 5.0), view, told=True)
    assert whole.load_index == 1.0
    assert len(whole.distance) == 1
    later = continue_outlook(replace(starting, at=NOW + 9.0), whole, told=False)
    assert (len(later.distance), later.first_load) == (2, whole.first_load), "it goes on"
