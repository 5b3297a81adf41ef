"""When the engine balances, and with what in hand."""

import pytest
from msgspec.structs import replace

from controllers.balancing.base import planners
from controllers.engine.balance import (
    BalanceSettings,
    plan_now,
    problem_now,
    rebalance_of,
    why_wait,
)
from controllers.engine.moves import Step
from controllers.engine.outlook import by_hand, outlook
from controllers.model.decision import Move
from controllers.model.errors import InvalidInput
from controllers.model.snapshot import Cluster, ClusterSample, Operator, Snapshot

SETTINGS = BalanceSettings(planner="dodo", least_periods=4, hold_s=60.0)


def history(periods: int = 10) -> dict[str, list[ClusterSample]]:
    """DoDo's extreme case: the small cluster is full, the large one idle."""
    found: dict[str, list[ClusterSample]] = {"wide": [], "narrow": []}
    for i in range(periods):
        wide = Cluster(name="wide", executors=2, cores_per_executor=2, hosted=True)
        narrow = Cluster(name="narrow", executors=1, cores_per_executor=1, hosted=True)
        extract = Operator(name="extract", cluster="wide", load=0.5 + 0.02 * i, batch_id=i)
        count = Operator(name="count", cluster="narrow", load=0.9 + 0.05 * i, batch_id=i)
        top = Operator(name="top", cluster="narrow", load=0.2, batch_id=i)
        at = 100.0 + 2 * i
        found["wide"].append(ClusterSample(at=at, period_s=2.0, cluster=wide, operators=(extract,)))
        found["narrow"].append(
            ClusterSample(at=at, period_s=2.0, cluster=narrow, operators=(count, top))
        )
    return found


def now(samples: dict[str, list[ClusterSample]]) -> Snapshot:
    return Snapshot.of([s[-1] for s in samples.values()], at=samples["wide"][-1].at)


def test_the_extreme_case_moves_the_counting_to_the_large_cluster() -> None:
    samples = history()
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    assert why_wait(snapshot, problem, [], SETTINGS, snapshot.at) == ""
    plan = plan_now(problem, SETTINGS)
    assert ("count", "narrow", "wide") in [(m.operator, m.source, m.target) for m in plan.moves]
    rebalance = rebalance_of(plan, "r1", "engine", snapshot.at)
    assert {m.step for m in rebalance.moves} == {Step.PLANNED}
    assert rebalance.planner == "dodo"


def test_it_waits_for_enough_fresh_periods() -> None:
    samples = history(3)
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    assert "fewer than 4 periods" in why_wait(snapshot, problem, [], SETTINGS, snapshot.at)
    samples = history()
    late = Snapshot.of([s[-1] for s in samples.values()], at=200.0)
    assert why_wait(late, problem_now(late, samples, SETTINGS), [], SETTINGS, 200.0) == (
        "no fresh figures from narrow, wide"
    )


def test_it_waits_for_the_last_rebalance_to_end_and_to_settle() -> None:
    samples = history()
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    rebalance = rebalance_of(plan_now(problem, SETTINGS), "r1", "engine", snapshot.at)
    assert why_wait(snapshot, problem, [rebalance], SETTINGS, snapshot.at) == (
        "a rebalance is under way"
    )
    ended = replace(
        rebalance,
        moves=tuple(replace(m, step=Step.FAILED, since=snapshot.at) for m in rebalance.moves),
    )
    wait = why_wait(snapshot, problem, [ended], SETTINGS, snapshot.at + 20)
    assert wait == "the last rebalance is to settle for 40 s more"
    assert why_wait(snapshot, problem, [ended], SETTINGS, snapshot.at + 61) == ""


def test_the_outlook_has_every_planner_and_every_correlation() -> None:
    samples = history()
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    first = outlook(problem, snapshot.at, wait="", chosen="dodo", auto=False)
    assert {p.plan.planner for p in first.proposals} == set(planners())
    assert all(p.words for p in first.proposals)
    assert first.clusters.rows == ("narrow", "wide")
    assert first.operators.rows == ("count", "extract", "top")
    # Against its own cluster an operator is compared with the others there: top is constant.
    by_cluster = dict(
        zip(first.operators_by_cluster.rows, first.operators_by_cluster.values, strict=True)
    )
    assert by_cluster["count"] == (0.0, 1.0)
    again = outlook(problem, snapshot.at + 5, wait="", chosen="dodo", auto=False, before=first)
    assert [t for t, _ in again.distance] == [snapshot.at, snapshot.at + 5]
    assert again.distance[0][1] > 50


def test_a_move_by_hand_is_predicted_or_refused_in_words() -> None:
    samples = history()
    problem = problem_now(now(samples), samples, SETTINGS)
    plan = by_hand(problem, [Move(operator="count", source="narrow", target="wide")])
    assert plan.after.load["narrow"] < plan.before.load["narrow"]
    with pytest.raises(InvalidInput, match="there is no cluster moon to move to"):
        by_hand(problem, [Move(operator="count", source="narrow", target="moon")])
