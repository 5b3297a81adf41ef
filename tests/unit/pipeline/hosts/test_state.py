"""What a checkpoint says before its state is handed over, without Spark."""

import json
from pathlib import Path

import pytest

from weir.controllers.model.errors import Refused
from weir.pipeline.hosts.state import StoppedSlice, merge_offsets

COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


def checkpoint(folder: Path, *offsets: object, begun: int = 3, done: int = 3) -> Path:
    for name in ("offsets", "commits", "state/0/0"):
        (folder / name).mkdir(parents=True)
    lines = ["v1", json.dumps({"batchWatermarkMs": 5}), *(json.dumps(o) for o in offsets)]
    for number in range(begun + 1):
        (folder / "offsets" / str(number)).write_text("\n".join(lines))
    for number in range(done + 1):
        (folder / "commits" / str(number)).write_text(COMMIT)
    return folder


def test_offsets_of_the_groups_come_from_whoever_had_them(tmp_path: Path) -> None:
    one = StoppedSlice.of("x.0", checkpoint(tmp_path / "0", {"0": 5, "1": 7}))
    other = StoppedSlice.of("x.1", checkpoint(tmp_path / "1", {"2": 9, "3": 11}, begun=8, done=8))
    assert (one.batch, other.batch) == (3, 8)
    assert merge_offsets([one, other], (1, 2)) == [{"1": 7, "2": 9}]


def test_offsets_as_kafka_has_them(tmp_path: Path) -> None:
    one = StoppedSlice.of("x.0", checkpoint(tmp_path / "0", {"t": {"0": 5}}, {"u": {"0": 1}}))
    other = StoppedSlice.of("x.1", checkpoint(tmp_path / "1", {"t": {"1": 9}}, {"u": {"1": 2}}))
    both = [{"t": {"0": 5, "1": 9}}, {"u": {"0": 1, "1": 2}}]
    assert merge_offsets([one, other], (0, 1)) == both
    assert merge_offsets([one, other], (1,)) == [{"t": {"1": 9}}, {"u": {"1": 2}}]


def test_a_batch_that_was_cut_off_is_not_handed_over(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "x", {"0": 1}, begun=4, done=3)
    with pytest.raises(Refused, match="stopped within batch 4"):
        StoppedSlice.of("x.0", folder)


def test_before_the_first_commit_there_is_nothing_to_hand_over(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not committed a batch yet"):
        StoppedSlice.of("x.0", tmp_path)


def test_an_input_that_cannot_be_divided_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="do not count by partition"):
        StoppedSlice.of("x.0", checkpoint(tmp_path / "x", {"logOffset": 3}))


def test_state_that_cannot_be_divided_is_refused(tmp_path: Path) -> None:
    two = checkpoint(tmp_path / "two", {"0": 1})
    (two / "state/1/0").mkdir(parents=True)
    with pytest.raises(Refused, match="2 operators"):
        StoppedSlice.of("x.0", two)
    join = checkpoint(tmp_path / "join", {"0": 1})
    (join / "state/0/0/left-keyToNumValues").mkdir()
    (join / "state/0/0/left-keyToNumValues/1.delta").touch()
    with pytest.raises(Refused, match="of a join"):
        StoppedSlice.of("x.0", join)
