"""The last k periods of one figure, with the statistics that planners need."""

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class LoadSeries(Struct, frozen=True):
    """Values of the last k periods, oldest first.

    >>> LoadSeries((1.0, 2.0, 3.0)).correlation(LoadSeries((2.0, 4.0, 6.0)))
    1.0
    >>> LoadSeries((1.0, 2.0)).correlation(LoadSeries((5.0, 5.0)))  # constant: none
    0.0
    """

    values: tuple[float, ...] = ()

    @property
    def mean(self) -> float:
        """Mean of the series; 0 for an empty one."""
        return float(np.mean(self.values)) if self.values else 0.0

    @property
    def variance(self) -> float:
        """Population variance; 0 for an empty series."""
        return float(np.var(self.values)) if self.values else 0.0

    def covariance(self, other: "LoadSeries") -> float:
        """Population covariance over the periods that both have, newest aligned."""
        a, b = _aligned(self, other)
        return float(np.mean((a - a.mean()) * (b - b.mean()))) if a.size else 0.0

    def correlation(self, other: "LoadSeries") -> float:
        """Pearson's rho in [-1, 1]; 0 where one of the two does not vary."""
        return float(correlation_matrix([self, other])[0, 1])

    def __add__(self, other: "LoadSeries") -> "LoadSeries":
        return _combined(self, other, 1.0)

    def __sub__(self, other: "LoadSeries") -> "LoadSeries":
        return _combined(self, other, -1.0)

    def scaled(self, factor: float) -> "LoadSeries":
        """Every value times `factor`."""
        return LoadSeries(tuple(v * factor for v in self.values))

    def appended(self, value: float, limit: int) -> "LoadSeries":
        """With one value more, keeping the newest `limit`."""
        return LoadSeries((*self.values, value)[-limit:])

    @classmethod
    def total(cls, series: Iterable["LoadSeries"]) -> "LoadSeries":
        """Sum of several series, newest aligned; shorter ones count as 0 before they begin."""
        rows = [s.values for s in series]
        length = max((len(r) for r in rows), default=0)
        return cls(
            tuple(float(v) for v in sum((_padded(r, length) for r in rows), np.zeros(length)))
        )


def correlation_matrix(series: Sequence[LoadSeries]) -> NDArray[np.float64]:
    """Pearson's rho of every pair; 1 on the diagonal, 0 where a series is constant or empty.

    Series of different length are compared over the periods that all of them have.
    """
    count = len(series)
    length = min((len(s.values) for s in series), default=0)
    matrix = np.eye(count)
    if length < 2:
        return matrix
    data = np.array([s.values[-length:] for s in series], dtype=np.float64)
    data -= data.mean(axis=1, keepdims=True)
    scale = np.abs(data).max(axis=1, initial=0.0)
    norm = np.sqrt((data**2).sum(axis=1))
    varies = np.isfinite(norm) & (norm > 1e-12 * np.maximum(1.0, scale))
    data = np.where(varies[:, None], data / np.where(varies, norm, 1.0)[:, None], 0.0)
    matrix = np.clip(data @ data.T, -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return np.round(matrix, 12)


def _aligned(a: LoadSeries, b: LoadSeries) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    length = min(len(a.values), len(b.values))
    if not length:
        return np.empty(0), np.empty(0)
    return np.array(a.values[-length:]), np.array(b.values[-length:])


def _combined(a: LoadSeries, b: LoadSeries, sign: float) -> LoadSeries:
    length = max(len(a.values), len(b.values))
    return LoadSeries(
        tuple(float(v) for v in _padded(a.values, length) + sign * _padded(b.values, length))
    )


def _padded(values: Sequence[float], length: int) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(length - len(values)), np.asarray(values, dtype=np.float64)])
