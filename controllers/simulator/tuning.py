"""What a search of settings has found: judged on a part of the input that it never saw."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.simulator.summary import SimulationSummary

_OF_USE = 0.2  # more of the time over target than this is no service


class Point(Struct, frozen=True, kw_only=True):
    """One policy on both parts of the input."""

    label: str
    scaler: str
    settings: dict[str, Any] = {}
    trained: SimulationSummary | None = None  # on the part that was searched
    judged: SimulationSummary | None = None  # on the part that was not

    @property
    def objectives(self) -> tuple[float, float]:
        """Share of time over target and executor-hours on the unseen part."""
        assert self.judged is not None
        return self.judged.share_over_target, self.judged.executor_hours


class Importance(Struct, frozen=True, kw_only=True):
    """How much a setting matters, as shares that add up to 1 for each objective."""

    key: str
    over_target: float
    executor_hours: float


class Trial(Struct, frozen=True, kw_only=True):
    """One try of the search, on the part that was searched."""

    number: int
    share_over_target: float
    executor_hours: float
    settings: dict[str, Any] = {}


class Tuning(Struct, frozen=True, kw_only=True):
    """All that a search has found; plain JSON for a file or a page."""

    scaler: str
    target_latency_s: float
    seed: int
    trained_hours: float
    judged_hours: float
    trials: tuple[Trial, ...]
    front: tuple[Point, ...]  # best trade-offs of the trained part, fewest executor-hours last
    default: Point
    baselines: tuple[Point, ...]
    importance: tuple[Importance, ...]
    chosen: int  # of the front: what "use these settings" takes
    verdict: str  # one sentence
    beats_default: bool  # on the unseen part, in both dimensions

    @property
    def best(self) -> Point:
        """The settings to take over."""
        return self.front[self.chosen]


def write_tuning(tuning: Tuning) -> bytes:
    """The result as JSON."""
    return msgspec.json.format(msgspec.json.encode(tuning), indent=2)


def read_tuning(raw: bytes) -> Tuning:
    """The result from JSON."""
    try:
        return msgspec.json.decode(raw, type=Tuning)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InvalidInput(f"the tuning result cannot be read: {error}", field="tuning") from None


def dominates(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """At least as good in both and better in one.

    >>> dominates((0.1, 5.0), (0.1, 6.0)), dominates((0.1, 5.0), (0.2, 4.0))
    (True, False)
    """
    return a[0] <= b[0] and a[1] <= b[1] and a != b


def front_of(trials: Sequence[Trial], most: int = 12) -> list[Trial]:
    """Trials that no other dominates, evenly thinned out; most executor-hours first.

    >>> made = [Trial(number=i, share_over_target=s, executor_hours=h)
    ...         for i, (s, h) in enumerate([(0.1, 5.0), (0.2, 4.0), (0.2, 6.0)])]
    >>> [t.number for t in front_of(made)]
    [0, 1]
    """
    best: list[Trial] = []
    for trial in sorted(trials, key=lambda t: (t.executor_hours, t.share_over_target, t.number)):
        if not best or trial.share_over_target < best[-1].share_over_target:
            best.append(trial)
    best.reverse()
    if len(best) <= most:
        return best
    return [best[round(i * (len(best) - 1) / (most - 1))] for i in range(most)]


def choose(front: Sequence[Trial], default: SimulationSummary) -> int:
    """The trade-off to recommend, by the searched part alone.

    Among those that beat the default in both dimensions, the one that beats it most in
    the dimension where it gains less: that is likeliest to hold on another day. Where
    there is none, or only such as miss the target like useless defaults do, a tenth of the time over target weighs as much as all that is paid now.
    """
    over, hours = max(default.share_over_target, 1e-3), max(default.executor_hours, 1e-9)

    def gains(trial: Trial) -> tuple[float, float]:
        less = default.share_over_target - trial.share_over_target
        return less / over, 1.0 - trial.executor_hours / hours

    better = [
        i
        for i, t in enumerate(front)
        if min(gains(t)) >= 0.0 < max(gains(t)) and t.share_over_target <= _OF_USE
    ]
    if better:
        return max(better, key=lambda i: (min(gains(front[i])), sum(gains(front[i]))))
    return min(
        range(len(front)),
        key=lambda i: 10.0 * front[i].share_over_target + front[i].executor_hours / hours,
    )


def verdict(best: Point, default: Point) -> tuple[bool, str]:
    """Whether the tuned settings beat the defaults on the unseen part, in a sentence."""
    (over, hours), (over_before, hours_before) = best.objectives, default.objectives
    said = (
        f"{over:.2%} of the time over target instead of {over_before:.2%}, "
        f"{hours:.1f} executor-hours instead of {hours_before:.1f}"
    )
    if dominates((over, hours), (over_before, hours_before)):
        return True, f"On the unseen part the tuned settings beat the defaults: {said}."
    return False, f"On the unseen part the tuned settings do not beat the defaults in both: {said}."
