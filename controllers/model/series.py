"""The last k periods of one figure, with the statistics that planners need."""

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

FEWEST = 3
"""Periods that two series must share for a correlation: on fewer it is not known."""


class LoadSeries(Struct, frozen=True):
    """Values of the last k periods, oldest first.

    >>> LoadSeries((1.0, 2.0, 3.0)).correlation(LoadSeries((2.0, 4.0, 6.0)))
    1.0
    >>> LoadSeries((1.0, 2.0, 3.0)).correlation(LoadSeries((5.0, 5.0, 5.0)))  # constant: none
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

    def correlation(self, other: "LoadSeries") -> float | None:
        """Pearson's rho in [-1, 1] over the periods that both have.

        0 where one of the two does not vary; None where they share too few periods to say.
        """
        rho = float(correlation_matrix([self, other])[0, 1])
        return None if np.isnan(rho) else rho

    def __add__(self, other: "LoadSeries") -> "LoadSeries":
        a, b = _align(self, other)
        return LoadSeries(tuple((a + b).tolist()))

    def __sub__(self, other: "LoadSeries") -> "LoadSeries":
        a, b = _align(self, other)
        return LoadSeries(tuple((a - b).tolist()))

    def scaled(self, factor: float) -> "LoadSeries":
        """Every value times `factor`."""
        return LoadSeries(tuple(v * factor for v in self.values))

    def appended(self, value: float, limit: int) -> "LoadSeries":
        """With one value more, keeping the newest `limit`."""
        return LoadSeries((*self.values, value)[-limit:])

    @classmethod
    def total(cls, series: Iterable["LoadSeries"]) -> "LoadSeries":
        """Sum of several series over the periods that all of them have.

        Those that have hardly begun do not count: they would leave nothing to compare.
        """
        rows = [s.values for s in series if s.values]
        rows = [r for r in rows if len(r) >= FEWEST] or rows
        length = min((len(r) for r in rows), default=0)
        newest = [np.asarray(r[len(r) - length :], dtype=np.float64) for r in rows]
        return cls(tuple(sum(newest, np.zeros(length)).tolist()))


def correlation_matrix(series: Sequence[LoadSeries]) -> NDArray[np.float64]:
    """Pearson's rho of every pair; 1 on the diagonal, 0 where one of the two is constant.

    Each pair is compared over the periods that both have, newest aligned: one that began
    late blanks no other pair. NaN, for not known, on fewer than `FEWEST` of them.
    """
    lengths = np.array([len(s.values) for s in series], dtype=int)
    shared = np.minimum.outer(lengths, lengths)
    matrix = np.full(shared.shape, np.nan)
    for length in sorted({n for n in lengths.tolist() if n >= FEWEST}):
        long = np.flatnonzero(lengths >= length)
        at = np.ix_(long, long)
        newest = np.array([series[k].values[-length:] for k in long.tolist()], dtype=np.float64)
        matrix[at] = np.where(shared[at] == length, _correlations(newest), matrix[at])
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _correlations(data: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's rho of every pair of rows of the same length."""
    size = np.abs(data).max(axis=1, initial=0.0)
    data = data - data.mean(axis=1, keepdims=True)
    norm = np.sqrt((data**2).sum(axis=1))
    varies = np.isfinite(norm) & (norm > 1e-12 * np.maximum(size, 1e-300) * data.shape[1])
    data = np.where(varies[:, None], data / np.where(varies, norm, 1.0)[:, None], 0.0)
    return np.asarray(np.round(np.clip(data @ data.T, -1.0, 1.0), 12), dtype=np.float64)


def _align(a: LoadSeries, b: LoadSeries) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both over the periods that both have, newest last."""
    length = min(len(a.values), len(b.values))
    return np.array(a.values[len(a.values) - length :]), np.array(
        b.values[len(b.values) - length :]
    )
