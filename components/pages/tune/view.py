"""A search of settings as data: points of the trade-off, and which settings matter."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from weir.components.pages.scale.view import title_of
from weir.components.ui import text
from weir.controllers.model.words import percent
from weir.controllers.simulator.tuning import Point, Trial, Tuning
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
        return f"{said}; the simulator is calibrated first"
    best = min(status.trials, key=lambda t: (round(t.share_over_target, 3), t.executor_hours))
    return (
        f"{said}; best so far {percent(best.share_over_target, 1)} of the time over target "
        f"with {best.executor_hours:.2f} executor-hours"
    )


def searched_plot(trials: Sequence[Trial], front: Sequence[Trial] = ()) -> dict[str, Any]:
    """Every trial on the part that is searched."""
    best = list(front) or _front(trials)
    return _scatter(
        "tune/searched",
        "On the part that was searched",
        [
            _group("trials", "series-5", trials, symbol="circle", size=7, opacity=0.55),
            {**_group("front", "series-1", best, symbol="circle", size=9), "line": True},
        ],
    )


def judged_plot(found: Tuning) -> dict[str, Any]:
    """The front, the defaults and every baseline on the part that the search never saw."""
    others = [p for i, p in enumerate(found.front) if i != found.chosen]
    return _scatter(
        "tune/judged",
        "On the part that the search never saw",
        [
            _points("front of the search", "series-1", others, symbol="circle", size=9),
            _points("recommended", "series-2", [found.best], symbol="star", size=17),
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
        "names": [r.key.replace("_", " ") for r in rows],
        "values": [round(v, 4) for v in values],
        "text": [f"{percent(v)}" for v in values],
    }


def front_rows(found: Tuning) -> list[FrontRow]:
    """The front, then the defaults and the baselines to hold it against."""
    rows = [_row(i, p, i == found.chosen) for i, p in enumerate(found.front)]
    rest = [found.default, *found.baselines]
    return [*rows, *(FrontRow(**{**_fields(-1, p), "usable": False}) for p in rest)]


def settings_words(settings: dict[str, Any]) -> str:
    """Settings in one line.

    >>> settings_words({"max_load": 0.81234, "figure": "load"})
    'max load 0.812, figure load'
    """
    if not settings:
        return "defaults"
    return ", ".join(
        f"{k.replace('_', ' ')} {v:.3g}" if isinstance(v, float) else f"{k.replace('_', ' ')} {v}"
        for k, v in settings.items()
    )


def _row(number: int, point: Point, recommended: bool) -> FrontRow:
    return FrontRow(**{**_fields(number, point), "recommended": recommended})


def _fields(number: int, point: Point) -> dict[str, Any]:
    trained, judged = point.trained, point.judged
    return {
        "number": number,
        "label": point.label,
        "recommended": False,
        "settings": settings_words(point.settings),
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


def _group(name: str, colour: str, trials: Sequence[Trial], **look: Any) -> dict[str, Any]:
    return {
        "name": name,
        "colour": colour,
        "x": [round(t.executor_hours, 4) for t in trials],
        "y": [round(t.share_over_target * 100, 3) for t in trials],
        "text": [],
        "hover": [
            f"trial {t.number}: {percent(t.share_over_target, 1)} over target, {t.executor_hours:.2f} h<br>"
            + settings_words(t.settings).replace(", ", "<br>")
            for t in trials
        ],
        **look,
    }


def _labels(points: Sequence[Point], near: float = 0.07) -> list[str]:
    """Names of points that stand alone; of those close together the first has its name."""
    hours = max((p.objectives[1] for p in points), default=1.0) or 1.0
    over = max((p.objectives[0] for p in points), default=1.0) or 1.0
    named: list[tuple[float, float]] = []
    found = []
    for point in points:
        x, y = point.objectives[1] / hours, point.objectives[0] / over
        free = all(abs(x - a) > near * 2 or abs(y - b) > near for a, b in named)
        found.append(point.label if free else "")
        named += [(x, y)] if free else []
    return found


def _points(name: str, colour: str, points: Sequence[Point], **look: Any) -> dict[str, Any]:
    known = [p for p in points if p.judged is not None]
    return {
        "name": name,
        "colour": colour,
        "x": [round(p.objectives[1], 4) for p in known],
        "y": [round(p.objectives[0] * 100, 3) for p in known],
        "text": _labels(known),
        "hover": [
            f"<b>{p.label}</b><br>{percent(p.objectives[0], 1)} over target, {p.objectives[1]:.2f} h"
            for p in known
        ],
        **look,
    }
