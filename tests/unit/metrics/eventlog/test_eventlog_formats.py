"""Every packing, whole, cut off and damaged; folders; hostile files."""

import gzip
import random
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.metrics.eventlog import eventlog_logs as logs
from weir.controllers.model.errors import InvalidInput
from weir.metrics.eventlog.codecs import Damaged, decode
from weir.metrics.eventlog.importer import NotAnEventLog, import_log
from weir.metrics.eventlog.locate import group_names, locate
from weir.metrics.eventlog.reader import LogReader, lines

RANDOM = random.Random(7)


def summaries(path):
    return [done.summary for log in locate(path) for done in import_log(log)]


@pytest.mark.parametrize("packing", logs.PACKED)
def test_every_packing_gives_the_same_figures(tmp_path, packing):
    file = tmp_path / "no-extension"
    file.write_bytes(logs.PACKED[packing](logs.text(logs.batch_log())))
    (summary,) = summaries(file)
    assert (summary.lines, summary.broken_lines, summary.complete) == (25, 0, True)
    assert (summary.tasks_ended, summary.executor_run_time_ms) == (20, 10_000)


@pytest.mark.parametrize("packing", logs.PACKED)
def test_what_is_cut_off_gives_all_that_is_whole(tmp_path, packing):
    data = b"".join(RANDOM.randbytes(30).hex().encode() + b"\n" for _ in range(20_000))
    packed = logs.PACKED[packing](data)
    file = tmp_path / "log"
    file.write_bytes(packed[: len(packed) // 2])
    found = b"\n".join(line for log in locate(file) for line in LogReader(log))
    assert data.startswith(found)
    assert len(found) > 0.3 * len(data)


@pytest.mark.parametrize("packing", ["gzip", "zstd", "lz4 frame", "lz4 block", "snappy", "zip"])
def test_damage_in_the_middle_keeps_what_came_before(tmp_path, packing):
    """More than the decoders' own buffers, so that something must have come out before."""
    start = logs.text(logs.batch_log()[:-1])
    noise = b"".join(
        b'{"Event":"X","y":"' + RANDOM.randbytes(2000).hex().encode() + b'"}\n' for _ in range(700)
    )
    packed = bytearray(logs.PACKED[packing](start + noise))
    middle = len(packed) * 2 // 3
    packed[middle : middle + 400] = RANDOM.randbytes(400)
    file = tmp_path / "log"
    file.write_bytes(packed)
    (summary,) = summaries(file)
    assert summary.tasks_ended == 20
    assert not summary.complete
    assert summary.lines > 24


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(1, 17))
@settings(max_examples=examples(60))
def test_lines_do_not_depend_on_how_the_bytes_are_cut(parts, size):
    data = b"\n".join(p.replace(b"\n", b"") for p in parts)
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert list(lines(chunks)) == expected


@given(st.binary(max_size=200), st.sampled_from(sorted(logs.PACKED)), st.integers(1, 9))
@settings(max_examples=examples(100))
def test_any_bytes_survive_any_packing_in_any_chunks(data, packing, size):
    if packing == "plain" or packing.startswith("zip"):
        return  # plain data may look like anything; zips are covered by files
    packed = logs.PACKED[packing](data)
    chunks = [packed[i : i + size] for i in range(0, len(packed), size)]
    assert b"".join(decode(chunks)) == data


@given(
    st.sampled_from(
        [
            b"\x1f\x8b",
            b"\x28\xb5\x2f\xfd",
            b"\x04\x22\x4d\x18",
            b"LZ4Block",
            b"\x82SNAPPY\0",
            b"PK\x03\x04",
        ]
    ),
    st.binary(max_size=300),
)
@settings(max_examples=examples(200))
def test_noise_behind_a_magic_never_crashes(magic, noise):
    try:
        for _ in decode([magic + noise]):
            pass
    except (Damaged, InvalidInput):
        pass


def test_a_small_file_that_expands_without_end_is_refused_in_bounded_memory(tmp_path):
    file = tmp_path / "bomb"
    bomb = zlib.compressobj(1, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    file.write_bytes(b"".join(bomb.compress(zeros) for _ in range(40)) + bomb.flush())
    (log,) = locate(file)
    reader = LogReader(log)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="not an event log"):
        for _ in lines(reader._plain(log.parts[0]), most_bytes=1 << 18, absurd_bytes=20 << 20):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_zstd_output_comes_in_bounded_pieces():
    packed = zstandard.ZstdCompressor().compress(bytes(64 << 20))
    assert len(packed) < 100_000
    assert max(len(piece) for piece in decode([packed])) <= 1 << 20


def test_an_absurd_line_is_one_broken_line():
    chunks = [b"ok\n", *[b"x" * 1000] * 50, b"\nnext\n"]
    assert [line[:5] for line in lines(chunks, most_bytes=4000)] == [b"ok", b"xxxxx", b"next"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "no event"),
        (b"hello\nworld\n", "not a Spark event log"),
        (RANDOM.randbytes(5000), "not a Spark event log"),
        (b"ZV\x01\x00\x10", "LZF compression is not supported"),
        (b"BZh91AY&SY", "bzip2 is not supported"),
        (gzip.compress(b"", mtime=0)[:5], "no event"),
        (b"x\n" * 5000, "not a Spark event log"),
    ],
)
def test_what_is_no_log_is_said_in_one_sentence(tmp_path, data, sentence):
    file = tmp_path / "thing"
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        summaries(file)
    assert "\n" not in str(caught.value)


def test_a_zip_of_an_unknown_compression_is_refused(tmp_path):
    data = bytearray(logs.zipped({"a": b"x" * 100}))
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 97  # the method, in both headers
    file = tmp_path / "a.zip"
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match="compression"):
        summaries(file)


def test_an_encrypted_zip_is_refused(tmp_path):
    data = bytearray(logs.zipped({"a": b"x" * 100}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file = tmp_path / "a.zip"
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match="encrypted"):
        summaries(file)


def test_a_zip_that_contains_itself_ends():
    inner = logs.zipped({"c": b"deep"})
    nested = logs.zipped({"a": logs.zipped({"b": inner})})
    with pytest.raises(Damaged, match="zip in a zip"):
        b"".join(decode([nested]))


def test_rolling_parts_in_order_and_from_the_last_compaction_on(tmp_path):
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    whole = logs.batch_log()
    (folder / "appstatus_app-1").touch()
    (folder / "events_1_app-1").write_bytes(b"was compacted away\n")
    (folder / "events_2_app-1.zstd.compact").write_bytes(logs.PACKED["zstd"](logs.text(whole[:10])))
    (folder / "events_10_app-1.zstd").write_bytes(logs.PACKED["zstd"](logs.text(whole[12:])))
    (folder / "events_9_app-1.zstd").write_bytes(logs.PACKED["zstd"](logs.text(whole[10:12])))
    (summary,) = summaries(folder)
    assert (summary.lines, summary.broken_lines, summary.complete) == (25, 0, True)


def test_several_attempts_beside_each_other_and_in_one_folder(tmp_path):
    for attempt in ("1", "2"):
        folder = tmp_path / f"eventlog_v2_app_{attempt}"
        folder.mkdir()
        lines_ = [logs.log_start(), logs.app_start(attempt=attempt), logs.app_end()]
        for name in (f"events_1_app_{attempt}", f"events_1_app_{int(attempt) + 2}"):
            (folder / name).write_bytes(logs.text(lines_))
    found = summaries(tmp_path)
    assert sorted(s.attempt for s in found) == ["1", "1", "2", "2"]


def test_databricks_folder(tmp_path):
    whole = logs.batch_log()
    (tmp_path / "eventlog-2023-11-14--22-00.gz").write_bytes(gzip.compress(logs.text(whole[:9])))
    (tmp_path / "eventlog-2023-11-14--23-00.gz").write_bytes(gzip.compress(logs.text(whole[9:15])))
    (tmp_path / "eventlog").write_bytes(logs.text(whole[15:]))
    (summary,) = summaries(tmp_path)
    assert (summary.lines, summary.tasks_ended, summary.complete) == (25, 20, True)


def test_a_rolling_log_inside_a_zip(tmp_path):
    whole = logs.batch_log()
    file = tmp_path / "eventLogs-app-1.zip"
    parts = {"eventlog_v2_app-1/appstatus_app-1": b""}
    parts |= {
        f"eventlog_v2_app-1/events_{i + 1}_app-1": logs.text(whole[i::1][:1])
        for i in range(len(whole))
    }
    file.write_bytes(logs.zipped(parts))
    (summary,) = summaries(file)
    assert (summary.lines, summary.tasks_ended) == (25, 20)


def test_two_attempts_in_one_file_are_two_summaries(tmp_path):
    first = [logs.log_start("3.5.0"), logs.app_start(attempt="1"), logs.task_end(1), logs.app_end()]
    second = [logs.log_start("3.5.0"), logs.app_start(attempt="2"), b"broken"]
    file = tmp_path / "log"
    file.write_bytes(logs.text(first + second))
    one, two = summaries(file)
    assert (one.attempt, one.lines, one.complete, one.broken_lines) == ("1", 4, True, 0)
    assert (two.attempt, two.lines, two.complete, two.broken_lines) == ("2", 3, False, 1)
    assert two.spark_version == "3.5.0"


def test_hidden_files_and_markers_are_no_logs(tmp_path):
    for name in (".hidden", "_SUCCESS", "log.crc", "appstatus_x"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InvalidInput, match="no files"):
        locate(tmp_path)


def test_grouping_keeps_every_file_that_is_no_marker():
    names = ["a", "b/c", "b/events_1_x.lz4", "b/events_2_x.lz4", "b/events_1_y"]
    assert group_names(names) == [
        ["a"],
        ["b/c"],
        ["b/events_1_x.lz4", "b/events_2_x.lz4"],
        ["b/events_1_y"],
    ]


def test_not_an_event_log_is_invalid_input():
    assert issubclass(NotAnEventLog, InvalidInput)
