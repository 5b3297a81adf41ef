"""The scalers that need no model: fixed, thresholds, Spark's allocation, DoDo."""

import pytest

from tests.unit.controllers.scaling.scaling_world import operator, snapshot
from weir.controllers.model.decision import NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.dodo import target
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")


def loaded(per_core: float, executors: int, **more: object) -> Snapshot:
    load = per_core * executors
    return snapshot(
        operator(load=load, busy_cores=min(load, executors)), executors=executors, most=30, **more
    )


def test_fixed_goes_to_the_number_and_stays() -> None:
    scaler = create("fixed", {"executors": 5}, SCOPE)
    decision, memory = scaler.decide(loaded(0.5, 2), scaler.fresh(), 0.0)
    assert isinstance(decision, Scale)
    assert (decision.before, decision.executors) == (2, 5)
    assert decision.prediction.load == {"a": pytest.approx(0.2)}
    assert isinstance(scaler.decide(loaded(0.5, 5), memory, 1.0)[0], NoChange)


class TestThresholds:
    def test_acts_only_after_the_duration(self) -> None:
        scaler = create("thresholds", {"upper_s": 20}, SCOPE)
        memory = scaler.fresh()
        answers = []
        for at in (0.0, 10.0, 19.9, 20.0):
            decision, memory = scaler.decide(loaded(0.9, 2), memory, at)
            answers.append(type(decision))
        assert answers == [NoChange, NoChange, NoChange, Scale]

    def test_a_dip_begins_the_duration_anew(self) -> None:
        scaler = create("thresholds", {"upper_s": 20}, SCOPE)
        memory = scaler.fresh()
        for at, load in ((0.0, 0.9), (10.0, 0.5), (15.0, 0.9), (30.0, 0.9)):
            decision, memory = scaler.decide(loaded(load, 2), memory, at)
            assert isinstance(decision, NoChange)
        assert isinstance(scaler.decide(loaded(0.9, 2), memory, 35.0)[0], Scale)

    def test_is_quiet_in_the_grace_period(self) -> None:
        scaler = create("thresholds", {"upper_s": 0, "grace_s": 30}, SCOPE)
        decision, memory = scaler.decide(loaded(0.9, 2), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        decision, memory = scaler.decide(loaded(0.9, 3), memory, 29.0)
        assert isinstance(decision, NoChange)
        assert decision.reason.numbers["left_s"] == 1.0
        assert isinstance(scaler.decide(loaded(0.9, 3), memory, 30.0)[0], Scale)

    def test_latency_can_be_the_figure(self) -> None:
        given = {"figure": "latency", "upper": 1.2, "lower": 0.1, "upper_s": 0}
        scaler = create("thresholds", given, SCOPE)
        decision, _ = scaler.decide(loaded(0.5, 2), scaler.fresh(), 0.0)  # 1.5 s
        assert isinstance(decision, Scale)
        assert decision.reason.numbers["latency_s"] == 1.5

    def test_crossed_thresholds_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match=r"lower .* below upper"):
            create("thresholds", {"upper": 0.2, "lower": 0.4}, SCOPE)


class TestSparkStreaming:
    def decide(self, ratios: list[float], executors: int = 3, **given: float) -> object:
        scaler = create("spark_streaming", given, SCOPE)
        memory = scaler.fresh()
        decision: object = None
        for i, ratio in enumerate(ratios):
            shot = snapshot(operator(processing_s=ratio * 2.0, batch_id=i), executors=executors)
            at = 60.0 if i == len(ratios) - 1 else float(i)
            decision, memory = scaler.decide(shot, memory, at)
        return decision

    @pytest.mark.parametrize(
        ("ratio", "executors"),
        [(0.9, 4), (1.4, 4), (1.5, 5), (2.5, 6), (0.89, 3), (0.31, 3), (0.3, 2), (0.0, 2)],
    )
    def test_hands_out_the_rounded_ratio_and_takes_one(self, ratio: float, executors: int) -> None:
        decision = self.decide([ratio, ratio])
        reached = decision.executors if isinstance(decision, Scale) else 3
        assert reached == executors

    def test_the_mean_over_the_interval_counts(self) -> None:
        assert isinstance(self.decide([0.2, 0.2, 1.9]), NoChange)  # 0.77

    def test_a_batch_counts_once(self) -> None:
        scaler = create("spark_streaming", {}, SCOPE)
        memory = scaler.fresh()
        shot = snapshot(operator(processing_s=4.0, batch_id=7))
        for at in range(5):
            _, memory = scaler.decide(shot, memory, float(at))
        assert memory.batches["count"].count == 1

    def test_the_ratios_of_the_thesis_can_be_set(self) -> None:
        decision = self.decide([0.65, 0.65], scaling_up_ratio=0.6)
        assert isinstance(decision, Scale)
        assert decision.executors == 4


class TestDodo:
    def decide(self, load: float, executors: int) -> object:
        scaler = create("dodo", {}, SCOPE)
        return scaler.decide(loaded(load, executors), scaler.fresh(), 0.0)[0]

    def test_scaling_in_leaves_what_the_load_needs_not_nothing(self) -> None:
        """Printed: I (E - max) / (k max) = 10 (0.2 - 0.8) / 0.6 = -10, all of them."""
        decision = self.decide(0.2, 10)
        assert isinstance(decision, Scale)
        assert decision.executors == 4  # ceil(10 * 0.2 / (0.75 * 0.8))
        assert decision.prediction.load["a"] <= 0.6

    def test_the_first_executor_is_added(self) -> None:
        """Printed: 1 (0.9 - 0.8) / 0.8 = 0.125, which truncates to none."""
        decision = self.decide(0.9, 1)
        assert isinstance(decision, Scale)
        assert decision.executors == 2

    def test_out_brings_the_load_to_the_bound(self) -> None:
        decision = self.decide(1.6, 4)
        assert isinstance(decision, Scale)
        assert decision.executors == 8

    def test_no_shrinking_at_two(self) -> None:
        assert isinstance(self.decide(0.01, 2), NoChange)
        assert isinstance(self.decide(0.01, 3), Scale)

    def test_every_cluster_is_judged_by_itself(self) -> None:
        """Printed, the actions stand after the loop: only the last cluster acts."""
        a = loaded(1.6, 4)
        idle = operator(name="idle", cluster="b", load=0.1)
        both = Snapshot(
            at=0.0,
            period_s=5.0,
            clusters=(*a.clusters, type(a.clusters[0])(name="b", executors=10, max_executors=30)),
            operators=(*a.operators, idle),
        )
        answers = {}
        for name in ("a", "b"):
            scaler = create("dodo", {}, Scope(cluster=name))
            answers[name] = scaler.decide(both, scaler.fresh(), 0.0)[0].executors
        assert answers == {"a": 8, "b": 1}

    def test_the_capacity_is_over_all_clusters(self) -> None:
        scaler = create("dodo", {}, Scope(cluster="a", total_left=1))
        decision, _ = scaler.decide(loaded(1.6, 4), scaler.fresh(), 0.0)
        assert decision.executors == 5
        assert "most allowed" in decision.reason.text

    def test_holds_for_the_launch_time(self) -> None:
        scaler = create("dodo", {"launch_s": 30, "periods": 1}, SCOPE)
        decision, memory = scaler.decide(loaded(1.6, 4), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        assert isinstance(scaler.decide(loaded(1.6, 8), memory, 29.0)[0], NoChange)
        assert isinstance(scaler.decide(loaded(1.6, 8), memory, 30.0)[0], Scale)

    def test_exact_bounds_do_not_round_up(self) -> None:
        assert target(executors=3, load=0.8, bound=0.8) == 3
        assert target(executors=7, load=0.6, bound=0.6) == 7
