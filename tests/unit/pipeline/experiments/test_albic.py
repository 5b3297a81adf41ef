"""ALBIC's experiments on small instances."""

import numpy as np

from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import albic_balance, albic_collocation, albic_job_2


def test_the_optimiser_is_never_worse_than_flux_nor_better_than_the_bound() -> None:
    found = albic_balance.compared(10, 100, 0.6, 10, seeds=2)
    assert found["worse"] == 0
    assert found["bound"] - 1e-9 <= found["optimiser"] <= found["flux"]
    rows = {
        f"{100 * v:.0f}-{b}": found for v in albic_balance.VARIES for b in albic_balance.BUDGETS
    }
    said = albic_balance.FIGURE_2.conclude(True, rows)
    assert said.verdict in (ClaimVerdict.REPRODUCED, ClaimVerdict.PARTLY)
    worse = {k: {**f, "worse": 2, "optimiser": f["flux"] + 1.0} for k, f in rows.items()}
    assert albic_balance.FIGURE_2.conclude(True, worse).verdict is ClaimVerdict.NOT


def test_albic_collocates_what_talks_within_its_moves() -> None:
    found = albic_collocation.planned(albic_collocation.ALBIC, (6, 3, 1.0, 12))
    assert found["moves"] <= 20
    assert found["collocation"] > 0.5
    cola = albic_collocation.planned(albic_collocation.LOOSE, (6, 3, 1.0, 12))
    assert cola["moves"] > found["moves"]


def test_moves_that_cost_show_in_the_load_index() -> None:
    free = albic_job_2.followed("COLA", 0.0, seed=5)
    dear = albic_job_2.followed("COLA", 0.5, seed=5)
    assert free["moves"] == dear["moves"]
    assert np.mean(dear["index"][-5:]) > np.mean(free["index"][-5:]) + 5
