"""DRS as a scaler: its band of latency, its quiet time, its measurements."""

from typing import Any

import msgspec
import pytest

from tests.unit.controllers.scaling.scaling_world import World, operator, snapshot
from weir.controllers.model.decision import NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.drs.measure import (
    MeasuredFigure,
    Smoothing,
    StationTrack,
    cost_of,
    pool_stations,
)
from weir.controllers.scaling.drs.network import Station
from weir.controllers.scaling.registry import create

SCOPE = Scope(cluster="a")


def drs(**given: Any) -> Any:
    return create("drs", {"window": 1, **given}, SCOPE)


def shot(latency_s: float, load: float, executors: int) -> Snapshot:
    """A cluster with that load in cores and that latency."""
    one = operator(
        arrival_rows_per_s=load * 2000,
        processed_rows_per_s=load * 2000,
        load=load,
        busy_cores=load,
        processing_s=latency_s,
        scheduling_s=0.0,
    )
    return snapshot(one, executors=executors, most=30)


class TestBand:
    def test_out_above_t_max(self) -> None:
        scaler = drs(t_max_s=10, t_min_s=2)
        decision, _ = scaler.decide(shot(20.0, 5.0, 3), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        assert decision.executors >= 6  # 5 cores of work, none busier than 90 %
        assert decision.prediction.latency_s is not None

    def test_more_work_than_cores_acts_before_the_latency_shows_it(self) -> None:
        scaler = drs()
        decision, _ = scaler.decide(shot(5.0, 5.0, 3), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        assert decision.reason.rule == "load > capacity"

    def test_in_below_t_min(self) -> None:
        scaler = drs(t_max_s=10, t_min_s=2)
        decision, _ = scaler.decide(shot(1.0, 2.0, 12), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        assert 3 <= decision.executors < 12
        assert decision.reason.rule == "latency < t_min"

    def test_in_between_nothing(self) -> None:
        scaler = drs(t_max_s=10, t_min_s=2)
        assert isinstance(scaler.decide(shot(5.0, 2.0, 12), scaler.fresh(), 0.0)[0], NoChange)

    def test_a_late_cluster_that_the_model_finds_large_enough_is_left_to_drain(self) -> None:
        scaler = drs(t_max_s=10, t_min_s=2)
        decision, _ = scaler.decide(shot(50.0, 2.0, 20), scaler.fresh(), 0.0)
        assert isinstance(decision, NoChange)
        assert "the present size right" in decision.reason.text

    def test_crossed_times_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="must be below t_max_s"):
            drs(t_max_s=1, t_min_s=2)


class TestQuietTime:
    def test_t_ra_is_the_least_time_between_changes(self) -> None:
        scaler = drs(t_ra_s=60)
        decision, memory = scaler.decide(shot(20.0, 5.0, 3), scaler.fresh(), 0.0)
        assert isinstance(decision, Scale)
        decision, memory = scaler.decide(shot(20.0, 9.0, 6), memory, 10.0)  # it was carried out
        assert isinstance(decision, NoChange)
        decision, memory = scaler.decide(shot(20.0, 9.0, 6), memory, 69.0)
        assert isinstance(decision, NoChange)
        assert decision.reason.numbers["left_s"] == 1.0
        assert isinstance(scaler.decide(shot(20.0, 9.0, 6), memory, 70.0)[0], Scale)

    def test_an_answer_that_nobody_followed_starts_no_quiet_time(self) -> None:
        scaler = drs(t_ra_s=60)
        _, memory = scaler.decide(shot(20.0, 5.0, 3), scaler.fresh(), 0.0)
        assert isinstance(scaler.decide(shot(20.0, 5.0, 3), memory, 1.0)[0], Scale)

    def test_an_infinite_t_ra_is_refused_because_it_cannot_be_kept(self) -> None:
        with pytest.raises(InvalidInput, match="t_ra_s: it must be a number"):
            drs(t_ra_s=float("inf"))

    def test_recommends_only_also_after_its_settings_were_kept(self) -> None:
        settings = drs(recommend_only=True).settings
        kept = msgspec.json.decode(msgspec.json.encode(settings))
        scaler = create("drs", kept, SCOPE)
        assert scaler.settings == settings
        decision, memory = scaler.decide(shot(20.0, 5.0, 3), scaler.fresh(), 0.0)
        assert isinstance(decision, NoChange)
        assert decision.reason.numbers["recommended"] >= 6
        assert "Recommended" in decision.reason.text
        assert memory.wanted == decision.reason.numbers["recommended"]


class TestMeasurement:
    def test_window_and_fading(self) -> None:
        window = fading = MeasuredFigure()
        for value in (1.0, 2.0, 3.0, 4.0):
            window = window.then(value, Smoothing.WINDOW, window=3, alpha=0.0)
            fading = fading.then(value, Smoothing.ALPHA, window=3, alpha=0.5)
        assert window.value == 3.0
        assert fading.value == 0.5 * (0.5 * (0.5 * 1 + 0.5 * 2) + 0.5 * 3) + 0.5 * 4

    def test_a_long_window_rides_out_a_spike(self) -> None:
        """As in the paper's figure 9: w = 6 sees nothing where w = 1 acts."""
        acted = {}
        for window in (1, 6):
            scaler = drs(window=window, t_max_s=10, t_min_s=0.5)
            memory, acted[window] = scaler.fresh(), False
            for i in range(12):
                spike = i == 8
                now = shot(25.0 if spike else 4.0, 3.2 if spike else 2.0, 3)
                decision, memory = scaler.decide(now, memory, i * 60.0)
                acted[window] |= isinstance(decision, Scale)
        assert acted == {1: True, 6: False}

    def test_the_rate_of_a_core_is_measured_while_it_is_busy(self) -> None:
        """1,000 rows/s at half a core are 2,000 per core, not 1,000."""
        assert cost_of(operator(cost_s_per_row=None)) == pytest.approx(1 / 2000)
        assert cost_of(operator(cost_s_per_row=None, processed_rows_per_s=0.0)) is None

    def test_variability_from_batches_and_costs(self) -> None:
        raw = (100.0, 300.0)
        track = StationTrack(
            batch_rows=MeasuredFigure(200.0, raw), cost_s=MeasuredFigure(2.0, (1.0, 3.0))
        )
        assert track.ca2 == pytest.approx((100**2 + 300**2) / 2 / 200)
        assert track.cs2 == pytest.approx(0.25)
        assert (StationTrack().ca2, StationTrack().cs2) == (1.0, 1.0)

    def test_shared_cores_need_fewer_than_cores_of_ones_own(self) -> None:
        """Three operators at 0.2 cores: one core each, or one for all."""
        ones = [
            operator(
                name=n,
                load=0.2,
                busy_cores=0.2,
                arrival_rows_per_s=400.0,
                processed_rows_per_s=400.0,
                batch_rows=10,
            )
            for n in ("x", "y", "z")
        ]
        wanted = {}
        for share in (True, False):
            scaler = drs(share_cores=share, t_max_s=10, t_min_s=2)
            _, memory = scaler.decide(snapshot(*ones, executors=6), scaler.fresh(), 0.0)
            wanted[share] = memory.wanted
        assert wanted == {True: 1, False: 3}

    def test_pooling_keeps_the_work_and_mixes_the_service_times(self) -> None:
        quick = Station(name="q", arrivals=10.0, rate=100.0, cs2=0.0)
        slow = Station(name="s", arrivals=10.0, rate=1.0, cs2=0.0)
        both = pool_stations([quick, slow])
        assert both is not None
        assert both.offered == pytest.approx(10.1)
        mean, square = (0.01 + 1.0) / 2, (0.01**2 + 1.0) / 2
        assert both.cs2 == pytest.approx(square / mean**2 - 1)


def test_keeps_a_growing_load_within_its_time() -> None:
    world = World(lambda at: 1000.0 + 5.0 * at, executors=2)
    world.run(create("drs", {}, SCOPE), periods=300)
    assert world.executors * 1000 > 1000 + 5 * 1500
    assert world.executors <= 12
    assert world.queue < 20_000
