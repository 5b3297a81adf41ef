"""What-if for placement: moved operators stand still, queue up, and catch up elsewhere."""

import pytest
from msgspec.structs import replace

from weir.controllers.balancing.problem import PauseModel
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Mode
from weir.controllers.simulator.model import ClusterModel, OperatorModel, WorldModel
from weir.controllers.simulator.places import JOINT, MovableWorld, PlacePolicy, simulate_places

PERIODS, PERIOD_S = 120, 5.0


def operator(name: str, place: int, rate: float, **more: object) -> OperatorModel:
    return OperatorModel(
        name=name, rows_per_s=(rate,) * PERIODS, cost_s_per_row=(0.001,) * PERIODS,
        place=(place,) * PERIODS, reads=("in",), trigger_s=5.0, overhead_s=0.2, **more,
    )  # fmt: skip


def extreme(rate: float = 1.0) -> WorldModel:
    """The small cluster has 130 % of its one core, the large one 20 % of two."""
    return WorldModel(
        begin=0.0,
        ends=tuple(PERIOD_S * (i + 1) for i in range(PERIODS)),
        clusters=(
            ClusterModel(name="wide", executors=2, max_executors=4),
            ClusterModel(name="narrow", executors=1, max_executors=4),
        ),
        operators=(
            operator("extract", 0, 400.0 * rate),
            operator("count", 1, 800.0 * rate, state_bytes=1_000_000),
            operator("top", 1, 500.0 * rate),
        ),
        focus="narrow",
    )


def test_a_moved_operator_stands_still_and_its_rows_wait() -> None:
    world = MovableWorld(extreme(0.5), pause=PauseModel(base_s=7.0, s_per_cost=1e-6))
    for _ in range(4):
        world.step()
    world.move("count", 0)
    station = next(s for s in world.stations if s.model.name == "count")
    queue = []
    for _ in range(8):
        world.step()
        queue.append(station.queue_rows)
    (move,) = world.moved
    assert (move.source, move.target, move.paused_s) == ("narrow", "wide", 8.0)
    assert max(queue) > 400.0 * PERIOD_S  # more than one period's rows came meanwhile
    assert queue[-1] < max(queue)  # and are worked off there
    assert station.arrived == pytest.approx(station.committed + station.queue_rows)


def test_another_planner_or_the_joint_plan_would_have_kept_up() -> None:
    stays = simulate_places(extreme(), PlacePolicy(planner="no_op"), target_latency_s=20.0)
    assert stays.moves == ()
    assert stays.share_over_target > 0.5
    for planner in (JOINT, "milp", "dodo"):
        found = simulate_places(extreme(), PlacePolicy(planner=planner), target_latency_s=20.0)
        assert found.moves, planner
        assert found.share_over_target < stays.share_over_target / 2.0
        assert found.queued_rows < stays.queued_rows
        assert found.executor_hours == pytest.approx(stays.executor_hours)


def test_the_joint_plan_moves_where_scaling_alone_buys_executors() -> None:
    alone = simulate_places(extreme(), PlacePolicy(planner="no_op", scaler="rate_based"))
    joint = simulate_places(extreme(), PlacePolicy(planner=JOINT, scaler="rate_based"))
    assert alone.scalings >= 1
    assert joint.moves
    assert joint.executor_hours < alone.executor_hours


def test_the_mode_says_who_acts_and_how_soon() -> None:
    def begun(mode: Mode) -> float | None:
        found = simulate_places(extreme(), PlacePolicy(planner="milp", mode=mode))
        return found.moves[0].at if found.moves else None

    auto, approved = begun(Mode.AUTO), begun(Mode.APPROVE)
    assert begun(Mode.OBSERVE) is begun(Mode.RECOMMEND) is None
    assert auto is not None
    assert approved is not None
    assert approved >= auto + 100.0


def test_it_is_the_same_every_time_and_knows_its_planners() -> None:
    model = replace(extreme(), operators=tuple(replace(o, jitter=0.2) for o in extreme().operators))
    policy = PlacePolicy(planner=JOINT, scaler="rate_based")
    assert simulate_places(model, policy, seed=3) == simulate_places(model, policy, seed=3)
    with pytest.raises(InvalidInput, match="there is no 'best'"):
        simulate_places(model, PlacePolicy(planner="best"))
