"""The next values of a series: naive, seasonal naive, Holt-Winters and Theta by statsmodels."""

import warnings
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from math import isfinite
from statistics import fmean, linear_regression
from typing import Any

from msgspec import Struct

_LONG, _TAIL = 48, 200  # steps


class Method(StrEnum):
    """How to forecast."""

    AUTO = "auto"  # whichever was least off on the past
    NAIVE = "naive"  # as now
    SEASONAL_NAIVE = "seasonal_naive"  # as one season ago
    HOLT_WINTERS = "holt_winters"  # level, damped trend, and season if there is one
    THETA = "theta"  # smoothed level, half of the trend, and season if there is one


class ForecastFit(Struct, frozen=True):
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


def damped_trend(history: Sequence[float], steps: int, fit: ForecastFit) -> list[float]:
    """The next values by level and damped trend alone, which begin as a line through the
    first ten values; as statsmodels has it, without what it computes besides.

    >>> line = [float(i) for i in range(20)]
    >>> [round(v, 9) for v in damped_trend(line, 3, ForecastFit(level=0.5, trend=0.1, damping=1.0))]
    [20.0, 21.0, 22.0]
    """
    trend, level = linear_regression(range(1, 11), history[:10])
    for value in history:
        before, trend = level, trend * fit.damping
        level = fit.level * value + (1.0 - fit.level) * (before + trend)
        trend = fit.trend * (level - before) + (1.0 - fit.trend) * trend
    grown = accumulate(fit.damping**i for i in range(1, steps + 1))
    return [level + trend * share for share in grown]


def holt_winters(
    history: Sequence[float], steps: int, season: int, fit: ForecastFit | None = None
) -> tuple[list[float], ForecastFit | None]:
    """The next values, never below 0, and the parameters used.

    Without `fit` the parameters are searched (20 to 300 ms), with it they are reused
    (below 1 ms; 10 ms with a season). A constant or very short series, or a search
    that fails, gives the naive forecast and no parameters.

    Reference: Winters, "Forecasting sales by exponentially weighted moving averages",
    Management Science 6 (1960); statsmodels.tsa.holtwinters.

    >>> values, _ = holt_winters([float(i) for i in range(20)], steps=2, season=0)
    >>> 19.5 < values[0] < 20.5 and values[1] > values[0]
    True
    """
    seasonal = 0 < 2 * season <= len(history) and season > 1
    if len(history) < 10 or max(history) - min(history) <= 1e-9 * max(1.0, max(history)):
        return seasonal_naive(history, steps, season), None
    try:
        if fit is not None and not seasonal:
            values = damped_trend(history, steps, fit)
        else:
            values, fit = _by_statsmodels(history, steps, season if seasonal else 0, fit)
    except (ValueError, FloatingPointError, ArithmeticError):
        return seasonal_naive(history, steps, season), None
    figures = (*values, fit.level, fit.trend, fit.damping, fit.seasonal)
    if not all(isfinite(v) for v in figures):
        return seasonal_naive(history, steps, season), None
    return [max(0.0, v) for v in values], fit


def theta(history: Sequence[float], steps: int, season: int) -> list[float]:
    """The next values by the Theta method, never below 0; naive where it cannot be fitted.

    Reference: Assimakopoulos and Nikolopoulos, "The theta model", International Journal of
    Forecasting 16 (2000); statsmodels.tsa.forecasting.theta.

    >>> 19.0 < theta([float(i) for i in range(20)], steps=2, season=0)[0] < 20.5
    True
    """
    seasonal = season > 1 and 2 * season <= len(history)
    if len(history) < 10 or max(history) - min(history) <= 1e-9 * max(1.0, max(history)):
        return seasonal_naive(history, steps, season)
    import numpy as np
    from statsmodels.tsa.forecasting.theta import ThetaModel

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ThetaModel(
                np.asarray(history, dtype=float),
                period=season if seasonal else 1,
                deseasonalize=seasonal,
                use_test=False,
                method="additive",
            )
            values = [float(v) for v in model.fit().forecast(steps)]
    except (ValueError, ArithmeticError):
        return seasonal_naive(history, steps, season)
    if not all(isfinite(v) for v in values):
        return seasonal_naive(history, steps, season)
    return [max(0.0, v) for v in values]


def seasonal_shape(history: Sequence[float], season: int) -> list[float]:
    """What each step of a season lies above or below the mean, on average.

    >>> seasonal_shape([1.0, 3.0, 1.0, 3.0], 2)
    [-1.0, 1.0]
    """
    mean = fmean(history)
    return [fmean(history[i::season]) - mean for i in range(season)]


def forecast(
    method: Method,
    history: Sequence[float],
    steps: int,
    season: int,
    fit: ForecastFit | None = None,
) -> tuple[list[float], ForecastFit | None]:
    """The next values by one method, and the parameters to use again if it has any.

    A long season is taken off first, by its mean shape: to smooth each of its steps by
    itself takes seconds.

    >>> forecast(Method.NAIVE, [1.0, 2.0], steps=2, season=0)
    ([2.0, 2.0], None)
    """
    if method in (Method.HOLT_WINTERS, Method.THETA):
        if season > _LONG and 2 * season <= len(history):
            shape = seasonal_shape(history, season)
            rest = [v - shape[i % season] for i, v in enumerate(history)]
            level = max(0.0, -min(rest[-_TAIL:]))  # both know no values below 0
            lifted = [v + level for v in rest[-_TAIL:]]
            values, fit = forecast(method, lifted, steps, 0, fit)
            n = len(history)
            back = [shape[(n + i) % season] - level for i in range(steps)]
            return [max(0.0, v + b) for v, b in zip(values, back, strict=True)], fit
        history = history[-max(_TAIL, 4 * season) :]
    if method is Method.HOLT_WINTERS:
        return holt_winters(history, steps, season, fit)
    if method is Method.THETA:
        return theta(history, steps, season), None
    return seasonal_naive(history, steps, season if method is Method.SEASONAL_NAIVE else 0), None


def warm_up() -> None:
    """Forecast once, for callers that cannot spare the seconds that the first time takes later on."""
    holt_winters([float(i) for i in range(20)], steps=1, season=0)


def _by_statsmodels(
    history: Sequence[float], steps: int, season: int, fit: ForecastFit | None
) -> tuple[list[float], ForecastFit]:
    # Imported where it is used: it takes seconds, and most scalers do without.
    from statsmodels.tsa.holtwinters import ExponentialSmoothing

    given: dict[str, Any] = {}
    if fit is not None:
        given = {
            "optimized": False,
            "smoothing_level": fit.level,
            "smoothing_trend": fit.trend,
            "damping_trend": fit.damping,
            "smoothing_seasonal": fit.seasonal,
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "did not converge": the result is checked
        result = ExponentialSmoothing(
            list(history),
            trend="add",
            damped_trend=True,
            seasonal="add" if season else None,
            seasonal_periods=season or None,
            initialization_method="heuristic",
        ).fit(**given)
        values = [float(v) for v in result.forecast(steps)]
    p = result.params
    return values, ForecastFit(
        float(p["smoothing_level"]),
        float(p["smoothing_trend"]),
        float(p["damping_trend"]),
        float(p["smoothing_seasonal"]) if season else 0.0,
    )
