"""Shares of cores among operators whose pools lend theirs: order and conservation of the model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.controllers.scaling.drs.pools import NEVER, PoolLoad, latency_s

SLOW = PoolLoad(name="slow", rows_per_s=45.0, cost_s=0.046, trigger_s=2.0, fixed_s=0.4)
MIDDLE = PoolLoad(name="middle", rows_per_s=60.0, cost_s=0.02, trigger_s=2.0, fixed_s=0.4)
FAST = PoolLoad(name="fast", rows_per_s=60.0, cost_s=0.008, trigger_s=2.0, fixed_s=0.4)


def of(slow: int, middle: int, fast: int, cores: int = 4) -> float:
    weights = {"slow": slow, "middle": middle, "fast": fast}
    return latency_s((SLOW, MIDDLE, FAST), weights, cores)


def test_short_batches_first_beats_alike_and_that_beats_shares_by_need():
    assert of(3, 5, 8) < of(1, 1, 1) < of(8, 5, 3)


def test_alone_an_operator_has_all_cores_whatever_its_weight():
    alone = latency_s((FAST,), {"fast": 1}, 4)
    work = FAST.cores * FAST.trigger_s / 4
    assert alone == pytest.approx(FAST.trigger_s / 2 + work + FAST.fixed_s)


def test_more_work_than_cores_never_ends():
    assert of(1, 1, 1, cores=3) == NEVER


def test_who_has_no_rows_takes_nothing():
    idle = PoolLoad(name="idle", rows_per_s=0.0, cost_s=1.0)
    weights = {"fast": 1, "idle": 1}
    assert latency_s((FAST, idle), weights, 4) == latency_s((FAST,), weights, 4)


loads = st.lists(
    st.tuples(
        st.floats(0.0, 200.0), st.floats(1e-6, 0.05), st.sampled_from([0.0, 0.5, 2.0, 3.0]),
        st.floats(0.0, 2.0),
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(deadline=None)
@given(loads, st.lists(st.integers(1, 9), min_size=4, max_size=4), st.integers(1, 16))
def test_latency_is_known_wherever_the_cores_keep_up(rows, weights, cores):
    parts = [
        PoolLoad(name=f"o{i}", rows_per_s=r, cost_s=c, trigger_s=t, fixed_s=f)
        for i, (r, c, t, f) in enumerate(rows)
    ]
    found = latency_s(parts, {p.name: w for p, w in zip(parts, weights, strict=False)}, cores)
    if sum(p.cores for p in parts) >= cores:
        assert found == NEVER
    else:
        assert 0.0 <= found < NEVER
