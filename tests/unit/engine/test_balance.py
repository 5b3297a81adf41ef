"""When the engine balances, and with what in hand."""

from msgspec.structs import replace

from controllers.engine.balance import (
    BalanceSettings,
    plan_now,
    problem_now,
    rebalance_of,
    why_wait,
)
from controllers.engine.moves import Step
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
        found["wide"].append(
            ClusterSample(at=at, period_s=2.0, cluster=wide, operators=(extract,))
        )
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
