"""What people set for balancing reaches the planners."""

import pytest
from msgspec.structs import replace

from tests.unit.controllers.engine.test_balance import history, now
from weir.controllers.balancing.base import planner, planners
from weir.controllers.engine.facts import read_facts
from weir.controllers.engine.groups import check_settings, groups, settings_type
from weir.controllers.engine.propose.balance import BalanceSettings, planner_group, problem_now
from weir.controllers.engine.propose.outlook import outlook
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.memory_store import MemoryStore

SETTINGS = BalanceSettings(planner="dodo", least_periods=4)


def test_cost_budget_pinned_operators_and_draining_clusters_are_in_the_problem() -> None:
    samples = history()
    chosen = replace(
        SETTINGS, most_state_bytes=500, pinned_operators="top, count", draining_clusters="narrow,"
    )
    problem = problem_now(now(samples), samples, chosen)
    assert problem.budget.cost == 500.0
    assert {b.name: b.keep for b in problem.bins} == {"wide": True, "narrow": False}
    assert {i.name for i in problem.items if i.pinned} == {"top", "count"}
    plain = problem_now(now(samples), samples, SETTINGS)
    assert plain.budget.cost is None
    assert all(b.keep for b in plain.bins)
    assert not any(i.pinned for i in plain.items)


def test_every_planner_with_settings_has_a_group() -> None:
    found = {g.name: g for g in groups([])}
    assert {n for n in found if n.startswith("balance:")} == {
        "balance:albic", "balance:cola", "balance:dodo", "balance:dodo_no_capacity", "balance:milp",
    }  # fmt: skip
    assert found["balance:dodo"].title == "DoDo with capacity"
    assert settings_type("balance:albic") is planners()["albic"].Settings
    assert check_settings("balance:albic", {"max_distance": 4}).max_distance == 4.0  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="max_distanc"):
        check_settings("balance:albic", {"max_distanc": 4})
    with pytest.raises(NotFound, match="there is no planner 'albik'"):
        settings_type("balance:albik")


def test_a_planners_own_settings_are_read_and_used() -> None:
    samples = history()
    store = MemoryStore()
    store.save_settings(planner_group("dodo"), {"load_threshold": 5.0})
    store.save_settings(planner_group("cola"), {"max_distance": "no number any more"})
    facts = read_facts(store, 120.0, 1, outlook=None, outlooks={})
    assert facts.planners["dodo"]["load_threshold"] == 5.0
    problem = problem_now(now(samples), samples, SETTINGS, (), facts.planners)
    assert planner("dodo").plan(problem).moves == ()
    assert planner("dodo_no_capacity").plan(problem).moves
    assert planner("cola").plan(problem).reason.text
    assert planner("dodo").plan(problem_now(now(samples), samples, SETTINGS)).moves


def test_a_planner_that_is_given_time_solves_a_small_problem_to_the_end() -> None:
    samples = history()
    snapshot: Snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    started: list[str] = []

    def allow(name):
        started.append(name)
        return lambda: 1.0

    view = outlook(problem, snapshot.at, wait="", chosen="", auto=False, allow=allow)
    assert started == list(planners())
    (best,) = (p.plan for p in view.proposals if p.plan.planner == "milp")
    assert best.bound is not None
    assert best.after.load_distance - best.bound < 0.01


def test_planners_that_a_world_is_too_large_for_are_left_out_and_say_so(monkeypatch) -> None:
    samples = history()
    snapshot = now(samples)
    problem = problem_now(snapshot, samples, SETTINGS)
    monkeypatch.setattr(planners()["albic"], "most_items", len(problem.items) - 1)
    asked: list[str] = []

    def allow(name):
        asked.append(name)

    view = outlook(problem, snapshot.at, wait="", chosen="", auto=False, allow=allow)
    assert asked == [name for name in planners() if name != "albic"]
    (row,) = (p for p in view.proposals if p.plan.planner == "albic")
    assert row.words == f"Left out: {view.left_out['albic']}."
    assert row.label == "ALBIC"
    assert row.plan.moves == ()
    count = len(problem.items)
    assert (
        view.left_out["albic"]
        == f"{count} operators are more than the {count - 1} up to which it is asked"
    )
