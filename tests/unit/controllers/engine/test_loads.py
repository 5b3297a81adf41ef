"""The loads that plans go by: what has to be met, not what got through; unknown is not 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.from_snapshot import problem_of
from weir.controllers.engine.judge.figures import figures_now
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now, why_wait
from weir.controllers.engine.propose.loads import loads_of
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.outlook import outlook
from weir.controllers.model.decision import Move, Moves, Reason
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot

SETTINGS = BalanceSettings(least_periods=4, moves=2)
Samples = dict[str, list[ClusterSample]]


def operator(name: str, cluster: str, arrives: float, done: float, cost: float) -> OperatorSample:
    reads, writes = {"extract": ("in", "mid"), "count": ("mid", "out")}.get(name, ("x", "y"))
    return OperatorSample(
        name=name, cluster=cluster, reads=(reads,), writes=(writes,), arrival_rows_per_s=arrives,
        processed_rows_per_s=done, cost_s_per_row=cost, load=arrives * cost, queue_rows=0, batch_id=1,
    )  # fmt: skip


def cluster(name: str) -> Cluster:
    return Cluster(name=name, executors={"wide": 4}.get(name, 1), hosted=True)


def history(*operators: OperatorSample, periods: int = 10, since: float = 100.0) -> Samples:
    """So many periods of two seconds with these figures."""
    return {
        name: [
            ClusterSample(
                at=since + 2.0 * i, period_s=2.0, cluster=cluster(name),
                operators=tuple(o for o in operators if o.cluster == name),
            )
            for i in range(periods)
        ]
        for name in ("narrow", "wide")
    }  # fmt: skip


def joined(*parts: Samples) -> Samples:
    return {name: [s for part in parts for s in part[name]] for name in ("narrow", "wide")}


def now(samples: Samples) -> Snapshot:
    newest = [its[-1] for its in samples.values()]
    return Snapshot.of(newest, at=newest[0].at)


def optimal(done: float) -> Samples:
    """Half a core of work on one core, two on four; the first operator gets `done` through."""
    return history(
        operator("extract", "narrow", 500.0, done, 0.001),
        operator("count", "wide", done, done, 0.004),
    )


def test_behind_an_operator_that_falls_behind_the_load_is_what_would_arrive() -> None:
    loads = loads_of(optimal(150.0), now(optimal(150.0)))
    assert loads.now["count"] == pytest.approx(2.0)
    assert loads.series["count"].values == pytest.approx((2.0,) * 10)
    assert loads.now["extract"] == pytest.approx(0.5)


def test_the_optimal_placement_stays_while_the_first_operator_is_behind() -> None:
    samples = optimal(150.0)
    problem = problem_now(now(samples), samples, SETTINGS)
    assert why_wait(now(samples), problem, [], SETTINGS, now(samples).at) == ""
    for name in set(planners()) - {"dodo_no_capacity"}:
        assert planner(name).plan(problem).moves == (), name
    naive = problem_of(now(samples), {}, problem.budget)  # what arrives: 0.6 core on four
    assert planner("milp").plan(naive).moves


def test_catching_up_is_no_load_to_plan_for() -> None:
    samples = history(
        operator("extract", "narrow", 100.0, 400.0, 0.001),
        operator("count", "wide", 400.0, 400.0, 0.004),
    )
    assert loads_of(samples, now(samples)).now["count"] == pytest.approx(0.4)


def test_a_move_of_the_first_operator_does_not_change_the_load_behind_it() -> None:
    """It stood still and then caught up: over the window as many rows went on as came in."""
    count = operator("count", "wide", 200.0, 200.0, 0.004)
    before = history(operator("extract", "narrow", 200.0, 200.0, 0.001), count, periods=6)
    paused = history(
        operator("extract", "narrow", 200.0, 0.0, 0.001),
        replace(
            operator("extract", "wide", 200.0, 0.0, 0.001),
            status=OperatorStatus.STARTING,
            batch_id=None,
            cost_s_per_row=None,
        ),
        replace(count, arrival_rows_per_s=0.0, load=0.0),
        periods=2,
        since=112.0,
    )
    after = history(
        operator("extract", "wide", 200.0, 400.0, 0.001),
        replace(count, arrival_rows_per_s=400.0, load=1.6),
        periods=2,
        since=116.0,
    )
    samples = joined(before, paused, after)
    problem = problem_now(now(samples), samples, SETTINGS)
    loads = {i.name: i.load for i in problem.items}
    assert loads == pytest.approx({"count": 0.8, "extract": 0.2}, rel=0.01)


def test_a_move_is_judged_by_the_loads_that_it_was_planned_with() -> None:
    behind = optimal(150.0)
    view = outlook(
        problem_now(now(behind), behind, SETTINGS), now(behind).at, wait="", chosen="", auto=False
    )
    away = Move(operator="extract", source="narrow", target="wide")
    moves = Moves(moves=(away,), reason=Reason(text=""))
    asked = new_recommendation(
        moves, now(behind), id="r", source="milp", now=now(behind).at, ttl_s=60.0, outlook=view
    )
    assert asked.before.load == pytest.approx({"narrow": 0.5, "wide": 0.5})
    assert asked.predicted.load == pytest.approx({"narrow": 0.0, "wide": 0.625})
    moved = history(
        operator("extract", "wide", 500.0, 500.0, 0.001),
        operator("count", "wide", 500.0, 500.0, 0.004),
    )
    later = outlook(
        problem_now(now(moved), moved, SETTINGS), now(moved).at, wait="", chosen="", auto=False
    )
    measured = figures_now(moves, now(moved), later)
    assert measured.load == pytest.approx(asked.predicted.load)
    assert measured.work_cores == pytest.approx(asked.before.work_cores)
    old = figures_now(moves, replace(now(behind), at=view.at + 60.0), view)
    assert old.load == pytest.approx({"narrow": 0.5, "wide": 0.15})  # what arrives, by the samples


def test_without_a_cost_the_last_known_one_counts_wherever_it_was_measured() -> None:
    count = operator("count", "wide", 300.0, 300.0, 0.004)
    before = history(replace(count, cluster="narrow"), periods=2)
    fresh = replace(count, cost_s_per_row=None, load=0.0)
    samples = joined(before, history(fresh, periods=5, since=104.0))
    problem = problem_now(now(samples), samples, SETTINGS)
    (item,) = problem.items
    assert (item.known, item.load, len(item.series)) == (True, pytest.approx(1.2), 7)


def test_a_series_survives_a_move_and_a_period_that_two_clusters_report_counts_once() -> None:
    count = operator("count", "wide", 300.0, 300.0, 0.004)
    before = history(replace(count, cluster="narrow"), periods=6)
    both = history(count, replace(count, cluster="narrow", load=9.0), periods=2, since=112.0)
    samples = joined(before, both, history(count, periods=3, since=116.0))
    assert loads_of(samples, now(samples)).series["count"].values == pytest.approx((1.2,) * 11)


@pytest.mark.parametrize(("arrives", "queue"), [(300.0, 0), (0.0, 900)])
def test_a_load_that_nobody_knows_is_not_planned_with(arrives: float, queue: int) -> None:
    cold = replace(
        operator("count", "narrow", arrives, 0.0, 0.0),
        cost_s_per_row=None, load=0.0, queue_rows=queue,
    )  # fmt: skip
    samples = history(cold, operator("other", "wide", 10.0, 10.0, 0.001))
    problem = problem_now(now(samples), samples, SETTINGS)
    assert problem.unknown == ["count"]
    assert why_wait(now(samples), problem, [], SETTINGS, now(samples).at) == (
        "the cost of count is not known yet"
    )
    view = outlook(problem, 0.0, wait="", chosen="milp", auto=False)
    assert view.distance == ()
    for proposal in view.proposals:
        assert proposal.plan.moves == ()
        assert proposal.words == "The load of count is not known yet."


def test_who_has_nothing_to_do_has_no_load_and_no_cost() -> None:
    idle = replace(operator("count", "narrow", 0.0, 0.0, 0.0), cost_s_per_row=None)
    samples = history(idle)
    assert problem_now(now(samples), samples, SETTINGS).unknown == []


@given(
    rows=st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12),
    cost=st.floats(1e-5, 0.1),
    passes=st.floats(0.1, 3.0),
)
def test_where_everybody_keeps_up_the_loads_are_those_reported(
    rows: list[float], cost: float, passes: float
) -> None:
    samples: Samples = joined(
        *(
            history(
                operator("extract", "narrow", rate, rate, cost),
                operator("count", "wide", rate * passes, rate * passes, cost),
                periods=1,
                since=100.0 + 2.0 * i,
            )
            for i, rate in enumerate(rows)
        )
    )
    loads = loads_of(samples, now(samples))
    for name, its in (("extract", samples["narrow"]), ("count", samples["wide"])):
        reported = [s.operators[0].load for s in its]
        assert loads.series[name].values == pytest.approx(reported)
        assert loads.now[name] == pytest.approx(reported[-1])
    assert not loads.unknown
