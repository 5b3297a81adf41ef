"""What a search of settings has found: judged on a part of the input that it never saw."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import UNREADABLE, InvalidInput
from weir.controllers.model.words import percent
from weir.controllers.simulator.summary import SimulationSummary

Objectives = tuple[float, float]
"""Share of time over target and executor-hours."""
_SAME = 1e-9
_OF_USE = 0.2  # more of the time over target than this is no service


class Candidate(Struct, frozen=True, kw_only=True):
    """One policy on both parts of the input."""

    label: str
    scaler: str
    settings: dict[str, Any] = {}
    trained: SimulationSummary | None = None  # on the part that was searched
    judged: SimulationSummary | None = None  # on the part that was not

    @property
    def objectives(self) -> Objectives:
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
    front: tuple[Candidate, ...]  # best trade-offs of the trained part, fewest executor-hours last
    default: Candidate
    baselines: tuple[Candidate, ...]
    importance: tuple[Importance, ...]
    chosen: int | None  # of the front, by the unseen part; None: keep the defaults
    verdict: str  # one sentence
    beats_default: bool  # on the unseen part, in both dimensions

    @property
    def best(self) -> Candidate:
        """The settings to use from now on."""
        return self.default if self.chosen is None else self.front[self.chosen]


def write_tuning(tuning: Tuning) -> bytes:
    """The result as JSON."""
    return msgspec.json.format(msgspec.json.encode(tuning), indent=2)


def read_tuning(raw: bytes) -> Tuning:
    """The result from JSON."""
    try:
        return msgspec.json.decode(raw, type=Tuning)
    except UNREADABLE as error:
        raise InvalidInput(f"the tuning result cannot be read: {error}", field="tuning") from None


def dominates(a: Objectives, b: Objectives) -> bool:
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


def choose(found: Sequence[Objectives], default: Objectives) -> int | None:
    """The trade-off to recommend by figures of the unseen part; None: keep the defaults.

    None that another dominates. Among those that beat the default in both dimensions, the
    one that beats it most in the dimension where it gains less: that is likeliest to hold
    on another day. Where there is none, or only such as are of no use, a tenth of the time
    over target weighs as much as all that is paid now, for the default too.

    >>> choose([(0.15, 80.0), (0.1, 99.0)], (0.2, 100.0))
    0
    >>> choose([(0.02, 5.0), (0.01, 6.0)], (0.01, 4.0)) is None
    True
    """
    over, hours = max(default[0], 1e-3), max(default[1], 1e-9)

    def gains(one: Objectives) -> tuple[float, float]:
        return (default[0] - one[0]) / over, 1.0 - one[1] / hours

    def weight(one: Objectives) -> float:
        return 10.0 * one[0] + one[1] / hours

    open_ = [i for i, one in enumerate(found) if not any(dominates(o, one) for o in found)]
    better = [i for i in open_ if dominates(found[i], default) and found[i][0] <= _OF_USE]
    if better:
        return max(better, key=lambda i: (min(gains(found[i])), sum(gains(found[i]))))
    best = min(open_, key=lambda i: weight(found[i]), default=None)
    return best if best is not None and weight(found[best]) < weight(default) - _SAME else None


def _instead(now: str, before: str, what: str) -> str:
    return f"{now}{what} as before" if now == before else f"{now}{what} instead of {before}"


def verdict(best: Candidate | None, default: Candidate) -> tuple[bool, str]:
    """Whether what is recommended beats the defaults on the unseen part, in a sentence."""
    over_before, hours_before = default.objectives
    if best is None:
        return False, (
            "Keep what you have: on the unseen part no trial is better than the defaults, "
            f"{percent(over_before, 2)} of the time over target with {hours_before:.2f} executor-hours."
        )
    over, hours = best.objectives
    said = (
        f"{_instead(percent(over, 2), percent(over_before, 2), ' of the time over target')}, "
        f"{_instead(f'{hours:.2f}', f'{hours_before:.2f}', ' executor-hours')}"
    )
    if dominates(best.objectives, default.objectives):
        return True, f"On the unseen part {best.label} beats the defaults: {said}."
    traded = "less time over target for more" if over < over_before else "fewer"
    cost = "executor-hours" if over < over_before else "executor-hours for more time over target"
    return False, f"On the unseen part {best.label} is a trade, {traded} {cost}: {said}."
