"""Did it help? What was promised against what was measured, and what that teaches.

    effectiveness = (measured - before) / (predicted - before)

on the objective of the recommendation. Where the work that arrives has changed meanwhile,
`before` and `predicted` are first scaled to the present work: an action is not judged by
what the users did.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from weir.controllers.engine.judge.figures import value
from weir.controllers.engine.recommendation import Figures, Recommendation, Status
from weir.controllers.model.decision import Scale

LEAST_RECORD = 3
"""Judged actions needed before they say anything about the next one."""
RECORD = 10
WORDS: dict[str, tuple[str, str]] = {
    "load": ("load", "{:.0%}"),
    "latency_s": ("latency", "{:.1f} s"),
    "queue_rows": ("queue", "{:,.0f} rows"),
    "load_distance": ("load distance", "{:.1f} points"),
}


class Outcome(Struct, frozen=True, kw_only=True):
    """An action judged."""

    status: Status
    effectiveness: float | None
    error_share: float | None  # |measured - predicted| / predicted
    verdict: str


class Track(Struct, frozen=True, kw_only=True):
    """What one method's actions on a cluster came to so far."""

    judged: int = 0
    effective: int = 0
    error_share: float | None = None
    calibration: float = 1.0  # share of what was promised that came true

    @property
    def effective_share(self) -> float:
        """Effective ones of those judged; 0 without any."""
        return self.effective / self.judged if self.judged else 0.0


def outcome(
    recommendation: Recommendation, measured: Figures, least_effectiveness: float
) -> Outcome:
    """Judge an action by the figures after its settling time."""
    missing = _missing(recommendation, measured)
    if missing:
        return Outcome(
            status=Status.INEFFECTIVE, effectiveness=0.0, error_share=None, verdict=missing
        )
    compared = _compared(recommendation, measured)
    if compared is None:
        return Outcome(
            status=Status.UNMEASURED,
            effectiveness=None,
            error_share=None,
            verdict="It was carried out; there is no figure to judge it by.",
        )
    before, predicted, now, ratio = compared
    effectiveness = (now - before) / (predicted - before)
    good = effectiveness >= least_effectiveness
    if recommendation.kind == "scale_in":  # here the figure rises: more than promised is bad
        good = effectiveness <= 1.0 + least_effectiveness
    return Outcome(
        status=Status.EFFECTIVE if good else Status.INEFFECTIVE,
        effectiveness=effectiveness,
        error_share=abs(now - predicted) / max(abs(predicted), 1e-9),
        verdict=_verdict(recommendation, before, predicted, now, effectiveness, ratio),
    )


def too_early(recommendation: Recommendation) -> Outcome:
    """Another action came before the effect of this one could show."""
    del recommendation
    return Outcome(
        status=Status.UNMEASURED,
        effectiveness=None,
        error_share=None,
        verdict="It was carried out; the next action came before its effect could be measured.",
    )


def track(
    recommendations: Iterable[Recommendation], cluster: str, source: str | None = None
) -> Track:
    """The record of a method on a cluster, newest `RECORD` first; of all methods without one."""
    judged = [
        r
        for r in recommendations
        if r.status in (Status.EFFECTIVE, Status.INEFFECTIVE)
        and r.effectiveness is not None
        and cluster in r.clusters
        and (source is None or r.source == source)
    ]
    errors = [e for r in judged[:RECORD] if (e := error_of(r)) is not None]
    return Track(
        judged=len(judged),
        effective=sum(r.status is Status.EFFECTIVE for r in judged),
        error_share=median(errors) if errors else None,
        calibration=_calibration(judged[:RECORD]),
    )


def tracks(recommendations: Iterable[Recommendation]) -> dict[str, Track]:
    """The record of every cluster that has one, of all methods."""
    touching: dict[str, list[Recommendation]] = defaultdict(list)
    for recommendation in recommendations:
        for cluster in recommendation.clusters:
            touching[cluster].append(recommendation)
    found = {cluster: track(some, cluster) for cluster, some in touching.items()}
    return {cluster: record for cluster, record in found.items() if record.judged}


def error_of(recommendation: Recommendation) -> float | None:
    """By what share of itself the prediction was wrong."""
    if recommendation.measured is None:
        return None
    compared = _compared(recommendation, recommendation.measured)
    if compared is None:
        return None
    _, predicted, now, _ = compared
    return abs(now - predicted) / max(abs(predicted), 1e-9)


def _calibration(judged: Sequence[Recommendation]) -> float:
    """Median of the shares that came true of what the methods themselves promised.

    Each prediction was already cut by the factor of its time; that is multiplied back.
    """
    shares = [r.effectiveness * r.calibration for r in judged if r.effectiveness is not None]
    if len(shares) < LEAST_RECORD:
        return 1.0
    return min(max(median(shares), 0.25), 1.5)


def _missing(recommendation: Recommendation, measured: Figures) -> str:
    decision = recommendation.decision
    if not isinstance(decision, Scale):
        return ""
    there, target = measured.executors.get(decision.cluster), decision.executors
    before = recommendation.before.executors.get(decision.cluster, decision.before)
    # Where some of it has come, what that brought can be measured.
    if there is None or there == target or abs(target - there) < abs(target - before):
        return ""
    return f"{there} executors are there instead of {decision.executors}."


def _compared(
    recommendation: Recommendation, measured: Figures
) -> tuple[float, float, float, float] | None:
    """Before, predicted and measured, scaled to the present work, and its ratio to the work then."""
    objective, names = recommendation.objective, recommendation.clusters
    before = value(recommendation.before, objective, names)
    predicted = value(recommendation.predicted, objective, names)
    now = value(measured, objective, names)
    if before is None or predicted is None or now is None:
        return None
    ratio = 1.0
    work, was = measured.work_cores, recommendation.before.work_cores
    if objective in ("load", "load_distance") and work and was:
        ratio = work / was
    before, predicted = before * ratio, predicted * ratio
    if abs(predicted - before) < 1e-6:
        return None
    return before, predicted, now, ratio


def _verdict(
    recommendation: Recommendation,
    before: float,
    predicted: float,
    now: float,
    effectiveness: float,
    ratio: float,
) -> str:
    name, form = WORDS[recommendation.objective]
    text = (
        f"The {name} went from {form.format(before)} to {form.format(now)}; "
        f"{form.format(predicted)} was predicted, so {effectiveness:.0%} of it came true."
    )
    if abs(ratio - 1.0) > 0.05:
        change = f"{abs(ratio - 1.0):.0%} {'more' if ratio > 1.0 else 'less'}"
        text += f" {change} work arrives than then; the figures are brought to that."
    return text
