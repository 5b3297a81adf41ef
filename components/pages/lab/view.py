"""Experiments as data: how far one is, and its charts as the browser takes them."""

from collections.abc import Sequence
from typing import Any

from weir.components.pages.history.plots import round_values
from weir.components.ui import text
from weir.controllers.model.words import percent
from weir.metrics.lab.lab import ExperimentStatus
from weir.metrics.lab.outcome import ResultChart

PALETTE = tuple(f"series-{k}" for k in (1, 3, 2, 4, 6, 7, 8))
PUBLISHED = "series-5"


def progress_words(status: ExperimentStatus) -> str:
    """How far it is, what it does, and how long it still takes.

    >>> progress_words(ExperimentStatus(name="a", quick=True, at=0.0, share=0.25, left_s=40.0, doing="12 processors"))
    '25 %, about 40 s left: 12 processors'
    """
    left = "" if status.left_s is None else f", about {text.seconds(max(1.0, status.left_s))} left"
    doing = f": {status.doing}" if status.doing else ""
    return f"{percent(status.share)}{left}{doing}"


def plots(name: str, charts: Sequence[ResultChart]) -> list[dict[str, Any]]:
    """Every chart for `assets/pages/history/plots.js`."""
    return [_plot(f"lab/{name}/{k}", chart) for k, chart in enumerate(charts)]


def _plot(key: str, chart: ResultChart) -> dict[str, Any]:
    own = iter(PALETTE * (1 + len(chart.series) // len(PALETTE)))
    return {
        "kind": "figure",
        "key": key,
        "title": chart.title,
        "unit": "",
        "xTitle": chart.x_title,
        "yTitle": chart.y_title,
        "bars": chart.bars,
        "x": list(chart.x),
        "lines": [
            {
                "name": line.name,
                "colour": PUBLISHED if line.published else next(own),
                "dashed": line.published,
                "y": round_values(line.y),
            }
            for line in chart.series
        ],
    }
