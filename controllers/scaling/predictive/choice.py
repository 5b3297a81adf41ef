"""Which method to forecast by, found on the series' own past: its season, its errors, its band."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from msgspec import Struct

from weir.controllers.scaling.predictive.forecast import ForecastFit, Method, forecast

ORIGINS = 8
"""Moments of the past from which every method forecasts what is known by now."""
BAND = (0.1, 0.9)
"""Quantiles of what came over what was forecast."""
_SEASONAL = 0.4  # autocorrelation from which on a season is one
_CLEARLY = 0.95  # another method is taken where its error is less than this share of naive's


class Chosen(Struct, frozen=True):
    """What a look at the past says about how to look ahead."""

    method: Method
    season: int  # steps; 0: none
    error: float  # mean, as a share of what came
    low: float  # what came over what was forecast: lower and upper quantile
    high: float
    errors: dict[str, float] = {}  # of every method that was tried
    fit: ForecastFit | None = None


def season_of(values: Sequence[float]) -> int:
    """The length after which a series repeats itself best, in steps; 0 where it does not.

    >>> from math import sin, pi
    >>> season_of([10 + sin(2 * pi * i / 24) for i in range(100)]), season_of([1.0] * 100)
    (24, 0)
    """
    n = len(values)
    if n < 12:
        return 0
    line = np.polyfit(np.arange(n), values, 1)
    rest = np.asarray(values, dtype=float) - np.polyval(line, np.arange(n))
    scale = float((rest**2).mean())
    if scale <= 1e-12 * max(1.0, float(np.mean(values)) ** 2):
        return 0
    turned = np.fft.rfft(rest, 2 * n)
    likeness = np.fft.irfft(np.abs(turned) ** 2)[: n // 2 + 1]
    likeness /= scale * (n - np.arange(len(likeness)))  # of fewer pairs the longer the lag
    below = np.flatnonzero(likeness < 0.0)
    if not below.size:  # it never turns: a trend, no season
        return 0
    first = int(below[0])
    lag = first + int(np.argmax(likeness[first:]))
    inside = 4 <= lag < len(likeness) - 1 or lag == n // 2
    return lag if inside and likeness[lag] >= _SEASONAL else 0


def choose_method(
    values: Sequence[float], steps: int, asked: Method = Method.AUTO, season: int = 0
) -> Chosen:
    """The method that was least off on this past, or how far the asked one was off.

    Every method forecasts from the same moments what came after them. Naive goes first among
    nearly equals: it takes nothing to be right.

    >>> choose_method([5.0, 9.0, 1.0, 4.0] * 12, steps=2).method.value
    'seasonal_naive'
    """
    season = season or season_of(values)
    methods = [m for m in Method if m is not Method.AUTO] if asked is Method.AUTO else [asked]
    if not season:
        methods = [m for m in methods if m is not Method.SEASONAL_NAIVE] or methods
    origins = _origins(len(values), steps, season)
    if not origins:  # nothing to compare by yet
        first = Method.HOLT_WINTERS if asked is Method.AUTO else asked
        return Chosen(first, season, 0.0, 1.0, 1.0)
    found = {m: _try_method(m, values, steps, season, origins) for m in methods}
    errors = {m.value: round(error, 4) for m, (error, _, _) in found.items()}
    best = methods[0]
    for method in methods[1:]:
        if found[method][0] < _CLEARLY * found[best][0]:
            best = method
    error, ratios, fit = found[best]
    low, high = np.quantile(ratios, BAND)
    return Chosen(best, season, error, float(low), float(high), errors, fit)


def _origins(count: int, steps: int, season: int) -> list[int]:
    """Moments of the newest part, spread over a season where there is one."""
    newest = count - steps
    oldest = max(10, 2 * season if 3 * season <= count else season, newest - max(season, 48))
    if newest <= oldest:
        return [newest] if newest >= 10 else []
    return sorted({int(i) for i in np.linspace(oldest, newest, ORIGINS)})


def _try_method(
    method: Method, values: Sequence[float], steps: int, season: int, origins: Sequence[int]
) -> tuple[float, list[float], ForecastFit | None]:
    """Mean error of a method, what came over what it said, and its parameters."""
    fit: ForecastFit | None = None
    errors, ratios = [], []
    for origin in origins:
        said, fit = forecast(method, values[:origin], steps, season, fit)
        came = values[origin : origin + steps]
        errors.append(fmean(abs(a - b) for a, b in zip(said, came, strict=True)) / _size(came))
        ratios.append(max(came) / _size(said) if max(said) > 0 else 1.0)
    return fmean(errors), ratios, fit


def _size(values: Sequence[float]) -> float:
    return max(max(values), 1e-9)
