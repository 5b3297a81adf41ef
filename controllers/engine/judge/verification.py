"""Did it help? What was promised against what was measured, and what that teaches.

    effectiveness = (measured - before) / (predicted - before)

on the objective of the recommendation. Where the work that arrives has changed meanwhile,
`before` and `predicted` are first scaled to the present work: an action is not judged by
what the users did.

Two questions, two answers: did the prediction come true, and did it help? A scale-out that
does exactly what was predicted, in a cluster that had no need of it, helped nobody.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.judge.figures import figure_of
from weir.controllers.engine.recommendation import (
    Disturbance,
    Figures,
    Judgement,
    Kind,
    Recommendation,
    Status,
)
from weir.controllers.model.decision import Scale
from weir.controllers.model.words import are, latency, number_of, percent

LEAST_RECORD = 3
"""Judged actions needed before they say anything about the next one."""
RECORD = 10
NEAR = 0.2
"""A prediction came true if it was off by at most this share of itself."""
LEAST: dict[str, float] = {
    "load": 0.05,
    "latency_s": 1.0,
    "queue_rows": 100.0,
    "load_distance": 2.0,
}
"""... or by less than this, in the figure's unit."""
NEEDLESS = 0.5
"""A cluster whose load would be below this, per core, had no need of more executors."""
WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "load": ("load", percent),
    "latency_s": ("latency", latency),
    "queue_rows": ("queue", lambda rows: number_of(round(rows), "row")),
    "outage_s": ("outage", latency),
    "load_distance": ("load distance", "{:.1f} points".format),
}


class Verdict(Struct, frozen=True, kw_only=True):
    """An action judged."""

    status: Status
    effectiveness: float | None
    verdict: str
    judgement: Judgement


class TrackRecord(Struct, frozen=True, kw_only=True):
    """What one method's actions on a cluster came to so far."""

    judged: int = 0
    effective: int = 0
    error_share: float | None = None
    calibration: float = 1.0  # share of what was promised that came true

    @property
    def effective_share(self) -> float:
        """The share of judged actions that were effective; 0 without any."""
        return self.effective / self.judged if self.judged else 0.0


def judge(recommendation: Recommendation, measured: Figures, least_effectiveness: float) -> Verdict:
    """Judge an action by the figures after its settling time."""
    row = Judgement(objective=recommendation.objective)
    missing = _missing(recommendation, measured)
    if missing:
        return Verdict(
            status=Status.INEFFECTIVE,
            effectiveness=0.0,
            verdict=missing,
            judgement=replace(row, came_true=False, helped=False, why=missing),
        )
    compared = _compare(recommendation, measured)
    if compared is None:
        return unmeasured_verdict(
            recommendation, Disturbance.NO_FIGURES, "there is no figure to judge it by"
        )
    before, predicted, now, ratio = compared
    effectiveness = (now - before) / (predicted - before)
    good = effectiveness >= least_effectiveness
    if recommendation.kind is Kind.SCALE_IN:  # here the figure rises: more than promised is bad
        good = effectiveness <= 1.0 + least_effectiveness
    helped, why = _has_helped(recommendation, before, now, good)
    row = replace(
        row,
        before=before / ratio,
        before_now=before,
        predicted=predicted,
        measured=now,
        came_true=abs(now - predicted) <= max(NEAR * abs(predicted), LEAST[row.objective]),
        helped=helped,
        why=why,
    )
    told = _verdict(recommendation, before, predicted, now, effectiveness, ratio)
    return Verdict(
        status=Status.EFFECTIVE if helped else Status.INEFFECTIVE,
        effectiveness=effectiveness,
        verdict=told if helped == good else f"{told} {why[0].upper()}{why[1:]}.",
        judgement=row,
    )


def unmeasured_verdict(
    recommendation: Recommendation,
    disturbance: Disturbance,
    why: str,
    measured: Figures | None = None,
) -> Verdict:
    """It was carried out, and nobody can say what it did."""
    row = Judgement(objective=recommendation.objective, disturbance=disturbance, why=why)
    names = recommendation.clusters
    row = replace(row, before=figure_of(recommendation.before, row.objective, names))
    if measured is not None:
        row = replace(row, measured=figure_of(measured, row.objective, names))
    return Verdict(
        status=Status.UNMEASURED,
        effectiveness=None,
        verdict=f"It was carried out but cannot be judged: {why}.",
        judgement=row,
    )


def _has_helped(
    recommendation: Recommendation, before: float, now: float, good: bool
) -> tuple[bool, str]:
    """Whether it was of use, and why; `before` is at today's input."""
    name, form = WORDS[recommendation.objective]
    decision, was, is_ = recommendation.decision, form(before), form(now)
    if isinstance(decision, Scale):
        few = number_of(decision.before, "executor")
        if recommendation.kind is Kind.SCALE_IN:
            saved = decision.before - decision.executors
            if good:
                return True, f"it saves {number_of(saved, 'executor')} at a {name} of {is_}"
            return False, f"the {name} rose to {is_}"
        if recommendation.objective == "load" and before < NEEDLESS:
            return False, f"it was not needed: {few} would carry {was}"
    if good and is_ != was:
        return True, f"the {name} is {is_} where it would be {was}"
    if good or is_ == was:
        return good, f"the {name} is {is_}, as it would be without it"
    better = abs(now) < abs(before)
    return False, f"the {name} is {is_}, {'hardly better' if better else 'no better'} than {was}"


def track_record(
    recommendations: Iterable[Recommendation], cluster: str, source: str | None = None
) -> TrackRecord:
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
    return TrackRecord(
        judged=len(judged),
        effective=sum(r.status is Status.EFFECTIVE for r in judged),
        error_share=median(errors) if errors else None,
        calibration=_calibration(judged[:RECORD]),
    )


def track_records(recommendations: Iterable[Recommendation]) -> dict[str, TrackRecord]:
    """The record of every cluster that has one, of all methods."""
    touching: dict[str, list[Recommendation]] = defaultdict(list)
    for recommendation in recommendations:
        for cluster in recommendation.clusters:
            touching[cluster].append(recommendation)
    found = {cluster: track_record(some, cluster) for cluster, some in touching.items()}
    return {cluster: record for cluster, record in found.items() if record.judged}


def error_of(recommendation: Recommendation) -> float | None:
    """By what share of itself the prediction was wrong."""
    if recommendation.measured is None:
        return None
    compared = _compare(recommendation, recommendation.measured)
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
    return f"{number_of(there, 'executor')} {are(there)} there instead of {decision.executors}."


def _compare(
    recommendation: Recommendation, measured: Figures
) -> tuple[float, float, float, float] | None:
    """Before, predicted and measured, scaled to the present work, and its ratio to the work then."""
    objective, names = recommendation.objective, recommendation.clusters
    before = figure_of(recommendation.before, objective, names)
    predicted = figure_of(recommendation.predicted, objective, names)
    now = figure_of(measured, objective, names)
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


def _share_true(effectiveness: float) -> str:
    """How much of the change that was predicted came, in words."""
    if round(100.0 * effectiveness) > 100:
        return ", so it changed by more than that"
    return f", so {percent(effectiveness) if effectiveness > 0.005 else 'none'} of it came true"


def _verdict(
    recommendation: Recommendation,
    before: float,
    predicted: float,
    now: float,
    effectiveness: float,
    ratio: float,
) -> str:
    name, form = WORDS[recommendation.objective]
    was, is_, meant = form(before), form(now), form(predicted)
    text = f"The {name} " + (f"stayed at {is_}" if was == is_ else f"went from {was} to {is_}")
    text += f"; {meant} was predicted{_share_true(effectiveness) if meant != was else ''}."
    if abs(ratio - 1.0) > 0.05:
        change = f"{percent(abs(ratio - 1.0))} {'more' if ratio > 1.0 else 'less'}"
        text += f" {change} work arrives than then; the figures are brought to that."
    return text
