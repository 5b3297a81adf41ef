"""The learning autoscaler: its parts, and the whole in a small world."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.controllers.model.decision import NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build, describe
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.qlearning.initial import initial_row, initial_table
from weir.controllers.scaling.qlearning.memory import (
    epsilon_of,
    fresh_memory,
    solve_by_samples,
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
from weir.controllers.scaling.qlearning.table import export_table, import_table
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")
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


THESIS: dict[str, Any] = {
    "max_latency_s": 60.0,
    "latency_granularity_s": 10.0,
    "incoming_message_granularity": 10.0,
    "window_s": 120.0,
    "learning_factor": 0.7,
    "initialisation_mode": "optimised",
    "reward": "prefer_scale_in",
    "decision_interval_s": 60.0,
    "executor_strategy": "queue_aware",
}
"""What the thesis holds for good, where the defaults of today differ."""


def thesis(**given: Any) -> QSettings:
    return build(QSettings, {**THESIS, **given})


def learner(given: dict[str, Any]) -> Any:
    return create("qlearning", {**THESIS, **given}, SCOPE)


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


def flood(settings: dict[str, Any], periods: int = 120, rate: float = 900.0) -> World:
    """A workload that grows without end, on one executor, decisions every 10 s."""
    world = World(lambda at: rate + 2.0 * at, executors=1, most=12, trigger_s=5.0)
    given = {"decision_interval_s": 10, "window_s": 10, **settings}
    world.run(learner(given), periods)
    return world


def test_finding_zeros_and_greedy_never_act_while_latency_climbs() -> None:
    """A finding of the thesis, reproduced: every higher latency is a state never seen,
    all its values are 0, the tie goes to no action, and so the latency climbs on."""
    world = flood({"initialisation_mode": "zero", "max_latency_s": 3600}, rate=3000.0)
    assert world.actions == []
    states = [t.state for t in world.memory.trail]
    assert len(set(states)) == len(states)  # not one state was seen twice
    assert world.memory.window[-1].latency_s > 1000.0
    # The optimised table acts in the same world as soon as the workload is seen to rise.
    helped = flood({"initialisation_mode": "optimised", "max_latency_s": 3600}, rate=3000.0)
    assert helped.actions[0][0] <= 20.0
    assert helped.memory.window[-1].latency_s < 30.0


def test_finding_a_steady_workload_is_taken_for_a_falling_one() -> None:
    """The state knows "rising" or not: at a steady load rule 4 asks for scaling in until
    the latency breaks, and only then is anything added."""
    world = World(lambda at: 2000.0, executors=4)
    world.run(learner({}), periods=100)
    assert [after for _, _, after in world.actions[:3]] == [3, 2, 1]  # 2 would be enough
    assert any(after > before for _, before, after in world.actions[3:])


class TestScaler:
    def test_waits_for_its_interval(self) -> None:
        scaler = learner({"decision_interval_s": 60})
        _, memory = scaler.decide(snapshot(operator()), scaler.fresh(), 0.0)
        decision, _ = scaler.decide(snapshot(operator()), memory, 59.0)
        assert isinstance(decision, NoChange)
        assert decision.reason.numbers["left_s"] == 1.0

    def test_what_was_not_carried_out_is_not_credited(self) -> None:
        """It asks for more, but the count stays: the step is learned as no action."""
        given = {"decision_interval_s": 10, "window_s": 5}
        scaler = learner(given)
        memory = scaler.fresh()
        for i, at in enumerate((0.0, 10.0, 20.0, 30.0)):
            slow = operator(processing_s=50.0 + i, arrival_rows_per_s=1000.0 + 100 * i)
            decision, memory = scaler.decide(snapshot(slow), memory, at)
        assert isinstance(decision, Scale)
        assert [t.action for t in memory.trail] == [NONE] * 3

    def after_adding_one(self, **given: Any) -> tuple[Any, Any]:
        """Somebody adds an executor and the latency rises from 4 to 15 s, a bin higher: no
        scaling in now, though the row of that bin (3/4, 1/4, 0) holds that for best."""
        settings = {"decision_interval_s": 10, "window_s": 5, "target_latency_s": 60, **given}
        scaler = learner(settings)
        memory = scaler.fresh()
        for at, latency_s, executors in ((0.0, 4.0, 2), (10.0, 15.0, 3)):
            one = operator(processing_s=latency_s, scheduling_s=0.0)
            decision, memory = scaler.decide(snapshot(one, executors=executors), memory, at)
        return decision, memory

    @pytest.mark.parametrize(
        ("update", "following"),
        [("sarsa", 1 / 4), ("q_learning", 3 / 4)],  # of the action taken, of the best one
    )
    def test_learns_by_sarsa_or_by_the_best_that_follows(
        self, update: str, following: float
    ) -> None:
        _, memory = self.after_adding_one(update=update)
        worth = -15 / 60  # latency over target, as it did not improve
        learned = (1 - 0.7) * 0.0 + 0.7 * (worth + 0.9 * following)
        assert memory.table.values[0] == pytest.approx((11 / 12, 1 / 12, learned))
        assert memory.table.visits[0] == (0, 0, 1)
        begun = initial_table(thesis(target_latency_s=60))
        assert memory.table.values[1:] == begun.values[1:]
        assert memory.rewards == (pytest.approx(worth),)

    def test_the_reason_has_the_numbers_that_the_action_was_chosen_by(self) -> None:
        """The table has learned about the very same row since."""
        decision, memory = self.after_adding_one(update="q_learning")
        assert "no action is worth most of what is left: scaling in is ruled out" in (
            decision.reason.text
        )
        assert "(scaling in 0.75, no action 0.25, scaling out 0.00)" in decision.reason.text
        assert decision.reason.numbers["q_out"] == 0.0
        assert memory.table.values[0][OUT] > 0.25
        assert memory.last.row == initial_table(thesis(target_latency_s=60)).values[2]
        assert not memory.last.by_chance

    def test_epsilon_can_be_set_while_it_learns(self) -> None:
        _, memory = self.after_adding_one(policy="epsilon")
        at = 20.0
        for epsilon, by_chance in ((1.0, True), (0.0, False)):
            given = {"decision_interval_s": 10, "policy": "epsilon", "epsilon": epsilon}
            scaler = learner(given)
            decision, memory = scaler.decide(snapshot(operator()), memory, at)
            assert decision.reason.numbers["epsilon"] == epsilon
            assert memory.last.by_chance == by_chance
            at += 10.0

    def test_a_decreasing_epsilon_begins_again_when_it_is_set_anew(self) -> None:
        decreasing = {"decision_interval_s": 10, "policy": "decreasing_epsilon"}
        _, memory = self.after_adding_one(**decreasing)
        settings = thesis(policy=ExplorationPolicy.DECREASING_EPSILON)
        assert epsilon_of(memory, settings) == pytest.approx(0.09)
        scaler = learner({**decreasing, "epsilon": 0.5})
        used = []
        for at in (20.0, 30.0):
            decision, memory = scaler.decide(snapshot(operator()), memory, at)
            used.append(decision.reason.numbers["epsilon"])
        assert used == pytest.approx([0.5, 0.49])
        again = scaler.remember(msgspec.json.encode(memory))
        assert epsilon_of(again, scaler.settings) == pytest.approx(0.48)

    def test_value_iteration_sets_the_table_from_samples(self) -> None:
        settings = thesis(value_iteration_time_s=60, discount_factor=0.5)
        memory = fresh_memory(settings)
        samples = memory.samples.plus(4, OUT, 1.0, 4).plus(4, NONE, -1.0, 4)
        memory = msgspec.structs.replace(memory, samples=samples)
        row = solve_by_samples(memory, settings).table.values[4]
        assert row[OUT] == pytest.approx(2.0, abs=1e-5)  # 1 + 0.5 * 2
        assert row[NONE] == pytest.approx(0.0, abs=1e-5)  # -1 + 0.5 * 2
        assert row[IN] == memory.table.values[4][IN]  # never tried: as before

    def test_samples_are_collected_and_then_solved_once(self) -> None:
        world = flood({"value_iteration_time_s": 100}, periods=60)
        assert world.memory.solved
        count = sum(sum(t.values()) for t in world.memory.samples.transitions.values())
        assert count == 11  # one per 10 s, from the first on for 100 s

    def test_what_is_never_left_is_worth_what_the_table_says_all_the_way(self) -> None:
        """0 -> 1 -> 2 without reward, and 2 is worth 5."""
        settings = thesis(value_iteration_time_s=60)
        memory = fresh_memory(settings)
        rows = list(memory.table.values)
        rows[2] = (5.0, 0.0, 0.0)
        table = msgspec.structs.replace(memory.table, values=tuple(rows))
        samples = memory.samples.plus(0, OUT, 0.0, 1).plus(1, OUT, 0.0, 2)
        memory = msgspec.structs.replace(memory, table=table, samples=samples)
        solved = solve_by_samples(memory, settings).table.values
        assert (solved[1][OUT], solved[0][OUT]) == pytest.approx((4.5, 4.05))
        assert solved[2] == rows[2]

    def test_the_time_of_sampling_begins_with_the_first_sample(self) -> None:
        """Not with the first decision: the setting may come days later, or go and come again."""
        world, memory = World(lambda at: 900.0 + 2.0 * at, most=12), None
        off, on = (
            learner({"decision_interval_s": 10, "value_iteration_time_s": s}) for s in (0, 100)
        )
        for scaler, periods, solved in ((off, 60, False), (on, 20, False), (off, 4, False),
                                        (on, 20, False), (on, 4, True)):  # fmt: skip
            world.run(scaler, periods, memory)
            memory = world.memory
            assert memory.solved == solved
        seen = [sum(t.values()) for t in memory.samples.transitions.values()]
        assert sum(seen) == 11

    def test_tables_are_exported_imported_and_reset(self) -> None:
        world = flood({})
        learned = world.memory.table
        plain = msgspec.json.decode(msgspec.json.encode(export_table(learned)))
        fresh = learner({}).fresh()
        assert learned != fresh.table
        assert import_table(plain, like=fresh.table) == learned
        with pytest.raises(InvalidInput, match="cannot be read"):
            import_table({"values": 3}, like=fresh.table)
        plain["values"][0][0] = float("nan")
        with pytest.raises(InvalidInput, match="not a number"):
            import_table(plain, like=fresh.table)

    def test_other_bins_begin_a_new_table(self) -> None:
        memory = flood({}).memory
        scaler = learner({"latency_granularity_s": 5})
        _, after = scaler.decide(snapshot(operator()), memory, 10_000.0)
        assert after.table == scaler.fresh().table


@pytest.mark.parametrize("name", ["qlearning", "drs", "thresholds"])
def test_delay_upstream_is_no_reason_to_scale(name: str) -> None:
    """End to end 90 s, of which 1.5 s are waited and worked here at a load of 0.1."""
    given = {"figure": "latency", "upper": 30, "lower": 1} if name == "thresholds" else {}
    scaler = create(name, given, SCOPE)
    memory = scaler.fresh()
    calm: dict[str, Any] = {"load": 0.1, "busy_cores": 0.1, "cost_s_per_row": 0.0001}
    for i in range(60):
        behind = operator(latency_p50_s=90.0, arrival_rows_per_s=1000.0 + 20.0 * i, **calm)
        decision, memory = scaler.decide(snapshot(behind, executors=1), memory, 10.0 * i)
        assert not isinstance(decision, Scale), decision.reason.text
