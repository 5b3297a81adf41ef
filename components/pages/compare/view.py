"""Two runs side by side: figures, and series laid over each other from their starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from weir.components.pages.history.plots import Line, Plot, plot_json
from weir.components.ui import text
from weir.metrics.runs.figures import RunFigures, RunSeries, run_figures, run_series
from weir.metrics.runs.library import RunInfo
from weir.metrics.runs.replay import RecordedRun

_FIGURES: tuple[tuple[str, str, Callable[[Any], str], bool | None], ...] = (
    ("Duration", "duration_s", text.seconds, None),
    ("Rows that arrived", "rows", text.rows, None),
    ("Mean rate", "rows_per_s", text.rate, None),
    ("Latency, median", "latency_p50_s", text.seconds, False),
    ("Latency, 95th percentile", "latency_p95_s", text.seconds, False),
    ("Latency, 99th percentile", "latency_p99_s", text.seconds, False),
    ("Time over target", "share_over_target", text.share, False),
    ("Executors, mean", "executors_mean", text.amount, False),
    ("Executors, peak", "executors_peak", text.amount, False),
    ("Executor-hours", "executor_hours", text.amount, False),
    ("Failed tasks", "failed_tasks", text.amount, False),
    ("Actions", "actions", text.amount, None),
)  # label, field, words, whether more is better (None: neither)

_SERIES = (
    ("arrival_rows_per_s", "Arriving", "rows/s"),
    ("latency_s", "Latency of the slowest operator", "s"),
    ("queue_rows", "Queue", "rows"),
    ("executors", "Executors", ""),
    ("load", "Load", "%"),
    ("processed_rows_per_s", "Processed", "rows/s"),
)


class Compared(Struct, frozen=True, kw_only=True):
    """One figure of both."""

    label: str
    a: str
    b: str
    change: str
    state: str  # ok: b is better


class Comparison(Struct, frozen=True, kw_only=True):
    """Everything that the page shows."""

    a: RunInfo
    b: RunInfo
    rows: tuple[Compared, ...]
    plots: list[dict[str, Any]]


def comparison(a: RecordedRun, b: RecordedRun, target_latency_s: float) -> Comparison:
    """Both runs over all their clusters."""
    figures = run_figures(a, target_latency_s), run_figures(b, target_latency_s)
    series = run_series(a), run_series(b)
    return Comparison(
        a=a.info,
        b=b.info,
        rows=tuple(
            _row(*figures, label, field, words, more) for label, field, words, more in _FIGURES
        ),
        plots=[plot_json(_plot(*series, *which, target_latency_s)) for which in _SERIES],
    )


def change_words(a: float | None, b: float | None) -> str:
    """How the second differs from the first.

    >>> change_words(2.0, 3.0), change_words(2.0, 1.0), change_words(0.0, 1.0), change_words(1, 1)
    ('+50 %', '−50 %', '', 'same')
    """
    if a is None or b is None:
        return ""
    if a == b:
        return "same"
    if not a:
        return ""
    share = (b - a) / abs(a) * 100
    if abs(share) < 0.5:
        return "same"
    return f"{'+' if share > 0 else '−'}{abs(share):,.0f} %"


def _row(
    a: RunFigures, b: RunFigures, label: str, field: str, words: Any, more: bool | None
) -> Compared:
    x, y = getattr(a, field), getattr(b, field)
    state = ""
    if more is not None and x is not None and y is not None and x != y:
        state = "ok" if (y > x) == more else "warn"
    return Compared(label=label, a=words(x), b=words(y), change=change_words(x, y), state=state)


def _plot(
    a: RunSeries, b: RunSeries, field: str, title: str, unit: str, target_latency_s: float
) -> Plot:
    def shown_values(values: np.ndarray) -> np.ndarray:
        return 100.0 * values if unit == "%" else values

    longer, shorter = (a, b) if len(a.elapsed_s) >= len(b.elapsed_s) else (b, a)
    x = np.union1d(longer.elapsed_s, shorter.elapsed_s)
    return Plot(
        key=f"compare/{field}",
        title=title,
        unit=unit,
        x=x.tolist(),
        lines=tuple(
            Line(
                name=name,
                colour=colour,
                y=_on(x, s, shown_values(getattr(s, field))),
                dashed=name == "second",
            )
            for s, name, colour in ((a, "first", "series-1"), (b, "second", "series-3"))
        ),
        limit=target_latency_s if field == "latency_s" else None,
        limit_label="target",
    )


def _on(x: np.ndarray, series: RunSeries, values: np.ndarray) -> list[float | None]:
    """Values on the common times; beyond a run's end there is nothing."""
    at = np.searchsorted(series.elapsed_s, x, side="left")
    inside = at < len(values)
    found = np.where(inside, values[np.minimum(at, len(values) - 1)], np.nan)
    return [None if np.isnan(v) else float(v) for v in found]
