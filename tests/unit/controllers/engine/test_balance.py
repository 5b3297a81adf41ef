"""When the engine balances, and with what in hand."""

import pytest
from msgspec.structs import replace

from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.problem import Bin, Item, Problem
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.propose.balance import (
    BalanceSettings,
    problem_now,
    why_wait,
)
from weir.controllers.engine.propose.outlook import Matrix, by_hand, outlook
from weir.controllers.engine.propose.pauses import pause_of
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot

SETTINGS = BalanceSettings(planner="dodo", least_periods=4, hold_s=60.0)


def history(periods: int = 10) -> dict[str, list[ClusterSample]]:
    """DoDo's extreme case: the small cluster is full, the large one idle."""
    found: dict[str, list[ClusterSample]] = {"wide": [], "narrow": []}
    for i in range(periods):
        wide = Cluster(name="wide", executors=2, cores_per_executor=2, hosted=True)
        narrow = Cluster(name="narrow", executors=1, cores_per_executor=1, hosted=True)
        extract = OperatorSample(name="extract", cluster="wide", load=0.5 + 0.02 * i, batch_id=i)
        count = OperatorSample(name="count", cluster="narrow", load=0.9 + 0.05 * i, batch_id=i)
        top = OperatorSample(name="top", cluster="narrow", load=0.2 + 0.01 * i, batch_id=i)
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
    plan = planner(SETTINGS.planner).plan(problem)
    assert [(m.operator, m.source, m.target) for m in plan.moves] == [("count", "narrow", "wide")]
    assert plan.planner == "dodo"


def test_nothing_is_planned_to_a_host_that_does_not_declare_it() -> None:
    samples = history()
    wide = replace(samples["wide"][-1].cluster, declared=("extract", "top"))
    samples["wide"][-1] = replace(samples["wide"][-1], cluster=wide)
    problem = problem_now(now(samples), samples, SETTINGS)
    assert {i.name: i.allowed for i in problem.items} == {
        "count": ("narrow",), "extract": None, "top": None,
    }  # fmt: skip
    moved = {m.operator for name in planners() for m in planner(name).plan(problem).moves}
    assert "top" in moved
    assert "count" not in moved
    with pytest.raises(InvalidInput, match="wide cannot run count"):
        by_hand(problem, [Move(operator="count", source="narrow", target="wide")])


def test_a_cluster_that_is_gone_is_not_counted_on_nor_waited_for() -> None:
    samples = history()
    gone = Cluster(name="gone", executors=4, cores_per_executor=1, hosted=True)
    watched = Cluster(name="watched", executors=1)  # somebody's own job
    for age_s, cluster in ((200.0, gone), (50.0, watched)):
        samples[cluster.name] = [ClusterSample(at=118.0 - age_s, period_s=2.0, cluster=cluster)]
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    assert {b.name for b in problem.bins} == {"wide", "narrow"}
    assert why_wait(snapshot, problem, [], SETTINGS, snapshot.at) == ""


def test_it_waits_for_enough_fresh_periods() -> None:
    samples = history(3)
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    assert "fewer than 4 periods" in why_wait(snapshot, problem, [], SETTINGS, snapshot.at)
    samples = history()
    late = Snapshot.of([s[-1] for s in samples.values()], at=130.0)
    assert why_wait(late, problem_now(late, samples, SETTINGS), [], SETTINGS, 130.0) == (
        "no fresh figures from narrow, wide"
    )


def test_it_waits_for_the_last_rebalance_to_end_and_to_settle() -> None:
    samples = history()
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    plan = planner(SETTINGS.planner).plan(problem)
    moves = tuple(MoveState(move=move) for move in plan.moves)
    rebalance = Rebalance(id="r1", at=snapshot.at, moves=moves, planner=plan.planner)
    assert why_wait(snapshot, problem, [rebalance], SETTINGS, snapshot.at) == (
        "a rebalance is under way"
    )
    ended = replace(
        rebalance,
        moves=tuple(replace(m, step=MoveStep.FAILED, since=snapshot.at) for m in rebalance.moves),
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
    assert by_cluster["count"] == (1.0, 1.0)
    again = outlook(problem, snapshot.at + 5, wait="", chosen="dodo", auto=False, before=first)
    assert [t for t, _ in again.distance] == [snapshot.at, snapshot.at + 5]
    assert again.distance[0][1] > 50


def test_one_that_began_late_blanks_no_other_correlation() -> None:
    rising = tuple(0.1 * i for i in range(8))
    items = (
        Item(name="long", load=0.4, bin="a", series=rising),
        Item(name="other", load=0.4, bin="b", series=tuple(reversed(rising))),
        Item(name="short", load=0.1, bin="b", series=(0.1, 0.3, 0.2)),
        Item(name="young", load=0.1, bin="b", series=(0.1,)),
        Item(name="new", load=0.0, bin="b"),
    )
    bins = tuple(Bin(name=name, capacity=1.0) for name in ("a", "b", "idle"))
    view = outlook(Problem(bins=bins, items=items), 0.0, wait="", chosen="", auto=False)

    def cell(matrix: Matrix, row: str, column: str) -> tuple[float | None, int]:
        r, c = matrix.rows.index(row), matrix.columns.index(column)
        return matrix.values[r][c], matrix.periods[r][c]

    assert cell(view.operators, "long", "other") == (-1.0, 8)
    assert cell(view.operators, "long", "short") == (0.5, 3)
    assert cell(view.operators, "long", "young") == (None, 1)
    assert cell(view.operators, "long", "new") == (None, 0)
    assert cell(view.clusters, "a", "b") == (-0.5, 3)  # over what all but the newcomers have
    assert cell(view.clusters, "a", "idle") == (0.0, 8)  # nothing runs there: constant
    assert cell(view.operators_by_cluster, "short", "a") == (0.5, 3)
    assert cell(view.operators_by_cluster, "long", "b")[1] == 3


def moved(*measured: tuple[float | None, int], at: float = 1.0) -> Rebalance:
    """A rebalance whose moves took these pauses, with states of these sizes."""
    move = Move(operator="count", source="narrow", target="wide")
    states = (
        MoveState(move=move, step=MoveStep.DONE, paused_s=pause_s, state_bytes=size, drained_at=1.0)
        for pause_s, size in measured
    )
    return Rebalance(id=str(at), at=at, moves=tuple(states))


def test_the_predicted_pause_follows_what_moves_took() -> None:
    samples = history()
    snapshot = now(samples)

    def predicted(*rebalances: Rebalance) -> float:
        problem = problem_now(snapshot, samples, SETTINGS, rebalances)
        move = Move(operator="count", source="narrow", target="wide")
        return by_hand(problem, [move]).predicted_pause_s

    assert predicted() == 6.5
    assert predicted(moved((2.0, 0), (3.0, 0), (40.0, 0))) == 3.0
    # One without input has no pause, and one that failed tells nothing of the next.
    failed = replace(moved((90.0, 0)).moves[0], step=MoveStep.RETURNED)
    other = replace(moved((2.5, 0), (None, 0)), moves=(*moved((2.5, 0), (None, 0)).moves, failed))
    assert predicted(other) == 2.5
    old = moved(*[(60.0, 0)] * 40, at=0.0)
    assert predicted(old, moved(*[(1.5, 0)] * 30, at=5.0)) == 1.5


def test_a_large_state_costs_more_once_there_are_moves_that_show_it() -> None:
    sizes = (0, 10**6, 4 * 10**6, 9 * 10**6)
    fitted = pause_of([moved(*((3.0 + size / 1e6, size) for size in sizes))])
    assert (fitted.base_s, fitted.s_per_cost * 1e6) == pytest.approx((3.0, 1.0))
    alike = pause_of([moved(*((3.0 + i, 10**6 + i) for i in range(9)))])
    assert (alike.base_s, alike.s_per_cost) == (7.0, 0.0)  # nothing to tell it from
    faster = pause_of([moved(*((9.0 - i, 10**i) for i in range(6)))])
    assert faster.s_per_cost == 0.0


def test_a_move_by_hand_is_predicted_or_refused_in_words() -> None:
    samples = history()
    problem = problem_now(now(samples), samples, SETTINGS)
    plan = by_hand(problem, [Move(operator="count", source="narrow", target="wide")])
    assert plan.after.load["narrow"] < plan.before.load["narrow"]
    with pytest.raises(InvalidInput, match="there is no cluster moon to move to"):
        by_hand(problem, [Move(operator="count", source="narrow", target="moon")])
