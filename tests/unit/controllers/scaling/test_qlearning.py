"""The learning autoscaler as a whole, in a small world."""

from typing import Any

import msgspec
import pytest

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from tests.unit.controllers.scaling.thesis import SCOPE, learner, thesis
from weir.controllers.model.decision import NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.memory import (
    epsilon_of,
    fresh_memory,
    solve_by_samples,
)
from weir.controllers.scaling.qlearning.settings import (
    ExplorationPolicy,
)
from weir.controllers.scaling.qlearning.states import Action
from weir.controllers.scaling.qlearning.table import export_table, import_table
from weir.controllers.scaling.registry import create

IN, NONE, OUT = Action.IN, Action.NONE, Action.OUT


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
