"""The experiments that run live, without a live system: figures of samples, and verdicts."""

from pathlib import Path
from typing import Any

import pytest

from weir.controllers.model.errors import Unavailable
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample
from weir.controllers.model.slicing import Slicing
from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import (
    dodo_cases,
    dodo_chapter_7,
    dodo_live,
    live,
    smr_elastic,
    smr_recovery,
    smr_throughput,
)


def sample(at: float, rows: int, busy: float = 0.5, executors: int = 2) -> ClusterSample:
    operators = (
        OperatorSample(name="topic_count.0", slice_of="topic_count", cluster="c", rows=rows),
        OperatorSample(name="other", cluster="c", rows=99),
    )
    cluster = Cluster(
        name="c", executors=executors, cores_per_executor=1, busy_cores=busy * executors
    )
    return ClusterSample(at=at, period_s=1.0, cluster=cluster, operators=operators)


def test_rows_are_counted_where_they_come_out_and_when() -> None:
    found = {"c": [sample(10.0, 5), sample(12.0, 7), sample(16.0, 20)]}
    assert live.rows_out(found, ["topic_count"]) == 32
    assert live.over_time(found, 10.0, 25.0, 5.0, dodo_live.rate) == [12 / 5, 20 / 5, None]


def test_busy_cores_are_weighed_by_what_there_is() -> None:
    small, large = sample(1.0, 1, busy=1.0, executors=1), sample(1.0, 1, busy=0.0, executors=3)
    assert dodo_live.weighed({"a": [small], "b": [large]}) == pytest.approx(0.25)
    assert live.busy_shares({"a": [small], "b": []}) == {"a": 1.0, "b": None}


def way(throughput: float, moves: tuple[str, ...] = (), busy_all: float = 0.5) -> dict[str, Any]:
    empty = {
        k: [1.0, 2.0] for k in ("rows", "wide", "narrow", "wide executors", "narrow executors")
    }
    return {
        "throughput": throughput, "moves": list(moves), "busy": {"wide": 0.5, "narrow": None},
        "busy_all": busy_all, "waiting": 5, "run": "live-1", "series": empty,
        "executors": {"wide": 3, "narrow": 2},
    }  # fmt: skip


def test_the_extreme_case_wants_one_move_a_gain_and_a_collapse() -> None:
    good = {
        "as-placed": way(200.0), "dodo": way(380.0, ("topic_count to wide",)), "collapse": way(90.0),
    }  # fmt: skip
    concluded = dodo_cases.conclude_extreme(True, good)
    assert concluded.verdict is ClaimVerdict.REPRODUCED
    assert concluded.runs == ("live-1",)
    still = {**good, "collapse": way(210.0)}
    assert dodo_cases.conclude_extreme(True, still).verdict is ClaimVerdict.PARTLY
    nothing = {**good, "dodo": way(200.0), "collapse": way(210.0)}
    assert dodo_cases.conclude_extreme(True, nothing).verdict is ClaimVerdict.NOT


def test_the_optimal_case_wants_no_move_and_no_loss() -> None:
    good = {
        "as-placed": way(400.0), "dodo": way(395.0),
        "no-capacity": way(200.0, ("topic_count to narrow",)),
    }  # fmt: skip
    assert dodo_cases.conclude_optimal(True, good).verdict is ClaimVerdict.REPRODUCED
    moved = {**good, "dodo": way(300.0, ("top_n to wide",))}
    assert dodo_cases.conclude_optimal(True, moved).verdict is ClaimVerdict.PARTLY


def test_chapter_7_wants_more_from_each_step_within_the_cap() -> None:
    good = {
        "experiment-1": way(190.0), "experiment-2": way(290.0),
        "experiment-3": way(340.0, busy_all=0.8),
    }  # fmt: skip
    assert dodo_chapter_7.conclude(True, good).verdict is ClaimVerdict.REPRODUCED
    over = {**good["experiment-3"], "executors": {"wide": 4, "narrow": 4}}
    assert (
        dodo_chapter_7.conclude(True, good | {"experiment-3": over}).verdict is ClaimVerdict.PARTLY
    )


def recovery(one: float, two: float) -> dict[str, Any]:
    def part(count: int, most: float) -> dict[str, Any]:
        took = {f"topic_count.{k}": most for k in range(count)}
        entry = {
            "failures": count, "lost": sorted(took), "took_s": took, "most_s": most, "noticed_s": 3.0,
        }  # fmt: skip
        return {"rounds": [entry], "run": "live-1"}

    return {"failures-1": part(1, one), "failures-2": part(2, two)}


def test_recovery_in_parallel_and_one_after_the_other_are_told_apart() -> None:
    assert smr_recovery.conclude(True, recovery(1.4, 1.5)).verdict is ClaimVerdict.REPRODUCED
    assert smr_recovery.conclude(True, recovery(8.0, 9.0)).verdict is ClaimVerdict.PARTLY
    assert smr_recovery.conclude(True, recovery(8.0, 16.0)).verdict is ClaimVerdict.NOT


def test_every_node_runs_a_slice_of_its_own() -> None:
    plan = smr_recovery.plan(quick=False)
    places = [c.place for c in plan.clusters]
    assert places[1:] == [f"topic_count.{k}" for k in range(len(places) - 1)]
    assert f"slices={len(places) - 1}" in plan.values
    assert max(smr_recovery.failures(quick=False)) < len(places)


def test_a_higher_skew_makes_one_slice_hotter() -> None:
    slicing = Slicing.even(smr_elastic.NAME, smr_elastic.SLICES)
    even, skewed = (smr_elastic.hottest_share(slicing, s) for s in (0.0, smr_elastic.SKEWED))
    assert even < 0.6 < skewed
    shares = smr_elastic.group_shares(smr_elastic.SKEWED)
    assert sum(shares) == pytest.approx(1.0)
    # One key alone must not be more than a slice can do at the rate that is asked for.
    assert max(shares) * 1.25 / skewed < 1.0


def elastic(reslices: list[dict[str, Any]], caught_up: float | None) -> dict[str, Any]:
    return {
        "rate": 300.0, "skew": 1.6, "took_s": 60.0, "run": "live-1", "reslices": reslices,
        "caught_up_s": caught_up, "waiting": 3, "rows": {"topic_count.0": [1.0, 2.0]},
        "queue": {"topic_count.0": [5, None]},
    }  # fmt: skip


def test_reacting_catching_up_and_being_quick_are_judged_apart() -> None:
    one = {
        "asked_s": 12.0, "done_s": 14.0, "react_s": 2.0, "paused_s": None, "why": "x", "slices": 2,
    }  # fmt: skip
    good = {"skew": elastic([one], 30.0), "scale-out": elastic([{**one, "slices": 3}], 30.0)}
    assert smr_elastic.conclude(True, good).verdict is ClaimVerdict.REPRODUCED
    slow = {**good, "skew": elastic([{**one, "react_s": 12.0}], 30.0)}
    assert smr_elastic.conclude(True, slow).verdict is ClaimVerdict.PARTLY
    none = {"skew": elastic([], None), "scale-out": elastic([], None)}
    concluded = smr_elastic.conclude(True, none)
    assert concluded.verdict is ClaimVerdict.NOT
    assert all(n.ours == n.ours for n in concluded.numbers)  # no NaN, which JSON does not have


def rates(memory: float, changelog: float, outside: float) -> dict[str, Any]:
    by_way = {
        "none": memory,
        "memory": memory,
        "changelog": changelog,
        "whole": changelog,
        "outside": outside,
    }
    return {
        f"{w}-{r}": {"rows_per_s": [0.6 * v * r, 0.5 * v * r]}
        for w, v in by_way.items()
        for r in smr_throughput.REDUCERS
    }


def test_the_price_of_a_back_up_decides() -> None:
    assert smr_throughput.conclude(True, rates(100, 85, 30)).verdict is ClaimVerdict.REPRODUCED
    assert smr_throughput.conclude(True, rates(100, 70, 30)).verdict is ClaimVerdict.PARTLY
    assert smr_throughput.conclude(True, rates(100, 40, 30)).verdict is ClaimVerdict.PARTLY
    assert smr_throughput.conclude(True, rates(100, 85, 90)).verdict is ClaimVerdict.PARTLY


def test_waiting_ends_with_a_sentence_and_what_was_recorded_is_kept(tmp_path: Path) -> None:
    system = live.LiveSystem(tmp_path / "live", tmp_path / "runs", dodo_cases.PLAN)
    with pytest.raises(Unavailable, match="not within 0 s: something"):
        system.until(lambda: 0, 0.2, "something")
    recorded = tmp_path / "live" / "runs" / "live-1"
    recorded.mkdir(parents=True)
    (recorded / "meta.json").write_text("{}")
    assert system.run_id() == "live-1"
    system.close()
    assert (tmp_path / "runs" / "live-1" / "meta.json").exists()
    assert not (tmp_path / "live").exists()
