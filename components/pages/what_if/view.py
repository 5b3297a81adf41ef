"""What-if in words and figures: how far to trust it, and what each policy would have come to."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from weir.components.pages.compare.view import change_words
from weir.components.pages.history.plots import Line, Plot, plot_json
from weir.components.pages.scale.view import title_of
from weir.components.pages.what_if.child import Simulated, WhatIfAnswer
from weir.components.ui import text
from weir.controllers.simulator import Errors, SimulatedSeries

POINTS = 500
_COLOURS = ("series-3", "series-4", "series-2", "series-6", "series-7", "series-8", "series-1")
GOOD, FAIR = 0.20, 0.40
"""Errors of the latency up to which a simulation is called good, or fair."""
OVER_GOOD = 0.05
"""The share of time over target counts as good when it is off by at most this; fair at twice that."""


class Trust(Struct, frozen=True, kw_only=True):
    """Whether the simulator has earned it."""

    state: str
    title: str
    words: str
    figures: tuple[tuple[str, str], ...]


class PolicyRow(Struct, frozen=True, kw_only=True):
    """One policy of the table; `cells` carry what they are and how they differ."""

    label: str
    note: str
    simulated: bool
    cells: tuple[tuple[str, str], ...]  # text, change against what was done


HEADS = (
    "Latency, median", "95th percentile", "99th percentile", "Time over target", "Executors, mean", "Executors, peak",
    "Executor-hours", "Actions", "Rows served",
)  # fmt: skip


def trust(answer: WhatIfAnswer) -> Trust:
    """The error of replaying what was done, judged on a part that it has not seen."""
    judged = answer.errors or answer.fit_errors
    off = judged.latency if judged else None
    if judged is None or off is None:
        return Trust(
            state="bad",
            title="Nothing to compare the simulator with",
            words="The run is too short to be split, so nobody knows how far off it is.",
            figures=(),
        )
    off = max(off, _off_p95(answer), _off_over(answer) * GOOD / OVER_GOOD)
    state, title = ("bad", "Do not build on this")
    if off <= FAIR and answer.errors is None:
        state, title = "warn", "The simulator was compared only with what it was fitted on"
    elif off <= GOOD:
        state, title = "ok", "The simulator follows the latency of this run well"
    elif off <= FAIR:
        state, title = "warn", "The simulator follows the latency of this run roughly"
    where = (
        f"the second half of the run ({text.plural(judged.judged_periods, 'period')}), after a fit on the first"
        if answer.errors
        else "the part that it was fitted on, because the run is too short to be split"
    )
    return Trust(
        state=state,
        title=title,
        words=f"It replayed what was done and was compared with the recording on {where}. "
        f"Its error is the band around latencies and queues below. {_tail_words(answer)} "
        f"{policy_words(answer)}",
        figures=_errors(judged, answer.policy_errors),
    )


def conclusion(answer: WhatIfAnswer) -> str:
    """The answer in one sentence: what the best of the other policies would have changed."""
    if not answer.others:
        return "No other policy was asked about."
    done = answer.replayed.summary
    best = min(
        answer.others,
        key=lambda one: (round(one.summary.share_over_target, 2), one.summary.executor_hours),
    )
    found = best.summary
    name = best.policy.label[:1].upper() + best.policy.label[1:]
    over = round(done.share_over_target, 2), round(found.share_over_target, 2)
    if (over[1], found.executor_hours) >= (over[0], done.executor_hours):
        said = (
            "No other policy would have done better than what was done: the closest, "
            f"“{best.policy.label}”, would have been over target {_instead(over)}, with "
            f"{text.amount(found.executor_hours)} executor-hours instead of "
            f"{text.amount(done.executor_hours)}"
        )
        return _hedged(answer, said)
    said = (
        f"“{name}” would have been over target {_instead(over)}, with "
        f"{text.amount(found.executor_hours)} executor-hours instead of "
        f"{text.amount(done.executor_hours)}"
    )
    return _hedged(answer, said)


def _instead(over: tuple[float, float]) -> str:
    """Shares of time: of what was done, and of another policy.

    >>> _instead((0.07, 0.02)), _instead((0.0, 0.0))
    ('2 % of the time instead of 7 %', 'for the same share of the time, 0 %')
    """
    if over[0] == over[1]:
        return f"for the same share of the time, {text.share(over[0])}"
    return f"{text.share(over[1])} of the time instead of {text.share(over[0])}"


def _hedged(answer: WhatIfAnswer, said: str) -> str:
    """How far a sentence about simulations may be believed."""
    if trust(answer).state == "bad":
        return f"{said}; but the simulator does not follow this run, so do not build on it."
    return f"{said}, both simulated."


def _tail_words(answer: WhatIfAnswer) -> str:
    """The slow end of the same replay, beside what was measured."""
    measured, replayed = (
        _measured_latency(answer.recorded, answer.target_latency_s),
        answer.replayed.summary,
    )
    return (
        f"The 95th percentile of the latency was {text.seconds(measured[1])} measured and "
        f"{text.seconds(replayed.latency_p95_s)} simulated; the time over target "
        f"{text.share(measured[3])} and {text.share(replayed.share_over_target)}."
        f"{_outside_words(answer)}"
    )


def _outside_words(answer: WhatIfAnswer) -> str:
    """That the band does not hold what was measured, where that is so."""
    band, measured = (
        answer.replayed.band,
        _measured_latency(answer.recorded, answer.target_latency_s)[1],
    )
    if band is None or band.latency_p95_s is None or measured is None:
        return ""
    low, high = band.latency_p95_s
    if low <= measured <= high:
        return ""
    return " The band does not hold the measured 95th percentile: take it as too narrow."


def _off_p95(answer: WhatIfAnswer) -> float:
    measured = _measured_latency(answer.recorded, answer.target_latency_s)[1]
    if not measured:
        return 0.0
    return abs(answer.replayed.summary.latency_p95_s - measured) / measured


def _off_over(answer: WhatIfAnswer) -> float:
    measured = _measured_latency(answer.recorded, answer.target_latency_s)[3]
    if measured is None:
        return 0.0
    return abs(answer.replayed.summary.share_over_target - measured)


def policy_words(answer: WhatIfAnswer) -> str:
    """What is known of the policy that was in force, and how it does when it decides anew."""
    no_band = "and executors of other policies have no band."
    if not answer.policy:
        return (
            "The settings were not recorded, so requests are replayed as they were made, " + no_band
        )
    in_force = dict.fromkeys(
        f"{title_of(p.scaler)} in mode {p.mode.value.replace('_', ' ')}" for p in answer.policy
    )
    said = f"As recorded, the cluster followed {', then '.join(in_force)}"
    if not any(p.acts for p in answer.policy):
        return (
            f"{said}. People decided, so their requests are replayed as they were made, {no_band}"
        )
    off = answer.policy_errors
    if off is None:
        return f"{said}. It did not decide by itself where it could be judged, {no_band}"
    return (
        f"{said}. Deciding anew, the same policy is off by {text.share(off.executors)} in "
        f"executors, which is the band around those of other policies, and "
        f"{text.share(off.latency)} in latency."
    )


def rows(answer: WhatIfAnswer) -> list[PolicyRow]:
    """What was measured, the same simulated, and every other policy beside it."""
    target = answer.target_latency_s
    measured = _measured_latency(answer.recorded, target)
    found = [
        PolicyRow(
            label="What was done",
            note="measured",
            simulated=False,
            cells=tuple((words, "") for words in _words(measured)),
        )
    ]
    base = _summary(answer.replayed)
    for one in (answer.replayed, *answer.others):
        values = _summary(one)
        changes = [
            "" if one is answer.replayed else change_words(a, b)
            for a, b in zip(base, values, strict=True)
        ]
        found.append(
            PolicyRow(
                label=one.policy.label[:1].upper() + one.policy.label[1:],
                note=_band(one),
                simulated=True,
                cells=tuple(zip(_words(values), changes, strict=True)),
            )
        )
    return found


def plots(answer: WhatIfAnswer) -> list[dict[str, Any]]:
    """Recorded against simulated, with the error as a band."""
    shown = (answer.replayed, *answer.others)
    x = _thin(answer.recorded.time, np.max)
    first = answer.began_at
    elapsed = [t - first for t in x if t is not None]
    made = []
    for field, title, unit, how, error, step in _PLOTS:
        lines = [
            Line(
                name="measured",
                colour="series-1",
                y=_shown_values(_thin(getattr(answer.recorded, field), how), unit),
                step=step,
            )
        ]
        for i, one in enumerate(shown):
            y = _shown_values(_thin(getattr(one.series, field), how), unit)
            off = getattr(one.band, error) if one.band and error else None
            lines.append(
                Line(
                    name=f"{one.policy.label}, simulated",
                    colour="series-5" if one is answer.replayed else _COLOURS[(i - 1) % 7],
                    y=y,
                    dashed=True,
                    step=step,
                    low=None if off is None else [_times(v, max(0.0, 1 - off)) for v in y],
                    high=None if off is None else [_times(v, 1 + off) for v in y],
                )
            )
        limit = answer.target_latency_s if field == "latency_s" else None
        plot = Plot(
            key=f"what-if/{field}", title=title, unit=unit, x=elapsed, lines=tuple(lines),
            limit=limit, limit_label="target",
        )  # fmt: skip
        made.append(plot_json(plot))
    return made


def _shown_values(values: list[float | None], unit: str) -> list[float | None]:
    """A share as per cent, where that is the unit."""
    return [_times(v, 100.0) for v in values] if unit == "%" else values


_PLOTS: tuple[tuple[str, str, str, Callable[..., Any], str, bool], ...] = (
    ("latency_s", "Latency of the slowest operator", "s", np.max, "latency", False),
    ("executors", "Executors", "", np.max, "executors", True),
    ("queue_rows", "Queue", "rows", np.max, "queue", False),
    ("load", "Load", "%", np.mean, "", False),
)


def _summary(one: Simulated) -> list[float]:
    s = one.summary
    return [
        s.latency_p50_s, s.latency_p95_s, s.latency_p99_s, s.share_over_target,
        s.executors_mean, s.executors_peak, s.executor_hours, s.actions, s.served_share,
    ]  # fmt: skip


def _measured_latency(series: SimulatedSeries, target_latency_s: float) -> list[float | None]:
    latency = np.array([v for v in series.latency_s if v is not None])
    lengths = np.diff(np.array(series.time), prepend=series.time[0])
    executors = np.array(series.executors, dtype=float)
    p = np.percentile(latency, [50, 95, 99]) if latency.size else (None, None, None)
    seconds = max(float(lengths.sum()), 1e-9)
    changes = int((np.diff(executors) != 0).sum())
    return [
        *p, float((latency > target_latency_s).mean()) if latency.size else None,
        float((executors * lengths).sum() / seconds), float(executors.max(initial=0)),
        float((executors * lengths).sum() / 3600), changes, None,
    ]  # fmt: skip


def _words(values: Sequence[float | None]) -> list[str]:
    p50, p95, p99, over, mean, peak, hours, actions, served = values
    return [
        text.seconds(p50), text.seconds(p95), text.seconds(p99), text.share(over),
        text.amount(mean), text.amount(peak), text.amount(hours), text.amount(actions),
        text.share(served),
    ]  # fmt: skip


def _band(one: Simulated) -> str:
    said, band = "simulated", one.band
    if band is None:
        return said
    if band.latency_p95_s is not None:
        low, high = map(text.seconds, band.latency_p95_s)
        said += f"; 95th percentile between {low} and {high}"
    if band.executor_hours is None:
        return f"{said}; executor-hours: no band"
    low, high = map(text.amount, band.executor_hours)
    return f"{said}; executor-hours between {low} and {high}" if low != high else said


def _errors(errors: Errors, policy_errors: Errors | None) -> tuple[tuple[str, str], ...]:
    found = [
        ("Latency", text.share(errors.latency)),
        ("Queue", text.share(errors.queue)),
        ("Executors as asked for then", text.share(errors.executors)),
    ]
    if policy_errors is not None:
        found.append(("Executors, deciding anew", text.share(policy_errors.executors)))
    return tuple(found)


def _thin(values: Sequence[float | None], how: Callable[..., Any]) -> list[float | None]:
    """At most `POINTS` values: the highest (or mean) of each stretch, so that no peak is lost."""
    size = max(1, -(-len(values) // POINTS))
    found: list[float | None] = []
    for start in range(0, len(values), size):
        known = [v for v in values[start : start + size] if v is not None]
        found.append(float(how(known)) if known else None)
    return found


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
