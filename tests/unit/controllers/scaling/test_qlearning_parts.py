"""Parts of the learning autoscaler: settings, table, choice of an action, reward, steps."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.controllers.scaling.scaling_world import operator, snapshot
from tests.unit.controllers.scaling.thesis import thesis
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build, describe
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.initial import initial_row, initial_table
from weir.controllers.scaling.qlearning.memory import (
    with_table,
)
from weir.controllers.scaling.qlearning.policy import choose, feasible, greedy, next_epsilon
from weir.controllers.scaling.qlearning.reward import reward
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import (
    ExplorationPolicy,
    QSettings,
    RewardRule,
    Strategy,
)
from weir.controllers.scaling.qlearning.states import Action, StateSpace
from weir.controllers.scaling.qlearning.strategy import steps

IN, NONE, OUT = Action.IN, Action.NONE, Action.OUT

TABLE_4_4 = {
    "min_executors",
    "max_executors",
    "executor_granularity",
    "max_latency_s",
    "target_latency_s",
    "latency_granularity_s",
    "incoming_message_granularity",
    "window_s",
    "learning_factor",
    "discount_factor",
    "initialisation_mode",
    "epsilon",
    "epsilon_step",
    "value_iteration_count",
    "value_iteration_time_s",
    "policy",
    "reward",
    "decision_interval_s",
    "executor_strategy",
    "seed",
}


class TestSettings:
    def test_all_twenty_are_there_with_help(self) -> None:
        rows = {r.key: r for r in describe(QSettings)}
        assert len(TABLE_4_4) == 20
        assert set(rows) == TABLE_4_4 | {"update", "theta"}
        assert all(r.help for r in rows.values())
        assert rows["policy"].choices == ("decreasing_epsilon", "epsilon", "greedy")

    @pytest.mark.parametrize(
        "given",
        [
            {"learning_factor": 1.1},
            {"discount_factor": 1.0},
            {"epsilon": -0.1},
            {"executor_granularity": 0},
            {"latency_granularity_s": -1},
            {"policy": "lucky"},
            {"target_latency_s": 100, "max_latency_s": 60},
            {"latency_granularity_s": 61},
            {"latency_granularity_s": 0.01, "max_latency_s": 1000},
            {"min_executors": 5, "max_executors": 4},
            {"executor_strategy": "magic"},
        ],
    )
    def test_nonsense_is_refused(self, given: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput):
            build(QSettings, given)


class TestInitialTable:
    """The four regions of the thesis: target 30 s, bins of 10 s."""

    @pytest.mark.parametrize(
        ("latency_s", "rising", "expected"),
        [
            (10.0, True, {OUT: 1 / 3, NONE: 2 / 3, IN: 0.0}),  # region 1
            (27.0, True, {OUT: 0.9, NONE: 0.1, IN: 0.0}),
            (45.0, True, {OUT: 1.5, NONE: 0.5, IN: -1.0}),  # region 2
            (45.0, False, {OUT: 0.0, NONE: 1.0, IN: -1.0}),  # region 3
            (27.0, False, {OUT: 0.0, NONE: 0.9, IN: 0.1}),  # region 4
            (3.0, False, {OUT: 0.0, NONE: 0.1, IN: 0.9}),
        ],
    )
    def test_values_of_the_regions(
        self, latency_s: float, rising: bool, expected: dict[Action, float]
    ) -> None:
        row = initial_row(latency_s, 30.0, rising)
        assert {a: row[a] for a in Action} == pytest.approx(expected)

    def test_preferred_actions_of_the_regions(self) -> None:
        """Table 4.1: out early; out; let it settle; in when sufficiently low."""
        settings = thesis()
        table, space = initial_table(settings), StateSpace.of(settings)

        def best(latency_s: float, rising: bool) -> Action:
            return greedy(table.values[space.state(latency_s, rising).index], [NONE, OUT, IN])

        assert [best(at, True) for at in (5, 25, 35, 55, 500)] == [NONE, OUT, OUT, OUT, OUT]
        assert [best(at, False) for at in (5, 25, 35, 55, 500)] == [IN, NONE, NONE, NONE, NONE]

    def test_random_values_depend_on_the_seed(self) -> None:
        def table(seed: int) -> Any:
            return initial_table(thesis(initialisation_mode="random", seed=seed))

        assert table(1) == table(1) != table(2)
        assert all(-1 < v < 1 for row in table(1).values for v in row)


class TestPolicy:
    def test_monotonicity(self) -> None:
        assert IN not in feasible(OUT, 4, 3)
        assert OUT not in feasible(IN, 2, 3)
        assert set(feasible(OUT, 2, 3)) == set(feasible(IN, 4, 3)) == set(Action)
        assert set(feasible(OUT, 3, 3)) == set(Action)

    def test_monotonicity_compares_bins_and_not_latencies(self) -> None:
        """31 s after 30.5 s is the same bin of 10 s: noise, which must not rule anything out."""

        def after_growth_at(latency_s: float) -> str:
            scaler = QLearning(thesis(window_s=5.0), Scope(cluster="a"))
            memory: Any = scaler.fresh()
            lower = tuple((9.0, 0.0, 0.0) for _ in memory.table.values)  # in is worth most
            memory = with_table(memory, replace(memory.table, values=lower))
            for at, executors, seen_s in ((0.0, 2, 30.5), (60.0, 3, latency_s)):
                one = operator(processing_s=seen_s, scheduling_s=0.0)
                decision, memory = scaler.decide(
                    snapshot(one, executors=executors, at=at), memory, at
                )
            return decision.reason.rule

        assert after_growth_at(31.0).startswith("scaling in")
        assert after_growth_at(41.0).startswith("no action")

    def test_chance_obeys_the_monotonicity_rule(self) -> None:
        settings = thesis(policy=ExplorationPolicy.EPSILON)
        drawn = {
            choose(settings, (9.0, 0.0, 0.0), feasible(OUT, 4, 3), 1.0, draw)[0]
            for draw in range(50)
        }
        assert drawn == {NONE, OUT}

    def test_epsilon_is_the_share_of_chance(self) -> None:
        settings = thesis(policy=ExplorationPolicy.EPSILON)
        hits = [choose(settings, (0.0, 1.0, 0.0), list(Action), 0.3, i)[1] for i in range(2000)]
        assert sum(hits) / len(hits) == pytest.approx(0.3, abs=0.03)
        greedy_settings = thesis(policy=ExplorationPolicy.GREEDY, epsilon=1.0)
        assert not choose(greedy_settings, (0.0, 1.0, 0.0), list(Action), 1.0, 0)[1]

    def test_decreasing_epsilon_ends_at_nothing(self) -> None:
        settings = thesis(policy=ExplorationPolicy.DECREASING_EPSILON, epsilon_step=0.04)
        epsilon, seen = 0.1, []
        for _ in range(4):
            epsilon = next_epsilon(settings, epsilon)
            seen.append(epsilon)
        assert seen == pytest.approx([0.06, 0.02, 0.0, 0.0])


class TestReward:
    @pytest.mark.parametrize(
        ("action", "latency_s", "before_s", "rising", "sign"),
        [
            (NONE, 40.0, 35.0, False, -1),  # 1: it did not improve
            (OUT, 25.0, 35.0, True, 1),  # 1: it improved
            (OUT, 40.0, 35.0, True, 1),  # 2: both rise, out is right all the same
            (NONE, 40.0, 35.0, True, -1),
            (IN, 40.0, 35.0, True, -1),
            (NONE, 35.0, 40.0, False, 1),  # 3: let it settle
            (IN, 35.0, 40.0, False, -1),
            (IN, 5.0, 6.0, False, 1),  # 4: prefer scaling in
            (NONE, 5.0, 6.0, False, -1),
            (OUT, 5.0, 6.0, False, -1),
        ],
    )
    def test_the_four_rules(
        self, action: Action, latency_s: float, before_s: float, rising: bool, sign: int
    ) -> None:
        got = reward(RewardRule.PREFER_SCALE_IN, action, latency_s, before_s, 30.0, rising)
        assert got * sign > 0
        assert -1 <= got <= 1

    def test_rule_four_can_be_left_out(self) -> None:
        assert reward(RewardRule.GENERAL, NONE, 5.0, 6.0, 30.0, False) > 0


class TestStrategy:
    def test_linear_is_reset_by_another_action(self) -> None:
        assert [steps(Strategy.LINEAR, IN, i, 9, 1) for i in (1, 2, 3)] == [-1, -2, -4]
        assert steps(Strategy.LINEAR, OUT, 3, 0, 2) == 8

    def test_static_and_queue_aware(self) -> None:
        assert steps(Strategy.STATIC, OUT, 5, 9, 2) == 2
        assert steps(Strategy.QUEUE_AWARE, OUT, 5, 0, 1) == 1
        assert steps(Strategy.QUEUE_AWARE, IN, 5, 9, 1) == -1
        assert steps(Strategy.QUEUE_AWARE, NONE, 5, 9, 1) == 0
