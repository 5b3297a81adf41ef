"""The trained table that Q-learning starts from, and what holds where it knows nothing."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.commands.main import app
from weir.controllers.model.decision import Scale
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.facts import observe
from weir.controllers.scaling.qlearning.initial import initial_table, trained_table
from weir.controllers.scaling.qlearning.memory import fresh_memory, with_load, with_table
from weir.controllers.scaling.qlearning.need import RecentLoads, needed_executors
from weir.controllers.scaling.qlearning.settings import Initialisation, QSettings
from weir.controllers.scaling.qlearning.states import RISKS, Action
from weir.controllers.scaling.qlearning.table import QTable
from weir.controllers.scaling.registry import create
from weir.controllers.simulator import Calibrated, Scenario, Trace, training, what_if, world_of
from weir.controllers.simulator.bounds import fluid_hours

SCOPE = Scope(cluster="a")


def test_one_table_serves_every_target() -> None:
    tables = [initial_table(QSettings(target_latency_s=t)) for t in (0.5, 30.0, 600.0)]
    assert tables[0].values == tables[1].values == tables[2].values == trained_table().values
    coarse = initial_table(QSettings(target_latency_s=30.0, latency_granularity_s=20.0))
    assert len(coarse.values) == 8 * RISKS  # up to 20, 40, 60 s, and above
    for risk in (0, 7, RISKS - 1):  # 30 s: the bin from the target on
        assert coarse.values[8 * risk + 2] == trained_table().values[10 * risk + 4]


def test_other_tables_can_still_be_chosen() -> None:
    tables = {
        mode: initial_table(QSettings(initialisation_mode=mode)).values[2:4]
        for mode in Initialisation
    }
    assert len(set(tables.values())) == 4


def decided(visits: int, **figures: Any) -> Any:
    """What follows in a state whose row holds scaling in for best, after so many visits."""
    scaler = create("qlearning", {}, SCOPE)
    memory = scaler.fresh()
    rows = len(memory.table.values)
    table = replace(memory.table, values=((1.0, 0.0, 0.0),) * rows, visits=((visits,) * 3,) * rows)
    memory = with_table(memory, table)
    for at in (0.0, 30.0):
        decision, memory = scaler.decide(snapshot(operator(**figures), executors=4), memory, at)
    return decision


def test_in_a_state_never_seen_the_need_decides() -> None:
    calm = {"load": 2.5, "cost_s_per_row": 0.0025}  # of 4 cores: one to spare, but hardly
    assert decided(visits=5, **calm).executors == 3
    stay = decided(visits=0, **calm)
    assert not isinstance(stay, Scale)
    assert stay.reason.rule == "no action by need"


def test_no_cluster_starves_on_what_was_learned_elsewhere() -> None:
    short = {"load": 4.5, "cost_s_per_row": 0.0045}
    out = decided(visits=5, **short)
    assert (out.executors, out.reason.rule) == (5, "scaling out by need")
    world = World(lambda at: 3000.0 + 2.0 * at, executors=1, most=12, trigger_s=5.0)
    world.run(create("qlearning", {"decision_interval_s": 10, "window_s": 10}, SCOPE), 120)
    assert world.memory.window[-1].latency_s < 30.0


def test_what_half_of_the_hour_brought_is_kept_until_it_is_time_to_save() -> None:
    facts = observe(snapshot(operator(load=1.0), executors=6), SCOPE)
    assert facts is not None
    hour = (1.0,) * 25 + (4.0,) * 35
    assert needed_executors(facts, 30.0, RecentLoads(hour)) == 5
    assert needed_executors(facts, 30.0, RecentLoads(hour, thrifty=True)) == 2
    memory = fresh_memory(QSettings())
    for minute in range(600):
        memory = with_load(memory, 1.0, 1.0, 1.3, 60.0 * minute, 60.0)
    assert not memory.is_thrifty
    for minute in range(600, 1200):
        memory = with_load(memory, 1.0, 1.0, 2.0, 60.0 * minute, 60.0)
    assert memory.is_thrifty
    assert memory.mean_need == pytest.approx(1.0)


def test_scaling_in_leaves_what_is_needed() -> None:
    down = decided(visits=5, load=0.5)
    assert down.executors == 3  # a quarter at a time
    assert down.reason.rule == "scaling in = argmax Q(s, .)"


def test_a_wavy_and_noisy_day_costs_less_than_half_as_much_again_as_it_must() -> None:
    """Before, 20 % of the time was over target."""
    chance = np.random.default_rng(11)
    minutes = np.arange(1440)
    rates = 100.0 * (1.0 + 0.6 * np.sin(minutes / 229.0)) * np.exp(chance.normal(0, 0.1, 1440))
    trace = Trace(times=tuple((60.0 * minutes).tolist()), rows_per_s=tuple(rates.tolist()))
    world = world_of(trace, Scenario(max_executors=24, cost_s_per_row=0.1))
    summary = what_if(Calibrated(world=world), "qlearning", target_latency_s=30.0).summary
    assert summary.share_over_target == 0.0
    assert summary.executor_hours / fluid_hours(world) < 1.5


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "EPSILONS", (0.5,))
    monkeypatch.setattr(training, "FEWEST_VISITS", 3)


def test_training_counts_what_it_tried_and_does_so_again(one_round: None) -> None:
    (lesson,) = training.lessons(of_each_kind=1)[:1]
    short = replace(lesson, world=lesson.world.part(0, 600))
    table = training.train([short])
    assert table == training.train([short])
    assert len(table.values) == len(trained_table().values)
    seen = [i for i, v in enumerate(table.visits) if any(v)]
    assert seen
    for i in seen:  # what was hardly tried is never the best
        best = max(Action, key=lambda a: table.values[i][a])
        assert table.visits[i][best] >= training.FEWEST_VISITS


def test_the_command_writes_a_table(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = QTable.of([(0.0, 0.0, 0.0)] * 2, width_s=0.05)
    monkeypatch.setattr(training, "train", lambda *_args, **_more: made)
    file = tmp_path / "table.json"
    result = CliRunner().invoke(app, ["train-qtable", str(file), "--of-each-kind", "1"])
    assert result.exit_code == 0, result.output
    assert "2 states, 0 of them seen" in result.output
    assert b'"width_s": 0.05' in file.read_bytes()
