"""Rates that change over time."""

import pytest

from weir.controllers.model.profile import (
    KINDS,
    Profile,
    most_rows_per_s,
    profile_rate,
    profile_words,
)

TIMES = [0.1 * i for i in range(3000)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_profile_goes_below_nothing_or_above_what_it_says(kind: str) -> None:
    profile = Profile(kind=kind, to_rows_per_s=300, over_s=60, lasts_s=10, points=(0.5, 1.5))
    rates = [profile_rate(100, profile, s) for s in TIMES]
    assert min(rates) >= 0
    assert max(rates) == pytest.approx(most_rows_per_s(100, profile), rel=1e-3)
    assert bool(profile_words(profile)) == (kind != "constant")


def test_each_has_its_shape() -> None:
    def at(kind: str, *times: float) -> list[float]:
        profile = Profile(kind=kind, to_rows_per_s=300, over_s=60, lasts_s=10)
        return [round(profile_rate(100, profile, s), 6) for s in times]

    assert at("constant", 0, 99) == [100, 100]
    assert at("ramp", 0, 30, 60, 600) == [100, 200, 300, 300]
    assert at("step", 0, 59, 60, 600) == [100, 100, 300, 300]
    assert at("burst", 0, 49, 50, 59, 60, 110) == [100, 100, 300, 300, 100, 300]
    assert at("daily", 0, 15, 30, 60, 90) == [100, 200, 300, 100, 300]


def test_bursts_and_days_come_again() -> None:
    for kind in ("burst", "daily"):
        profile = Profile(kind=kind, to_rows_per_s=300, over_s=60, lasts_s=10)
        for s in TIMES:
            assert profile_rate(9, profile, s) == pytest.approx(
                profile_rate(9, profile, s + 60), abs=1e-6
            )
