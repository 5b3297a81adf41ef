"""Window, cost, search and the scaler that puts them together."""

from random import Random
from typing import Any

import pytest

from tests.unit.controllers.scaling.scaling_world import PERIOD_S, World, operator, snapshot
from weir.controllers.model.decision import Scale
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.parameter_optimisation.cost import (
    Prices,
    SimulatedCluster,
    ThresholdPair,
    cost,
)
from weir.controllers.scaling.parameter_optimisation.search import search
from weir.controllers.scaling.parameter_optimisation.window import cut_index
from weir.controllers.scaling.registry import create

SIZE = SimulatedCluster(executors=2, cores=1, low=1, high=10)


class TestWindow:
    def test_drops_what_came_before_a_change(self) -> None:
        chance = Random(1)
        old = [1.0 + chance.gauss(0, 0.1) for _ in range(60)]
        new = [2.0 + chance.gauss(0, 0.1) for _ in range(20)]
        assert cut_index(old + new, 0.05) == pytest.approx(60, abs=2)

    def test_false_alarms_are_as_rare_as_set(self) -> None:
        chance = Random(2)
        alarms = sum(
            cut_index([chance.gauss(5, 1) for _ in range(60)], 0.05) > 0 for _ in range(200)
        )
        assert alarms <= 0.05 * 200

    @pytest.mark.parametrize("values", [[], [1.0], [3.0] * 50, [0.0] * 50])
    def test_nothing_to_see(self, values: list[float]) -> None:
        assert cut_index(values, 0.05) == 0


class TestCost:
    def test_lateness_costs_more_than_executors(self) -> None:
        rising = [2.0] * 10 + [6.0] * 40
        lazy = cost(rising, 5.0, ThresholdPair(upper_breaches=100), Prices(), SIZE)
        quick = cost(rising, 5.0, ThresholdPair(upper_breaches=1), Prices(), SIZE)
        assert quick < lazy

    def test_free_lateness_makes_laziness_cheap(self) -> None:
        rising = [2.0] * 10 + [6.0] * 40
        prices = Prices(late_s=0.0)
        lazy = cost(rising, 5.0, ThresholdPair(upper_breaches=100), prices, SIZE)
        assert lazy < cost(rising, 5.0, ThresholdPair(upper_breaches=1), prices, SIZE)


class TestSearch:
    def test_finds_the_bottom_of_a_bowl_and_is_repeatable(self) -> None:
        def bowl(p: tuple[float, ...]) -> float:
            return sum((x - 0.7) ** 2 for x in p)

        found = search(bowl, 4, Random(5), start=(0.0,) * 4, evaluations=400)
        assert found == search(bowl, 4, Random(5), start=(0.0,) * 4, evaluations=400)
        assert found[1] < 0.02

    def test_beats_plain_random_search_on_the_same_budget(self) -> None:
        def bowl(p: tuple[float, ...]) -> float:
            return sum((x - 0.7) ** 2 for x in p)

        ours, plain = [], []
        for seed in range(10):
            chance = Random(seed)
            ours.append(search(bowl, 4, Random(seed), start=(0.0,) * 4, evaluations=150)[1])
            plain.append(min(bowl(tuple(chance.random() for _ in range(4))) for _ in range(150)))
        assert sum(ours) < 0.5 * sum(plain)

    def test_never_worse_than_the_start_and_within_its_budget(self) -> None:
        calls = []

        def needle(p: tuple[float, ...]) -> float:
            calls.append(p)
            assert all(0.0 <= x <= 1.0 for x in p)
            return 0.0 if p == (0.5, 0.5) else 1.0

        assert search(needle, 2, Random(0), start=(0.5, 0.5), evaluations=50)[0] == (0.5, 0.5)
        assert len(calls) == 50


class TestScaler:
    def test_searches_when_the_load_changes_and_only_then(self) -> None:
        scaler = create("parameter_optimisation", {}, Scope(cluster="a"))
        world = World(lambda at: 2000.0 if at < 300 else 7000.0, executors=3)
        world.run(scaler, periods=55)
        assert world.memory.searches == 0
        world.run(scaler, periods=100, memory=world.memory)
        assert 1 <= world.memory.searches <= 4
        assert world.memory.cost is not None
        assert 7000 * world.cost_s / world.executors <= 0.95
        assert world.queue == 0

    def test_thresholds_and_points_are_inverse(self) -> None:
        scaler: Any = create("parameter_optimisation", {}, Scope(cluster="a"))
        t = scaler.thresholds((0.2, 0.4, 0.0, 1.0))
        again = scaler.thresholds(scaler.point(t))
        assert (again.upper, again.lower) == pytest.approx((t.upper, t.lower))
        assert t.lower < t.upper

    def test_what_the_latency_asks_for_is_not_put_on_the_load(self) -> None:
        scaler = create("parameter_optimisation", {"target_latency_s": 5.0}, Scope(cluster="a"))
        memory = scaler.fresh()
        for period in range(12):
            at = period * PERIOD_S
            slow = operator(load=0.9, scheduling_s=19.0)
            decision, memory = scaler.decide(snapshot(slow, at=at), memory, at)
            if isinstance(decision, Scale):
                break
        assert isinstance(decision, Scale)
        assert "The latency of 20.0 s was above this scaler's 5 s" in decision.reason.text
        assert decision.reason.rule.startswith("latency > target")
