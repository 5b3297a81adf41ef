"""Forecasts, and scaling out before the peak instead of after it."""

from math import pi, sin
from random import Random
from typing import Any

import msgspec
import pytest

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.controllers.model.decision import Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.facts import observe
from weir.controllers.scaling.predictive.choice import Chosen, choose_method
from weir.controllers.scaling.predictive.forecast import (
    ForecastFit,
    Method,
    forecast,
    holt_winters,
    seasonal_naive,
)
from weir.controllers.scaling.predictive.history import History, SizePlan
from weir.controllers.scaling.predictive.scaler import busier
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")


def season(i: float, length: int = 12) -> float:
    return 1000.0 + 500.0 * sin(2 * pi * i / length)


class TestForecast:
    def test_holt_winters_follows_a_season_and_a_trend(self) -> None:
        series = [season(i) + 2.0 * i for i in range(60)]
        values, fit = holt_winters(series, 6, season=12)
        assert values == pytest.approx([season(i) + 2.0 * i for i in range(60, 66)], rel=0.02)
        again, _ = holt_winters(series, 6, season=12, fit=fit)
        assert again == pytest.approx(values, rel=0.02)

    def test_it_beats_the_naive_one_on_a_trend(self) -> None:
        series = [100.0 + 10.0 * i for i in range(40)]
        truth = [100.0 + 10.0 * i for i in range(40, 45)]

        def off(values: list[float]) -> float:
            return sum(abs(a - b) for a, b in zip(values, truth, strict=True))

        assert off(holt_winters(series, 5, 0)[0]) < 0.2 * off(seasonal_naive(series, 5, 0))

    @pytest.mark.parametrize("series", [[], [5.0], [3.0] * 50, [0.0] * 50])
    def test_what_cannot_be_fitted_is_forecast_naively(self, series: list[float]) -> None:
        values, fit = holt_winters(series, 3, season=4)
        assert values == [series[-1] if series else 0.0] * 3
        assert fit is None

    def test_parameters_used_again_forecast_as_statsmodels_does(self) -> None:
        from statsmodels.tsa.holtwinters import ExponentialSmoothing

        series = [season(i) + 30.0 * (i % 5) for i in range(41)]
        for fit in (
            ForecastFit(0.7, 0.2, 0.9),
            ForecastFit(0.05, 0.0, 0.995),
            ForecastFit(1.0, 1.0, 0.8),
        ):
            model = ExponentialSmoothing(
                series, trend="add", damped_trend=True, initialization_method="heuristic"
            )
            theirs = model.fit(
                optimized=False,
                smoothing_level=fit.level,
                smoothing_trend=fit.trend,
                damping_trend=fit.damping,
            ).forecast(6)
            values, again = holt_winters(series, 6, season=0, fit=fit)
            assert values == pytest.approx([max(0.0, v) for v in theirs], rel=1e-12)
            assert again == fit

    def test_never_below_zero(self) -> None:
        values, _ = holt_winters([float(max(0, 100 - 10 * i)) for i in range(12)], 8, 0)
        assert min(values) >= 0.0


class TestChoice:
    """The method, its season and its band, from the series' own past."""

    def test_a_daily_season_is_found_in_noise_and_beats_naive(self) -> None:
        chance = Random(3)
        day = [season(i, 96) * chance.uniform(0.95, 1.05) for i in range(4 * 96)]
        found = choose_method(day, steps=12)
        assert abs(found.season - 96) <= 2
        assert found.method is not Method.NAIVE
        assert found.errors[found.method.value] < 0.6 * found.errors["naive"]
        assert set(found.errors) == {"naive", "seasonal_naive", "holt_winters", "theta"}

    def test_on_a_random_walk_nothing_beats_naive(self) -> None:
        chance, level, walk = Random(5), 1000.0, []
        for _ in range(300):
            level *= chance.uniform(0.93, 1.07)
            walk.append(level)
        assert choose_method(walk, steps=2).method is Method.NAIVE

    def test_the_band_holds_most_of_what_came(self) -> None:
        chance = Random(8)
        noisy = [1000.0 * chance.uniform(0.7, 1.3) for _ in range(200)]
        found = choose_method(noisy, steps=2)
        assert 0.6 < found.low < 1.0 < found.high * 1.2
        calm = choose_method([1000.0 * chance.uniform(0.99, 1.01) for _ in range(200)], steps=2)
        assert calm.high - calm.low < 0.2 * (found.high - found.low)

    def test_a_long_season_is_taken_off_before_smoothing(self) -> None:
        day = [season(i, 96) + 0.5 * i for i in range(3 * 96)]
        for method in (Method.HOLT_WINTERS, Method.THETA):
            values, _ = forecast(method, day, 6, season=96)
            truth = [season(i, 96) + 0.5 * i for i in range(288, 294)]
            assert values == pytest.approx(truth, rel=0.06)


class TestHistory:
    plan = SizePlan(
        Method.SEASONAL_NAIVE, step_s=10.0, steps=2, season=0, keep=50, refit=5, least=3
    )

    def test_steps_without_figures_keep_the_season_in_place(self) -> None:
        history = History().then(5.0, 0.0, self.plan).then(7.0, 40.0, self.plan)
        assert history.values == (5.0,) * 4

    def test_forecasts_are_judged_when_due(self) -> None:
        history = History()
        for i in range(12):
            history = history.then(100.0 if i < 6 else 200.0, 10.0 * i, self.plan)
        assert history.error is not None
        assert max(history.errors) == pytest.approx(0.5)  # 100 said, 200 came
        assert min(history.errors) == 0.0


class TestScaler:
    settings: dict[str, Any] = {
        "step_s": 5,
        "horizon_s": 15,
        "method": "seasonal_naive",
        "season_s": 200,
        "keep_steps": 240,
    }

    @staticmethod
    def pulse(at: float) -> float:
        """Every 200 s the rate goes from 1,000 to 6,000 rows/s and, 60 s later, back."""
        return 6000.0 if at % 200 >= 140 else 1000.0

    def run(self, name: str, settings: dict[str, Any]) -> tuple[World, float]:
        world = World(self.pulse, executors=2)
        scaler = create(name, settings, SCOPE)
        memory: Any = scaler.fresh()
        late = 0.0
        for _ in range(200):
            shot = world.step()
            if world.now > 400 and world.queue > 0:
                late += 1
            decision, memory = scaler.decide(shot, memory, world.now)
            if isinstance(decision, Scale):
                world.actions.append((world.now, world.executors, decision.executors))
                world.executors = decision.executors
        return world, late

    def test_scales_out_before_the_peak(self) -> None:
        """Once a season was seen, executors are there when the peak comes: less queueing."""
        ahead, late_ahead = self.run("predictive", {**self.settings, "inner": "rate_based"})
        alone, late_alone = self.run("rate_based", {})
        assert late_ahead < late_alone

        def first_out(world: World) -> float:
            peak = 740.0  # the fourth
            return next(at for at, b, a in world.actions if a > b and at > peak - 60) - peak

        assert first_out(ahead) <= 0.0 < first_out(alone)

    def test_a_trend_brings_executors_earlier(self) -> None:
        """Holt-Winters on a ramp of 20 rows/s each second: the factor is what 60 s add."""

        def ramp(at: float) -> float:
            return 1000.0 + 20.0 * at

        given = {"step_s": 10, "horizon_s": 60, "inner": "rate_based"}
        world = World(ramp, executors=2, most=30)
        world.run(create("predictive", given, SCOPE), periods=60)
        memory = world.memory
        assert memory.history.fit is not None
        assert memory.history.error < 0.1
        assert memory.factor == pytest.approx(ramp(world.now + 60) / ramp(world.now), abs=0.06)
        alone = World(ramp, executors=2, most=30)
        alone.run(create("rate_based", {}, SCOPE), periods=60)
        assert world.executors > alone.executors

    def test_executors_go_before_the_fall_is_over_but_not_while_cores_are_short(self) -> None:
        scaler: Any = create("predictive", {**self.settings, "horizon_s": 5}, SCOPE)
        chosen = Chosen(Method.NAIVE, 0, 0.1, 0.9, 1.1, {"naive": 0.1})
        history = History(values=(1.0,) * 20, ahead=(800.0, 500.0), chosen=chosen)

        def factor(load: float) -> float:
            facts = observe(snapshot(operator(load=load), executors=2), SCOPE)
            return float(scaler._factor(facts, history, 1000.0))

        assert factor(0.5) == pytest.approx(0.8)
        assert factor(1.9) == 1.0

    def test_the_answer_carries_band_season_and_errors(self) -> None:
        world = World(self.pulse, executors=2)
        scaler = create("predictive", {"step_s": 5, "horizon_s": 15}, SCOPE)
        memory: Any = scaler.fresh()
        for _ in range(200):
            decision, memory = scaler.decide(world.step(), memory, world.now)
        shown = decision.reason.numbers
        assert shown["forecast_season_s"] == pytest.approx(200.0, abs=5.0)
        low, likely, high = (
            shown[f"{n}_rows_per_s"] for n in ("forecast_low", "forecast", "forecast_high")
        )
        assert low <= likely * 1.01
        assert high >= low
        assert shown["error_of_seasonal_naive"] < shown["error_of_naive"]
        assert "forecast_error" in shown

    def test_a_bad_forecast_is_not_used(self) -> None:
        given = {**self.settings, "max_error": 0.05, "season_s": 70}
        scaler = create("predictive", given, SCOPE)
        world = World(self.pulse, executors=8)
        world.run(scaler, periods=120)
        assert world.memory.history.error > 0.05
        assert world.memory.factor == 1.0

    def test_works_before_every_other_scaler(self) -> None:
        for inner in ("thresholds", "spark_streaming", "dodo", "qlearning", "drs"):
            scaler = create("predictive", {"inner": inner}, SCOPE)
            _, memory = scaler.decide(snapshot(operator()), scaler.fresh(), 0.0)
            assert memory.inner is not None

    def test_another_scaler_begins_with_a_memory_of_its_own(self) -> None:
        memory, world = None, World(self.pulse, executors=2)
        for inner in ("qlearning", "drs", "qlearning"):
            scaler: Any = create("predictive", {**self.settings, "inner": inner}, SCOPE)
            world.run(scaler, 3, memory)
            memory = world.memory
            fresh = scaler.inner.fresh()
            assert memory.inner_name == inner
            assert type(scaler.inner.remember(memory.inner)) is type(fresh)
        assert memory.history.step == world.now // 5, "the series goes on"
        broken = msgspec.structs.replace(memory, inner={"table": 3})
        _, after = scaler.decide(world.step(), broken, world.now)
        assert scaler.inner.remember(after.inner).table == scaler.inner.fresh().table

    def test_itself_and_strangers_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="no sense"):
            create("predictive", {"inner": "predictive"}, SCOPE)
        with pytest.raises(InvalidInput, match="no scaler 'magic'"):
            create("predictive", {"inner": "magic"}, SCOPE)
        with pytest.raises(InvalidInput, match="there is no setting 'x'"):
            create("predictive", {"inner_settings": {"x": 1}}, SCOPE)
        with pytest.raises(InvalidInput, match="two times season_s"):
            create("predictive", {"season_s": 200_000}, SCOPE)
        with pytest.raises(InvalidInput, match="1000 x step_s"):
            create("predictive", {"horizon_s": 1e5, "step_s": 1}, SCOPE)

    def test_the_future_has_more_work_at_the_same_cost(self) -> None:
        now = snapshot(operator(), operator(name="other", cluster="b"))
        later = busier(now, "a", 2.0)
        one = later.operator("count")
        assert one is not None
        assert one.load == 1.0
        assert one.busy_cores / one.processed_rows_per_s == pytest.approx(0.0005)
        assert later.operator("other") == now.operator("other")
