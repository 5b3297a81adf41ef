"""The demo's input: Zipf's law, the same rows every time, and a steerable rate."""

import numpy as np
import pyarrow as pa
import pytest

from tests.support.made import topic_counts, word_counts
from weir.controllers.engine.ports import Workload
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.profile import Profile
from weir.pipeline.edges.source import admit, cut_by_shard
from weir.pipeline.edges.stream import chunks_of, decode
from weir.pipeline.hosts.operator import check, load_operators
from weir.pipeline.workloads.application import application, applications
from weir.pipeline.workloads.generator import rate_at, rows_of
from weir.pipeline.workloads.topics import EXPONENT, TOPICS, topic_numbers
from weir.pipeline.workloads.word_count import _split
from weir.pipeline.workloads.words import (
    PER_LINE,
    SHIFT_LINES,
    SHIFT_WORDS,
    WORDS,
    word,
    word_numbers,
)


def test_topics_follow_zipfs_law() -> None:
    counts = np.bincount(topic_numbers(0, 400_000), minlength=TOPICS)
    weights = np.arange(1, TOPICS + 1) ** -EXPONENT
    expected = 400_000 * weights / weights.sum()
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi2 - TOPICS) < 6 * np.sqrt(2 * TOPICS)


def test_rows_do_not_depend_on_how_they_are_cut() -> None:
    for found in applications().values():
        whole = found.rows(0, 100, found.skew)
        parts = pa.concat_arrays([found.rows(i, 10, found.skew) for i in range(0, 100, 10)])
        assert whole.equals(parts), found.name
    assert sum(topic_counts(1234).values()) == 1234


def test_event_times_are_spread_over_the_tick() -> None:
    times = (
        rows_of(application("top_n"), 0, 4, at=10.0, seconds=1.0, skew=0.5).column("ts").to_pylist()
    )
    assert times == [9.25, 9.5, 9.75, 10.0]


@pytest.mark.parametrize(
    ("since_s", "paused", "expected"),
    [(0, False, 50), (10, False, 70), (99, False, 80), (9, True, 0)],
)
def test_the_rate_ramps_holds_and_pauses(since_s: float, paused: bool, expected: float) -> None:
    workload = Workload(
        name="w",
        rows_per_s=50,
        profile=Profile(kind="ramp", to_rows_per_s=80, over_s=15),
        paused=paused,
    )
    assert rate_at(workload, since_s) == expected


def test_admission_takes_exactly_the_limit_and_never_goes_back() -> None:
    start, ends = {"0": 3, "1": 0, "2": 9}, {"0": 10, "1": 1, "2": 9}
    for most in range(0, 9):
        end = admit(start, ends, most)
        assert sum(end.values()) - sum(start.values()) == most
        assert all(start[s] <= end[s] <= ends[s] for s in ends)


def test_a_key_always_lands_in_the_same_shard_and_no_row_is_lost() -> None:
    rows = pa.record_batch({"topic": [f"t{i % 7}" for i in range(100)], "n": list(range(100))})
    seen: dict[str, int] = {}
    total = []
    for chunk in cut_by_shard(rows, 4, "topic"):
        for part in decode(chunk.data):
            for topic, n in zip(part["topic"].to_pylist(), part["n"].to_pylist(), strict=True):
                assert seen.setdefault(topic, chunk.shard) == chunk.shard
                total.append(n)
    assert sorted(total) == list(range(100))


def test_chunks_are_cut_to_size() -> None:
    rows = pa.record_batch({"n": list(range(10))})
    assert [c.rows for c in chunks_of(2, rows, 4)] == [4, 4, 2]


def test_an_unknown_workload_is_a_sentence_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"no workload 'magic'; known: .*top_n, .*word_count"):
        application("magic")


@pytest.mark.parametrize("name", sorted(applications()))
@pytest.mark.parametrize("slices", [0, 4])
def test_the_clusters_of_the_demonstration_are_given_every_operator_once(
    name: str, slices: int
) -> None:
    found = application(name)
    given = {"slices": str(slices)} if found.sliced else {}
    declared, bad = check(load_operators(found.module, given))
    assert not bad
    placed = [operator for own in found.places.values() for operator in own]
    assert sorted(placed) == sorted(declared)
    if found.sliced:
        assert bool(declared[found.sliced].unsliced) == (slices == 0)
    assert found.source.edge in {edge for o in declared.values() for edge in o.reads}
    assert len(found.origin) > 50


def test_other_words_become_the_frequent_ones() -> None:
    before = np.bincount(word_numbers(0, SHIFT_LINES).ravel(), minlength=WORDS)
    after = np.bincount(word_numbers(SHIFT_LINES, SHIFT_LINES).ravel(), minlength=WORDS)
    assert (before.argmax(), after.argmax()) == (0, SHIFT_WORDS)
    assert len({word(i) for i in range(WORDS)}) == WORDS
    counts = word_counts(SHIFT_LINES + 1000)
    assert sum(counts.values()) == (SHIFT_LINES + 1000) * PER_LINE
    assert counts[word(0)] > 10 * counts[word(WORDS - 1)]


def test_lines_are_split_into_words_with_their_lines_time() -> None:
    lines = pa.record_batch({"ts": [1.0, 2.0], "text": ["to be or", "not"]})
    (words,) = _split(0.0, "wait")(iter([lines]))
    assert words.to_pydict() == {
        "ts": [1.0, 1.0, 1.0, 2.0],
        "word": ["to", "be", "or", "not"],
    }


def test_a_column_that_never_holds_nothing_is_read_like_any_other() -> None:
    schema = pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("n", pa.int64())])
    rows = pa.RecordBatch.from_arrays([pa.array(["a"]), pa.array([1])], schema=schema)
    (found,) = decode(chunks_of(0, rows)[0].data)
    assert found.schema == pa.schema({"name": pa.string(), "n": pa.int64()})
    assert found.to_pylist() == [{"name": "a", "n": 1}]
