"""The engine shares a cluster's cores out: when, why not, and never against a person."""

from typing import Any

import pytest

from tests.unit.controllers.engine.engine_world import Lead, World, run
from weir.controllers import service
from weir.controllers.engine.stored import share_settings
from weir.controllers.model.sample import Mode
from weir.controllers.model.shares import share_group
from weir.controllers.scaling.drs.shares import ShareAdvice


def world_of(mode: Mode, **settings: Any) -> World:
    """One operator has long batches, and gets most of the cores before the short ones do."""
    world = World(a={"heavy": 2.6, "light": 0.6}, b={"other": 0.1})
    world.places["a"].executors = world.places["a"].wanted = 4
    world.tick()
    world.store.save_settings("scale:a", {"scaler": "no_op"})
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    world.store.save_settings(
        share_group("a"), {"weights": "heavy=3", "least_gain": 0.02, **settings}
    )
    service.set_mode(world.store, service.Request(by="ada", at=world.now), "a", mode)
    return world


def ticked(world: World, seconds: float = 30.0) -> ShareAdvice:
    run(world, Lead(world), seconds)
    found = world.store.scale_outlooks()["a"].shares
    assert found is not None
    return found


def changes(world: World) -> list[str]:
    return [e.by for e in world.store.audit(100) if e.action == "shares.changed"]


def test_in_mode_auto_short_batches_no_longer_wait_behind_long_ones() -> None:
    world = world_of(Mode.AUTO)
    advice = ticked(world)
    kept = share_settings(world.store, "a").by_operator
    assert kept["light"] > kept["heavy"]
    assert changes(world) == ["engine"], "once, then the gain is not worth it"
    assert advice.now == kept


@pytest.mark.parametrize(
    ("mode", "settings", "why"),
    [
        (Mode.APPROVE, {}, "mode approve"),
        (Mode.OBSERVE, {}, "mode observe"),
        (Mode.AUTO, {"source": "hand"}, "a person chose"),
        (Mode.AUTO, {"least_gain": 1.0}, "gain"),
    ],
)
def test_otherwise_it_only_says_what_it_would_do(
    mode: Mode, settings: dict[str, Any], why: str
) -> None:
    world = world_of(mode, **settings)
    advice = ticked(world)
    assert advice.weights["light"] > advice.weights["heavy"]
    assert not changes(world)
    assert why in world.store.scale_outlooks()["a"].share_wait


def test_paused_it_waits() -> None:
    world = world_of(Mode.AUTO)
    service.pause_all(world.store, service.Request(by="ada", at=world.now))
    ticked(world)
    assert not changes(world)
