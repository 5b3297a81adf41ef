"""Tuning: the search is resumable and judged on what it has not seen."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from tests.support.examples import examples
from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.qlearning.table import export_table, import_table
from weir.controllers.scaling.registry import scaler_type, scalers
from weir.controllers.simulator import Scenario, Trace, WorldModel, world_of
from weir.controllers.simulator.run import make_scaler
from weir.controllers.simulator.search import TuneJob, evaluate, open_study, search
from weir.controllers.simulator.space import SearchSpace, default_settings
from weir.controllers.simulator.tune import split, tune
from weir.controllers.simulator.tuning import (
    Candidate,
    Trial,
    choose,
    dominates,
    front_of,
    read_tuning,
    verdict,
    write_tuning,
)

TARGET_S = 20.0


def waves(count: int = 60) -> WorldModel:
    """A load that rises and falls four times."""
    rates = tuple(300.0 + 250.0 * math.sin(i / count * 8 * math.pi) for i in range(count))
    trace = Trace(times=tuple(60.0 * i for i in range(count)), rows_per_s=rates)
    return world_of(trace, Scenario(cost_s_per_row=0.01, max_executors=8))


def here(world: WorldModel):
    return lambda jobs: list(map(partial(evaluate, world), jobs))


@pytest.mark.parametrize("scaler", sorted(scalers()))
@settings(max_examples=examples(5), deadline=None)
@given(data=st.data())
def test_whatever_is_drawn_the_settings_are_valid(scaler: str, data: st.DataObject) -> None:
    space = SearchSpace.of(scaler, max_executors=8, target_latency_s=TARGET_S, rows_per_s=100.0)
    drawn = {}
    for d in space.dimensions:
        if d.kind == "choice":
            drawn[d.key] = data.draw(st.sampled_from(d.choices))
        elif d.kind == "int":
            drawn[d.key] = data.draw(st.integers(round(d.low), round(d.high)))
        else:
            drawn[d.key] = data.draw(st.floats(d.low, d.high))
    made = make_scaler(scaler, space.settings(drawn), "a", 0, TARGET_S)
    assert isinstance(made.settings, scaler_type(scaler).settings_type)


@pytest.mark.parametrize("scaler", sorted(set(scalers()) - {"fixed", "no_op"}))
def test_the_defaults_lie_within_the_space(scaler: str) -> None:
    space = SearchSpace.of(scaler, 8, TARGET_S, rows_per_s=1000.0)
    found = space.settings(space.unscale(default_settings(scaler)))
    assert _plain(make_scaler(scaler, found, "a", 0, TARGET_S)) == pytest.approx(
        _plain(make_scaler(scaler, {}, "a", 0, TARGET_S))
    )


class TestSplit:
    def test_the_parts_follow_each_other(self) -> None:
        world = waves()
        first, second = split(world)
        assert first.periods + second.periods == world.periods
        assert second.begin == first.ends[-1]
        joined = first.operators[0].rows_per_s + second.operators[0].rows_per_s
        assert joined == world.operators[0].rows_per_s

    def test_a_short_run_cannot_be_split(self) -> None:
        with pytest.raises(InvalidInput, match="too few to train"):
            split(waves(10))

    def test_what_is_not_seen_changes_nothing_that_is_found(self) -> None:
        """Settings and front are the same whatever the second half holds."""
        world = waves()
        one = world.operators[0]
        half = world.periods // 2
        other = one.rows_per_s[:half] + (790.0,) * (world.periods - half)
        spoiled = replace(world, operators=(replace(one, rows_per_s=other),))
        a, b = (_tuned(w, trials=6) for w in (world, spoiled))
        assert a.trials == b.trials
        assert [p.settings for p in a.front] == [p.settings for p in b.front]
        assert [p.trained for p in a.front] == [p.trained for p in b.front]
        assert [p.judged for p in a.front] != [p.judged for p in b.front]


def test_a_tuning_holds_all_that_a_page_shows() -> None:
    found = _tuned(waves(), trials=8, baselines=True)
    assert len(found.trials) == 8
    assert found.trials[0].settings["upper"] == pytest.approx(0.8)  # the defaults go first
    assert found.default.settings == {}
    labels = {b.label for b in found.baselines}
    assert labels >= set(scalers()) - {"fixed"}
    assert {"fixed 1", "fixed 8"} <= labels
    assert all(p.judged is not None for p in (*found.front, found.default, *found.baselines))
    for a in found.front:
        assert not any(
            dominates((t.share_over_target, t.executor_hours), _trained(a)) for t in found.trials
        )
    assert not any(dominates(p.objectives, found.best.objectives) for p in found.front)
    assert found.verdict.endswith(".")
    assert read_tuning(write_tuning(found)) == found
    again = _tuned(waves(), trials=8)
    assert again == replace(found, baselines=())  # deterministic under a seed


def test_a_study_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    world, _ = split(waves())
    space = SearchSpace.of("thresholds", 8, TARGET_S)

    def open_again():
        storage = JournalStorage(JournalFileBackend(str(tmp_path / "study.journal")))
        return open_study(storage, "one", seed=0)

    done: list[Any] = []

    def cut_off(jobs: list[TuneJob]):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(1)
        return here(world)(jobs)

    with pytest.raises(KeyboardInterrupt):
        search(open_again(), space, 6, cut_off, target_latency_s=TARGET_S)
    kept: list[int] = []
    found = search(
        open_again(),
        space,
        6,
        here(world),
        target_latency_s=TARGET_S,
        on_trials=lambda count, _: kept.append(count),
    )
    assert kept == [3, 4, 5, 6]  # three were kept, and none is tried twice
    assert len({t.number for t in found}) == 6
    assert len({msgspec.json.encode(t.settings) for t in found}) == 6
    more = search(open_again(), space, 6, _never, target_latency_s=TARGET_S)
    assert more == found


def test_a_scaler_without_settings_cannot_be_tuned() -> None:
    with pytest.raises(InvalidInput, match="no_op has no settings"):
        _tuned(waves(), trials=2, scaler="no_op")


def test_what_a_table_has_learned_is_taken_along() -> None:
    first, second = split(waves())
    learned = evaluate(first, TuneJob(scaler="qlearning", settings={}, target_latency_s=TARGET_S))
    assert sum(map(sum, learned.table.visits)) > 0
    job = TuneJob(scaler="qlearning", settings={}, target_latency_s=TARGET_S, table=learned.table)
    after = evaluate(second, job)
    assert sum(map(sum, after.table.visits)) > sum(map(sum, learned.table.visits))
    fresh = make_scaler("qlearning", {}, "a", 0, TARGET_S).fresh()
    assert import_table(export_table(after.table), like=fresh.table) == after.table


class TestChoice:
    def test_the_front_is_thinned_evenly_and_keeps_its_ends(self) -> None:
        trials = [_trial(i, i / 100, 100.0 - i) for i in range(50)]
        front = front_of(trials, most=5)
        assert [t.number for t in front] == [0, 12, 24, 37, 49]

    def test_beats_the_default_in_both_where_that_is_possible(self) -> None:
        assert choose([(0.0, 120.0), (0.15, 80.0), (0.1, 99.0)], (0.2, 100.0)) == 1

    def test_useless_defaults_are_no_measure(self) -> None:
        assert choose([(0.03, 90.0), (0.79, 48.0)], (0.8, 49.0)) == 0

    def test_else_weighs_time_against_cost(self) -> None:
        assert choose([(0.0, 105.0), (0.5, 90.0)], (0.2, 100.0)) == 0

    def test_what_another_beats_in_both_is_never_recommended(self) -> None:
        assert choose([(0.15, 80.0), (0.14, 79.0)], (0.2, 100.0)) == 1

    def test_defaults_that_are_best_are_kept(self) -> None:
        default = (0.01, 100.0)
        assert choose([default, (0.05, 90.0), (0.01, 110.0)], default) is None
        said = verdict(None, Candidate(label="default", scaler="drs", judged=_summary(*default)))
        assert said[0] is False
        assert said[1].startswith("Keep what you have")


def _tuned(world: WorldModel, trials: int, scaler: str = "thresholds", baselines: bool = False):
    return tune(
        world,
        scaler,
        trials,
        study=open_study(None, "x", 0),
        evaluator=here,
        target_latency_s=TARGET_S,
        baselines=baselines,
    )


def _plain(scaler):
    return {
        k: v for k, v in msgspec.to_builtins(scaler.settings).items() if not isinstance(v, dict)
    }


def _trained(point):
    return point.trained.share_over_target, point.trained.executor_hours


def _trial(number: int, over: float, hours: float) -> Trial:
    return Trial(number=number, share_over_target=over, executor_hours=hours)


def _summary(over: float, hours: float):
    world = waves()
    found = evaluate(world, TuneJob(scaler="no_op", settings={}, target_latency_s=TARGET_S)).summary
    return replace(found, share_over_target=over, executor_hours=hours)


def _never(jobs: list[TuneJob]) -> list[object]:
    raise AssertionError("nothing is left to try")
