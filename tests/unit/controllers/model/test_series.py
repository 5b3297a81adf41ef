"""Load series: population statistics, and no NaN whatever comes in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from weir.controllers.model.series import FEWEST, LoadSeries, correlation_matrix

values = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=12)


def test_statistics_are_those_of_the_population() -> None:
    series = LoadSeries((1.0, 2.0, 6.0))
    assert series.mean == 3.0
    assert series.variance == pytest.approx(14 / 3)


def test_correlation_agrees_with_numpy() -> None:
    a, b = (1.0, 5.0, 2.0, 8.0), (2.0, 1.0, 7.0, 3.0)
    assert LoadSeries(a).correlation(LoadSeries(b)) == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_series_are_aligned_at_their_newest_value() -> None:
    assert (LoadSeries((1.0, 2.0, 3.0)) + LoadSeries((10.0,))).values == (13.0,)
    assert (LoadSeries((1.0, 2.0, 3.0)) - LoadSeries((1.0, 1.0))).values == (1.0, 2.0)
    assert LoadSeries.total([]).values == ()
    assert LoadSeries.total([LoadSeries((1.0, 2.0)), LoadSeries()]).values == (1.0, 2.0)


def test_series_of_different_length_are_compared_over_the_periods_that_both_have() -> None:
    wave = tuple(float(k % 5) for k in range(30))
    assert LoadSeries(wave).correlation(LoadSeries((0.4,) * 8)) == 0.0  # 0.77 if padded with zeros
    same = LoadSeries(wave).correlation(LoadSeries(wave[-8:]))
    assert same == pytest.approx(1.0)


@given(st.lists(values, max_size=5))
@settings(max_examples=examples(60))
def test_a_correlation_matrix_is_always_symmetric_and_in_range(
    rows: list[list[float]],
) -> None:
    matrix = correlation_matrix([LoadSeries(tuple(r)) for r in rows])
    long = np.array([len(r) >= FEWEST for r in rows], dtype=bool)
    known = np.logical_and.outer(long, long) | np.eye(len(rows), dtype=bool)
    assert (np.isfinite(matrix) == known).all()
    assert (np.abs(matrix[known]) <= 1.0).all()
    assert ((matrix == matrix.T) | ~known).all()
    assert (np.diag(matrix) == 1.0).all()


@pytest.mark.parametrize(
    ("other", "rho"), [((), None), ((4.0,), None), ((4.0, 5.0), None), ((4.0, 4.0, 4.0), 0.0)]
)
def test_a_constant_series_correlates_with_nothing_and_a_short_one_is_unknown(
    other: tuple[float, ...], rho: float | None
) -> None:
    assert LoadSeries((1.0, 2.0, 3.0)).correlation(LoadSeries(other)) == rho
