"""The next values of a series: seasonal naive, or Holt-Winters by statsmodels."""

import warnings
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite

from msgspec import Struct


class Method(StrEnum):
    """How to forecast."""

    SEASONAL_NAIVE = "seasonal_naive"  # as one season ago
    HOLT_WINTERS = "holt_winters"  # level, damped trend, and season if one is set


class Fit(Struct, frozen=True):
    """Smoothing parameters that were found, to be used again until the next search."""

    level: float
    trend: float
    damping: float
    seasonal: float = 0.0


def seasonal_naive(history: Sequence[float], steps: int, season: int) -> list[float]:
    """Each value as one season before it; without a whole season, the last value.

    >>> seasonal_naive([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], steps=4, season=3)
    [1.0, 2.0, 3.0, 1.0]
    """
    if not history:
        return [0.0] * steps
    if not 0 < season <= len(history):
        return [history[-1]] * steps
    return [history[len(history) - season + i % season] for i in range(steps)]


def holt_winters(
    history: Sequence[float], steps: int, season: int, fit: Fit | None = None
) -> tuple[list[float], Fit | None]:
    """The next values, never below 0, and the parameters used.

    Without `fit` the parameters are searched (30 to 300 ms), with it they are reused
    (10 ms). A constant or very short series, or a search that fails, gives the
    naive forecast and no parameters.

    Reference: Winters, "Forecasting sales by exponentially weighted moving averages",
    Management Science 6 (1960); statsmodels.tsa.holtwinters.

    >>> values, _ = holt_winters([float(i) for i in range(20)], steps=2, season=0)
    >>> 19.5 < values[0] < 20.5 and values[1] > values[0]
    True
    """
    seasonal = 0 < 2 * season <= len(history) and season > 1
    if len(history) < 10 or max(history) - min(history) <= 1e-9 * max(1.0, max(history)):
        return seasonal_naive(history, steps, season), None
    # Imported where it is used: it takes seconds, and most scalers do without.
    from statsmodels.tsa.holtwinters import ExponentialSmoothing

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "did not converge": the result is checked below
        model = ExponentialSmoothing(
            list(history),
            trend="add",
            damped_trend=True,
            seasonal="add" if seasonal else None,
            seasonal_periods=season if seasonal else None,
            initialization_method="heuristic" if len(history) >= 10 else "simple",
        )
        try:
            result = (
                model.fit()
                if fit is None
                else model.fit(
                    optimized=False,
                    smoothing_level=fit.level,
                    smoothing_trend=fit.trend,
                    damping_trend=fit.damping,
                    **({"smoothing_seasonal": fit.seasonal} if seasonal else {}),
                )
            )
            values = [float(v) for v in result.forecast(steps)]
        except (ValueError, FloatingPointError, ArithmeticError):
            return seasonal_naive(history, steps, season), None
    p = result.params
    found = Fit(
        float(p["smoothing_level"]),
        float(p["smoothing_trend"]),
        float(p["damping_trend"]),
        float(p["smoothing_seasonal"]) if seasonal else 0.0,
    )
    usable = all(isfinite(v) for v in (found.level, found.trend, found.damping, found.seasonal))
    if not all(isfinite(v) for v in values) or not usable:
        return seasonal_naive(history, steps, season), None
    return [max(0.0, v) for v in values], found
