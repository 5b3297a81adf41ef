"""Smart plugs: who reports, and what is predicted of it."""

from collections import Counter

import numpy as np

from weir.pipeline.workloads.plugs import ALL, readings
from weir.pipeline.workloads.smart_plugs import WINDOW, expected, predicted_mw


def test_a_higher_skew_lets_fewer_plugs_report() -> None:
    def plugs(skew: float) -> Counter[str]:
        rows = readings(0, 5000, skew).to_pylist()
        return Counter(",".join(row.split(",")[1:4]) for row in rows)

    even, skewed = plugs(0.0), plugs(2.0)
    assert len(even) == ALL
    assert max(even.values()) < 2 * 5000 / ALL
    assert max(skewed.values()) > 2000


def test_the_window_holds_the_last_readings_only() -> None:
    rows = [f"{i},0,0,0,{100 if i < 50 else 7}" for i in range(WINDOW + 50)]
    found = expected(rows)
    assert found["house 0: readings"] == WINDOW + 50
    assert found["house 0 household 0 plug 0: predicted mW"] == 7000


def test_equation_5_1_is_half_the_sum_of_mean_and_median() -> None:
    window = [3, 1, 4, 1, 5, 9, 2, 6]
    assert predicted_mw(window) == round(1000 * (np.mean(window) + np.median(window)) / 2)
