"""A search of settings as data: points of the trade-off, and which settings matter."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.pages.scale.settings import SHARES
from weir.components.pages.scale.view import title_of
from weir.components.ui import text
from weir.controllers.model.settings import SettingInfo, describe
from weir.controllers.model.words import percent
from weir.controllers.scaling.registry import scaler_type
from weir.controllers.simulator.run import make_scaler
from weir.controllers.simulator.tuning import Candidate, Trial, Tuning
from weir.metrics.runs.tuning import TuneStatus


class FrontRow(Struct, frozen=True, kw_only=True):
    """One point of the front."""

    number: int
    label: str
    recommended: bool
    settings: str
    trained: str
    judged: str
    judged_hours: str
    usable: bool = True


def progress_words(status: TuneStatus) -> str:
    """How far it is, and the best so far."""
    asked = status.request
    said = f"{status.done} of {text.plural(asked.trials, 'trial')} of {title_of(asked.scaler)}"
    if not status.trials:
        return f"{said}; the simulator is calibrated first" if status.state == "running" else said
    best = min(status.trials, key=lambda t: (round(t.share_over_target, 3), t.executor_hours))
    return (
        f"{said}; best so far {percent(best.share_over_target, 1)} of the time over target "
        f"with {best.executor_hours:.2f} executor-hours"
    )


def searched_plot(scaler: str, trials: Sequence[Trial], target_latency_s: float) -> dict[str, Any]:
    """Every trial on the part that is searched."""

    def group(name: str, colour: str, shown: Sequence[Trial], **look: Any) -> dict[str, Any]:
        words = [settings_words(scaler, t.settings, target_latency_s) for t in shown]
        return _group(name, colour, shown, words, **look)

    return _scatter(
        "tune/searched",
        "On the part that was searched",
        [
            group("trials", "series-5", trials, symbol="circle", size=7, opacity=0.55),
            group("front", "series-1", _front(trials), symbol="circle", size=9, line=True),
        ],
    )


def judged_plot(found: Tuning) -> dict[str, Any]:
    """The front, the defaults and every baseline on the part that the search never saw."""
    others = [p for i, p in enumerate(found.front) if i != found.chosen]
    recommended = [] if found.chosen is None else [found.best]
    return _scatter(
        "tune/judged",
        "On the part that the search never saw",
        [
            _points("front of the search", "series-1", others, symbol="circle", size=9),
            _points("recommended", "series-2", recommended, symbol="star", size=17),
            _points("its defaults", "series-3", [found.default], symbol="diamond", size=14),
            _points("baselines", "series-6", found.baselines, symbol="square", size=9, labels=True),
        ],
    )


def importance_plot(found: Tuning) -> dict[str, Any] | None:
    """How much each setting matters, over both objectives."""
    if not found.importance:
        return None
    rows = found.importance[:10]
    values = [(r.over_target + r.executor_hours) / 2 for r in rows]
    return {
        "kind": "bars",
        "key": "tune/importance",
        "title": "Which settings matter",
        "unit": "",
        "names": [_infos(found.scaler)[r.key].label for r in rows],
        "values": [round(v, 4) for v in values],
        "text": [f"{percent(v)}" for v in values],
    }


def front_rows(found: Tuning) -> list[FrontRow]:
    """The front, then the defaults and the baselines to hold it against."""
    target_s = found.target_latency_s
    front = [
        FrontRow(number=i, recommended=i == found.chosen, **_fields(p, target_s))
        for i, p in enumerate(found.front)
    ]
    rest = [
        FrontRow(
            number=-1,
            recommended=found.chosen is None and p is found.default,
            usable=False,
            **_fields(p, target_s),
        )
        for p in (found.default, *found.baselines)
    ]
    return [*front, *rest]


def settings_words(scaler: str, settings: dict[str, Any], target_latency_s: float) -> str:
    """What differs from the scaler's defaults, by the names that the forms use.

    >>> settings_words("thresholds", {"upper": 0.91234, "figure": "load"}, 30.0)
    'Upper 0.912'
    >>> settings_words("thresholds", {"upper": 0.8}, 30.0)
    'as the defaults'
    """
    usual = make_scaler(scaler, {}, "", target_latency_s=target_latency_s).settings
    infos = _infos(scaler)
    said = [
        f"{infos[key].label} {_with_unit(value, infos[key].unit)}"
        for key, value in settings.items()
        if _value(value) != _value(msgspec.to_builtins(getattr(usual, key)))
    ]
    return ", ".join(said) or "as the defaults"


def _infos(scaler: str) -> dict[str, SettingInfo]:
    return {info.key: info for info in describe(scaler_type(scaler).settings_type)}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.3g}" if isinstance(value, float | int) else str(value)


def _with_unit(value: Any, unit: str) -> str:
    """A value as forms show it; a unit that depends on another setting is none to print.

    >>> _with_unit(30.0, "s"), _with_unit(0.7, "load or s"), _with_unit(0.9123, "share")
    ('30 s', '0.7', '91.2 %')
    """
    if unit in SHARES and isinstance(value, float | int):
        return f"{_value(100.0 * value)} %"
    return f"{_value(value)} {unit}" if unit and " or " not in unit else _value(value)


def _label(point: Candidate) -> str:
    """A baseline is named as on the other pages."""
    return title_of(point.label) if point.label == point.scaler else point.label.capitalize()


def _fields(point: Candidate, target_latency_s: float) -> dict[str, Any]:
    trained, judged = point.trained, point.judged
    return {
        "label": _label(point),
        "settings": settings_words(point.scaler, point.settings, target_latency_s),
        "trained": text.NOTHING
        if trained is None
        else f"{percent(trained.share_over_target, 1)}, {trained.executor_hours:.2f} h",
        "judged": text.NOTHING if judged is None else f"{percent(judged.share_over_target, 1)}",
        "judged_hours": text.NOTHING if judged is None else f"{judged.executor_hours:.2f}",
    }


def _front(trials: Sequence[Trial]) -> list[Trial]:
    best: list[Trial] = []
    for trial in sorted(trials, key=lambda t: (t.executor_hours, t.share_over_target)):
        if not best or trial.share_over_target < best[-1].share_over_target:
            best.append(trial)
    return best


def _scatter(key: str, title: str, groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": "scatter",
        "key": key,
        "title": f"{title}, simulated",
        "unit": "",
        "xTitle": "executor-hours, fewer is better",
        "yTitle": "time over target, less is better",
        "ySuffix": " %",
        "groups": [g for g in groups if g["x"]],
    }


def _group(
    name: str, colour: str, trials: Sequence[Trial], settings: Sequence[str], **look: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "colour": colour,
        "x": [round(t.executor_hours, 4) for t in trials],
        "y": [round(t.share_over_target * 100, 3) for t in trials],
        "text": [],
        "hover": [
            f"trial {t.number}: {percent(t.share_over_target, 1)} over target, {t.executor_hours:.2f} h<br>"
            + words.replace(", ", "<br>")
            for t, words in zip(trials, settings, strict=True)
        ],
        **look,
    }


def _labels(points: Sequence[Candidate], near: float = 0.07) -> list[str]:
    """Names of points that stand alone; of those close together the first has its name."""
    hours = max((p.objectives[1] for p in points), default=1.0) or 1.0
    over = max((p.objectives[0] for p in points), default=1.0) or 1.0
    named: list[tuple[float, float]] = []
    found = []
    for point in points:
        x, y = point.objectives[1] / hours, point.objectives[0] / over
        free = all(abs(x - a) > near * 2 or abs(y - b) > near for a, b in named)
        found.append(_label(point) if free else "")
        named += [(x, y)] if free else []
    return found


def _points(name: str, colour: str, points: Sequence[Candidate], **look: Any) -> dict[str, Any]:
    known = [p for p in points if p.judged is not None]
    return {
        "name": name,
        "colour": colour,
        "x": [round(p.objectives[1], 4) for p in known],
        "y": [round(p.objectives[0] * 100, 3) for p in known],
        "text": _labels(known),
        "hover": [
            f"<b>{_label(p)}</b><br>{percent(p.objectives[0], 1)} over target, {p.objectives[1]:.2f} h"
            for p in known
        ],
        **look,
    }
