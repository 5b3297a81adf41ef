"""The inbox over five minutes of a rising and falling rate: calm, and of one mind.

The world is that of the engine's tests, with figures as noisy as those of a demo: every period
off by some per cent, and first batches that cost several times what later ones do. The same
watch runs on the live demo in `tests/integration/test_calm_demo.py`.
"""

import math
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.support.calm import Watch
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import QUICK, Lead, World
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.sample import Mode, OperatorSample

RATES = (600, 200, 900, 100, 700, 300)
PHASE_S = 50.0
AT_RATE = 600.0


def steady(age_s: float) -> float:
    return AT_RATE


def rising_and_falling(age_s: float) -> float:
    return float(RATES[min(int(age_s // PHASE_S), len(RATES) - 1)])


class NoisyWorld(World):
    """Loads follow a rate, with noise; first batches are dear."""

    def __init__(
        self, rate: Callable[[float], float], seed: int, **loads: dict[str, float]
    ) -> None:
        self.rate, self.random = rate, random.Random(seed)
        self.began: dict[str, tuple[int, float]] = {}
        self.start = 1_000_000.0
        super().__init__(**loads)

    @property
    def age_s(self) -> float:
        return self.now - self.start

    def _operator(self, op: str, name: str, share: float) -> OperatorSample:
        run, at = self.began.get(op, (0, self.now))
        if run != self.runs[op]:
            at = self.now
            self.began[op] = (self.runs[op], at)
        warm = 1.0 + 3.0 * math.exp(-(self.now - at) / 6.0)
        load = self.work[op] * self.rate(self.age_s) / AT_RATE * warm
        load *= 1.0 + self.random.uniform(-0.15, 0.15)
        kept, self.work[op] = self.work[op], load
        found = super()._operator(op, name, share)
        self.work[op] = kept
        return replace(found, first_batch_at=at)


def watched(
    rate: Callable[[float], float], mode: Mode, seed: int, seconds: float = 300.0
) -> tuple[NoisyWorld, Watch]:
    world = NoisyWorld(rate, seed, wide={"extract": 0.5}, narrow={"count": 0.55, "top": 0.3})
    world.places["wide"].executors = world.places["wide"].wanted = 2
    world.store.save_settings("engine", QUICK | {"ttl_s": 300.0})
    world.store.save_settings("balance", {"planner": "milp"})
    for name in world.places:
        given_mode(world.store, name, mode)
    lead, watch = Lead(world), Watch()
    while world.age_s < seconds:
        world.tick()
        lead.cycle(planner="milp", challengers=())
        watch.look(world.store.recommendations(), world.now)
    return world, watch


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mode", [Mode.APPROVE, Mode.AUTO])
def test_from_start_to_steady_state_nothing_is_proposed_and_withdrawn(
    mode: Mode, seed: int
) -> None:
    _, watch = watched(steady, mode, seed)
    assert watch.withdrawn == [], watch.told()
    assert watch.contradictions == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mode", [Mode.APPROVE, Mode.AUTO])
def test_no_two_proposals_contradict_each_other_while_the_rate_rises_and_falls(
    mode: Mode, seed: int
) -> None:
    world, watch = watched(rising_and_falling, mode, seed)
    assert watch.contradictions == []
    for found in watch.seen.values():
        assert not _out_after_a_fall(found, world.start), found.decision
    assert all(_the_rate_changed(f, world.start) for f in watch.withdrawn), watch.told()


def _out_after_a_fall(found: Recommendation, start: float) -> bool:
    """More executors were asked for though the input had fallen."""
    age_s = found.at - start
    phase = int(age_s // PHASE_S)
    fell = 0 < phase < len(RATES) and RATES[phase] < RATES[phase - 1]
    return found.kind == "scale_out" and fell


def _the_rate_changed(found: Recommendation, start: float) -> bool:
    """Since it was proposed, or shortly before, while the window still had the old rate."""
    since, until = found.at - start - 30.0, found.history[-1].at - start
    return any(since <= PHASE_S * k <= until for k in range(1, len(RATES)))
