"""Thresholds with durations and a grace period: the rule that cloud providers offer."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Scale
from weir.controllers.model.settings import setting
from weir.controllers.model.words import latency, percent, span
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts


class WatchedFigure(StrEnum):
    """What is compared with the thresholds."""

    LOAD = "load"  # work that arrives per core
    LATENCY = "latency"  # seconds, of the slowest operator


class ThresholdSettings(Struct, frozen=True, kw_only=True):
    """Two thresholds, how long each must be passed, and how far to go."""

    figure: Annotated[WatchedFigure, setting("Figure that is compared with the thresholds")] = (
        WatchedFigure.LOAD
    )
    upper: Annotated[float, setting("Scale out above this", ge=0, unit="load or s")] = 0.8
    lower: Annotated[float, setting("Scale in below this", ge=0, unit="load or s")] = 0.3
    upper_s: Annotated[
        float, setting("How long it must stay above the upper threshold", ge=0, unit="s")
    ] = 20.0
    lower_s: Annotated[
        float, setting("How long it must stay below the lower threshold", ge=0, unit="s")
    ] = 60.0
    grace_s: Annotated[float, setting("Quiet time after a decision", ge=0, unit="s")] = 30.0
    step_out: Annotated[int, setting("Executors to add", ge=1, le=10_000, unit="executors")] = 1
    step_in: Annotated[int, setting("Executors to remove", ge=1, le=10_000, unit="executors")] = 1

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(f"lower ({self.lower}) must be below upper ({self.upper})")


class ThresholdMemory(Memory, frozen=True, kw_only=True):
    """Since when a threshold is passed, and until when to keep quiet."""

    above_since: float | None = None
    below_since: float | None = None
    quiet_until: float | None = None


class Thresholds(Scaler[ThresholdSettings, ThresholdMemory]):
    """Acts once a figure has stayed beyond a threshold for the time set.

    The figure is watched during the grace period as well, so that a load that
    stays high is met as soon as it ends.

    Reference: Lorido-Botran et al., "A review of auto-scaling techniques for
    elastic applications in cloud environments", J. Grid Computing 12 (2014).

    >>> from weir.controllers.model.settings import build
    >>> build(ThresholdSettings, {"upper": 0.2, "lower": 0.5})
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: settings: lower (0.5) must be below upper (0.2)
    """

    name = "thresholds"
    title = "Thresholds"
    settings_type = ThresholdSettings
    memory_type = ThresholdMemory

    def judge(
        self, facts: ClusterFacts, memory: ThresholdMemory, now: float
    ) -> tuple[Decision, ThresholdMemory]:
        """Follow the figure; scale by a step once it has been beyond for long enough."""
        s = self.settings
        what = s.figure.value
        key = "load" if s.figure is WatchedFigure.LOAD else "latency_s"
        put = percent if s.figure is WatchedFigure.LOAD else latency
        value = facts.load if s.figure is WatchedFigure.LOAD else facts.own_latency_s
        if value is None:
            # A gap in the figures breaks the "all the time since": begin anew.
            memory = replace(memory, above_since=None, below_since=None)
            return cannot_tell(f"The {what} is not known."), memory
        above = _since(memory.above_since, value > s.upper, now)
        below = _since(memory.below_since, value < s.lower, now)
        memory = replace(memory, above_since=above, below_since=below)
        if memory.quiet_until is not None and now < memory.quiet_until:
            left = memory.quiet_until - now
            text = f"Grace period for another {span(left)}; the {what} is {put(value)}."
            return not_now(text, "now < quiet_until", left_s=left, **{key: value}), memory
        if above is not None and now - above >= s.upper_s:
            reason = because(
                f"The {what} has been above {put(s.upper)} for {span(now - above)}: {put(value)}.",
                f"{what} > upper for upper_s",
                **{key: value, f"upper_{key}": s.upper},
                for_s=now - above,
                upper_s=s.upper_s,
            )
            return self._act(scale_to(facts, facts.executors + s.step_out, reason), memory, now)
        if below is not None and now - below >= s.lower_s:
            reason = because(
                f"The {what} has been below {put(s.lower)} for {span(now - below)}: {put(value)}.",
                f"{what} < lower for lower_s",
                **{key: value, f"lower_{key}": s.lower},
                for_s=now - below,
                lower_s=s.lower_s,
            )
            return self._act(scale_to(facts, facts.executors - s.step_in, reason), memory, now)
        bounds = f"{put(s.lower)} and {put(s.upper)}"
        text = f"The {what} of {put(value)} is between {bounds}, or has not been outside for long."
        numbers = {key: value, f"lower_{key}": s.lower, f"upper_{key}": s.upper}
        return stay(text, f"lower <= {what} <= upper", **numbers), memory

    def _act(
        self, decision: Decision, memory: ThresholdMemory, now: float
    ) -> tuple[Decision, ThresholdMemory]:
        if isinstance(decision, Scale):
            memory = ThresholdMemory(quiet_until=now + self.settings.grace_s)
        return decision, memory


def _since(since: float | None, beyond: bool, now: float) -> float | None:
    if not beyond:
        return None
    return now if since is None else since
