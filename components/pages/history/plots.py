"""Plots of the History pages: what they show; `assets/pages/history/plots.js` draws them."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from msgspec import Struct


class Line(Struct, frozen=True, kw_only=True):
    """One line; `low` and `high` are the edges of a band around it."""

    name: str
    colour: str
    y: Sequence[float | None]
    dashed: bool = False
    step: bool = False
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None


class Plot(Struct, frozen=True, kw_only=True):
    """One plot over seconds since the start of a run."""

    key: str
    title: str
    unit: str
    x: Sequence[float]
    lines: tuple[Line, ...]
    limit: float | None = None
    limit_label: str = ""


def plot_json(plot: Plot) -> dict[str, Any]:
    """The plot as the browser takes it."""
    return {
        "key": plot.key,
        "title": plot.title,
        "unit": plot.unit,
        "x": round_values(plot.x),
        "limit": plot.limit,
        "limitLabel": plot.limit_label,
        "lines": [
            {
                "name": line.name,
                "colour": line.colour,
                "dashed": line.dashed,
                "step": line.step,
                "y": round_values(line.y),
                "low": None if line.low is None else round_values(line.low),
                "high": None if line.high is None else round_values(line.high),
            }
            for line in plot.lines
        ],
    }


def round_values(values: Iterable[float | None]) -> list[float | None]:
    """Five digits; what is no number is a gap.

    >>> round_values([1.2345678, None, float("nan")])
    [1.2346, None, None]
    """
    return [
        None if v is None or not isfinite(v) else float(f"{v:.5g}") for v in map(_plain, values)
    ]


def plot_words(plot: dict[str, Any]) -> str:
    """What a plot shows, to somebody who does not see it.

    >>> plot_words({"title": "Load", "unit": "", "lines": [{"name": "wide", "y": [0.5, None, 0.75]}]})
    'Load: wide from 0.5 to 0.75'
    >>> plot_words({"title": "Which matter", "names": ["Most load"], "text": ["60 %"]})
    'Which matter: Most load 60 %'
    """
    unit = f" {plot['unit']}" if plot.get("unit") else ""
    parts = []
    for line in plot.get("lines", ()):
        known = [v for v in line["y"] if v is not None]
        reach = f"from {min(known):g} to {max(known):g}{unit}" if known else "not measured"
        parts.append(f"{line['name']} {reach}")
    for group in plot.get("groups", ()):
        said = group["hover"][0].replace("<br>", ", ") if len(group["x"]) == 1 else len(group["x"])
        parts.append(f"{group['name']}: {said}".replace("<b>", "").replace("</b>", ""))
    parts += [f"{n} {t}" for n, t in zip(plot.get("names", ()), plot.get("text", ()), strict=True)]
    return f"{plot['title']}: {'; '.join(parts)}"


def _plain(value: Any) -> float | None:
    return None if value is None else float(value)
