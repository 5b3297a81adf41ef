"""Asking the scalers: one that fails, settings that fit, tables that are put in place."""

from math import inf, nan
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.support import people
from tests.unit.controllers.engine.engine_world import World
from weir.controllers.engine.groups import check_settings
from weir.controllers.engine.propose.scaling import (
    HISTORY_S,
    ScaleSettings,
    ask_scalers,
    hand_scope,
    scale_by_hand,
    scaler_group,
)
from weir.controllers.model.decision import Grounds, NoChange
from weir.controllers.model.errors import InvalidInput, Refused, WeirError
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.qlearning.initial import initial_table
from weir.controllers.scaling.qlearning.memory import QMemory
from weir.controllers.scaling.qlearning.settings import QSettings
from weir.controllers.scaling.qlearning.table import export_table
from weir.controllers.scaling.rate_based import RateBased
from weir.controllers.scaling.registry import scalers


@pytest.fixture
def world() -> World:
    return World(a={"count": 1.2}, b={"top": 0.1})


def snapshot(world: World) -> Snapshot:
    return Snapshot.of(world.store.latest(), world.now)


def asked(world: World, own: dict[str, Any], memories: dict[str, bytes], before: Any = None) -> Any:
    shot = snapshot(world)
    cluster = shot.cluster("a")
    assert cluster is not None
    return ask_scalers(shot, cluster, ScaleSettings(), own, memories, world.now, before=before)


class TestAScalerThatFails:
    def test_harms_nobody_else_and_is_in_the_log(
        self, world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        _, memories = asked(world, {}, {})

        def fails(*_: object) -> None:
            raise OverflowError("cannot convert float infinity to integer")

        monkeypatch.setattr(RateBased, "judge", fails)
        world.tick()
        view, kept = asked(world, {}, memories)
        said = view.answer("rate_based").decision
        assert isinstance(said, NoChange)
        assert said.reason.grounds is Grounds.UNUSABLE
        assert said.reason.text.startswith("not usable: OverflowError")
        # It is also the scaler behind the forecast; all others answer, and it forgets nothing.
        assert set(scalers()) - set(kept) == {"rate_based", "predictive"}
        assert "scaler rate_based failed on a" in caplog.text
        assert "Traceback" in caplog.text

    def test_a_memory_that_cannot_be_read_begins_anew(self, world: World) -> None:
        fresh, _ = asked(world, {}, {})
        view, kept = asked(world, {}, dict.fromkeys(scalers(), b'{"table": 3'))
        assert set(kept) == set(scalers())
        assert view.answers == fresh.answers

    def test_another_scaler_behind_the_forecast_begins_anew(self, world: World) -> None:
        memories: dict[str, bytes] = {}
        for inner in ("drs", "qlearning", "drs"):
            world.tick()
            view, memories = asked(world, {"predictive": {"inner": inner}}, memories)
            assert view.answer("predictive").decision.reason.grounds is not Grounds.UNUSABLE
            kept = msgspec.json.decode(memories["predictive"])
            assert kept["inner_name"] == inner
            assert ("tracks" if inner == "drs" else "table") in kept["inner"]
        assert kept["history"]["count"] == 3, "the series goes on"


def test_the_model_predicts_without_the_measurement_it_is_compared_with(world: World) -> None:
    view, memories = asked(world, {}, {})
    world.places["a"].executors = world.places["a"].wanted = 4
    points = []
    for _ in range(3):
        world.tick()
        known = min(msgspec.json.decode(memories["drs"])["overhead"], default=0.0)
        view, memories = asked(world, {}, memories, before=view)
        model_s = msgspec.json.decode(memories["drs"])["model_s"]
        points.append(view.sojourn[-1])
        assert points[-1] == (world.now, pytest.approx(model_s + known), 1.0)
    assert points[0][1] < 0.5, "the overhead is not known yet"
    assert points[2][1] == pytest.approx(1.0), "by now it is"


def test_the_model_is_compared_as_far_back_as_the_series_go(world: World) -> None:
    view, memories = asked(world, {}, {})
    old = tuple((world.now - age_s, 1.0, 1.0) for age_s in (HISTORY_S + 1, HISTORY_S - 10))
    world.tick()
    view, _ = asked(world, {}, memories, before=replace(view, sojourn=old))
    assert [at for at, _, _ in view.sojourn] == [old[1][0], world.now]


class TestSettings:
    @pytest.mark.parametrize(
        ("scaler", "values", "field"),
        [
            ("drs", {"t_ra_s": inf}, "t_ra_s"),
            ("drs", {"t_ra_s": "inf"}, "t_ra_s"),
            ("thresholds", {"upper_s": nan}, "upper_s"),
            ("fixed", {"executors": 10**30}, "executors"),
            ("rate_based", {"max_scale_up_factor": 1e308}, "max_scale_up_factor"),
            ("predictive", {"horizon_s": 1e7, "step_s": 1}, "horizon_s"),
            ("predictive", {"inner": "nonsense"}, "inner"),
            ("predictive", {"inner": "predictive"}, "inner"),
            ("predictive", {"inner": "drs", "inner_settings": {"t_max_s": -5}}, "inner_settings"),
            ("predictive", {"inner_settings": {"restart_s": inf}}, "inner_settings"),
        ],
    )
    def test_what_no_scaler_could_use_is_refused(
        self, scaler: str, values: dict[str, Any], field: str
    ) -> None:
        with pytest.raises(InvalidInput) as error:
            check_settings(scaler_group("a", scaler), values)
        assert error.value.field == field
        assert field in str(error.value)

    def test_a_horizon_of_too_many_steps_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="horizon_s must not be above 1000 x step_s"):
            check_settings("scale:a:predictive", {"horizon_s": 1001, "step_s": 1})
        assert check_settings("scale:a:predictive", {"horizon_s": 1000, "step_s": 1})

    def test_what_is_kept_can_be_used(self, world: World) -> None:
        given = {"recommend_only": True, "t_ra_s": "1e6"}
        kept = people.set_settings(world.store, "scale:a:drs", given, by="ada", now=world.now)
        again = msgspec.json.decode(msgspec.json.encode(kept))
        assert again == {"recommend_only": True, "t_ra_s": 1e6}
        view, _ = asked(world, {"drs": again}, {})
        assert "Recommended: 2 executors" in view.answer("drs").decision.reason.text


class TestByHand:
    """The page says before the click what the engine would say after it."""

    @pytest.mark.parametrize("executors", [1, 2, 4, 5, 6, 8, 9])
    @pytest.mark.parametrize("total", [0, 2, 4, 6, 20])
    @pytest.mark.parametrize("limits", [{}, {"max_executors": 3}, {"min_executors": 2}])
    def test_page_and_engine_agree(
        self, world: World, executors: int, total: int, limits: dict[str, int]
    ) -> None:
        world.places["a"].executors = world.places["a"].wanted = 3
        world.tick()
        world.store.save_settings("engine", {"total_executors": total})
        world.store.save_settings("scale:a", limits)
        shot = snapshot(world)

        def allowed(decide: Any) -> bool:
            try:
                decide()
            except (InvalidInput, Refused):
                return False
            return True

        scope = hand_scope(shot, "a", ScaleSettings(**limits), total)
        page = allowed(lambda: scale_by_hand(shot, "a", executors, scope))
        wide = replace(shot, clusters=tuple(replace(c, max_executors=99) for c in shot.clusters))
        decision = scale_by_hand(wide, "a", executors)
        engine = allowed(
            lambda: people.propose_by_hand(world.store, decision, by="ada", now=world.now)
        )
        assert page == engine

    def test_the_limits_are_named(self, world: World) -> None:
        scope = hand_scope(snapshot(world), "a", ScaleSettings(), 4)
        with pytest.raises(InvalidInput, match="4 executors are outside the limits 1 to 3"):
            scale_by_hand(snapshot(world), "a", 4, scope)


class TestTables:
    NARROW = {"latency_granularity_s": 5.0}

    def learned(self, world: World) -> QMemory:
        memories: dict[str, bytes] = {}
        own = {"qlearning": {"decision_interval_s": 2.0, "value_iteration_time_s": 4.0}}
        for _ in range(8):
            world.tick()
            _, memories = asked(world, own, memories)
        world.store.save_memories("a", {"qlearning": memories["qlearning"]})
        return msgspec.json.decode(memories["qlearning"], type=QMemory)

    def now(self, world: World) -> QMemory:
        return msgspec.json.decode(world.store.memories("a")["qlearning"], type=QMemory)

    def test_a_table_ends_what_belonged_to_the_old_one(self, world: World) -> None:
        before = self.learned(world)
        assert before.solved
        table = initial_table(QSettings(seed=7))
        people.import_qtable(
            world.store, "a", msgspec.json.encode(export_table(table)), by="ada", now=world.now
        )
        after = self.now(world)
        assert after.table == table
        assert (after.draws, after.epsilon, after.window) == (
            before.draws,
            before.epsilon,
            before.window,
        )
        assert (after.last, after.trail, after.rewards, after.solved) == (None, (), (), False)
        assert (after.samples.transitions, after.sampling_since) == ({}, None)
        assert world.store.audit()[0].action == "memory.imported"

    def test_a_table_must_fit_the_settings_not_what_was_learned(self, world: World) -> None:
        old = export_table(self.learned(world).table)
        world.store.save_settings("scale:a:qlearning", self.NARROW)
        with pytest.raises(WeirError, match=r"480 states of 15 s, but 1248 of 5 s are set"):
            people.import_qtable(
                world.store, "a", msgspec.json.encode(old), by="ada", now=world.now
            )
        fitting = initial_table(QSettings(**self.NARROW))
        people.import_qtable(
            world.store, "a", msgspec.json.encode(export_table(fitting)), by="ada", now=world.now
        )
        assert self.now(world).table == fitting

    def test_a_memory_that_cannot_be_read_is_replaced(self, world: World) -> None:
        world.store.save_memories("a", {"qlearning": b"{}"})
        table = initial_table(QSettings())
        people.import_qtable(
            world.store, "a", msgspec.json.encode(export_table(table)), by="ada", now=world.now
        )
        assert self.now(world).table == table
