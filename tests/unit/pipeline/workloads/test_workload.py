"""The demo's input: Zipf's law, the same rows every time, and a steerable rate."""

import numpy as np
import pyarrow as pa
import pytest

from weir.controllers.engine.ports import Workload
from weir.pipeline.edges.source import admitted, sharded
from weir.pipeline.edges.stream import chunks_of, decode
from weir.pipeline.workloads.generator import rate_at, tweets
from weir.pipeline.workloads.topics import EXPONENT, TOPICS, topic_counts, topic_numbers


def test_topics_follow_zipfs_law() -> None:
    counts = np.bincount(topic_numbers(0, 400_000), minlength=TOPICS)
    weights = np.arange(1, TOPICS + 1) ** -EXPONENT
    expected = 400_000 * weights / weights.sum()
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi2 - TOPICS) < 6 * np.sqrt(2 * TOPICS)


def test_rows_do_not_depend_on_how_they_are_cut() -> None:
    whole = tweets(0, 100, at=10.0, seconds=1.0).column("text")
    parts = pa.concat_arrays([tweets(i, 10, 10.0, 1.0).column("text") for i in range(0, 100, 10)])
    assert whole.equals(parts)
    assert sum(topic_counts(1234).values()) == 1234


def test_event_times_are_spread_over_the_tick() -> None:
    times = tweets(0, 4, at=10.0, seconds=1.0).column("ts").to_pylist()
    assert times == [9.25, 9.5, 9.75, 10.0]


@pytest.mark.parametrize(
    ("since_s", "paused", "expected"),
    [(0, False, 50), (10, False, 70), (99, False, 80), (9, True, 0)],
)
def test_the_rate_ramps_holds_and_pauses(since_s: float, paused: bool, expected: float) -> None:
    workload = Workload(
        name="w", rows_per_s=50, ramp_rows_per_s2=2, most_rows_per_s=80, paused=paused
    )
    assert rate_at(workload, since_s) == expected


def test_admission_takes_exactly_the_limit_and_never_goes_back() -> None:
    start, ends = {"0": 3, "1": 0, "2": 9}, {"0": 10, "1": 1, "2": 9}
    for most in range(0, 9):
        end = admitted(start, ends, most)
        assert sum(end.values()) - sum(start.values()) == most
        assert all(start[s] <= end[s] <= ends[s] for s in ends)


def test_a_key_always_lands_in_the_same_shard_and_no_row_is_lost() -> None:
    rows = pa.record_batch({"topic": [f"t{i % 7}" for i in range(100)], "n": list(range(100))})
    seen: dict[str, int] = {}
    total = []
    for chunk in sharded(rows, 4, "topic"):
        for part in decode(chunk.data):
            for topic, n in zip(part["topic"].to_pylist(), part["n"].to_pylist(), strict=True):
                assert seen.setdefault(topic, chunk.shard) == chunk.shard
                total.append(n)
    assert sorted(total) == list(range(100))


def test_chunks_are_cut_to_size() -> None:
    rows = pa.record_batch({"n": list(range(10))})
    assert [c.rows for c in chunks_of(2, rows, 4)] == [4, 4, 2]
