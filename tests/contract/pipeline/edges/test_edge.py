"""Edges in a real Redis: exact offsets, once per batch, trimmed only behind every consumer."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
import redis

from weir.controllers.model.errors import Fenced, Unavailable
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import EdgeReader, cut_by_shard
from weir.pipeline.edges.stream import EdgeStream, chunks_of
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture
def edge(redis_server: RedisServer) -> Iterator[EdgeStream]:
    client = connect(redis_server.url)
    client.flushall()
    yield EdgeStream(client, "rows", 2)
    client.close()


def rows(first: int, count: int) -> pa.RecordBatch:
    return pa.record_batch({"n": list(range(first, first + count))})


def read(edge: EdgeStream, shard: int, start: int, end: int) -> list[int]:
    return [n for batch in edge.read(shard, start, end, page=2) for n in batch["n"].to_pylist()]


def test_offsets_are_rows_and_a_batch_may_begin_inside_a_chunk(edge: EdgeStream) -> None:
    for i in range(5):
        edge.append("p", i, chunks_of(0, rows(10 * i, 10), 4))
    assert edge.ends() == {"0": 50, "1": 0}
    assert read(edge, 0, 0, 50) == list(range(50))
    assert read(edge, 0, 7, 33) == list(range(7, 33))


def test_a_replayed_batch_is_not_appended_twice(edge: EdgeStream) -> None:
    assert edge.append("p", 0, chunks_of(0, rows(0, 10)))
    assert not edge.append("p", 0, chunks_of(0, rows(0, 10)))
    assert edge.append("other", 0, chunks_of(1, rows(0, 3)))
    assert edge.totals()[0] == 13
    assert edge.last_batch("p") == 0
    assert edge.last_batch("nobody") == -1


def test_a_producer_whose_lease_has_passed_on_is_kept_out(edge: EdgeStream) -> None:
    edge.append("p", 0, chunks_of(0, rows(0, 5)), fence=2)
    with pytest.raises(Fenced, match="a newer run of 'p' is writing"):
        edge.append("p", 1, chunks_of(0, rows(5, 5)), fence=1)
    assert edge.totals()[0] == 5


def test_nothing_is_trimmed_that_a_consumer_still_needs(edge: EdgeStream) -> None:
    for i in range(6):
        edge.append("p", i, chunks_of(0, rows(10 * i, 10)))
    edge.register("slow")
    edge.commit("fast", {"0": 60})
    assert read(edge, 0, 0, 60) == list(range(60))
    edge.commit("slow", {"0": 25})
    assert edge.starts()["0"] == 20
    assert read(edge, 0, 25, 60) == list(range(25, 60))
    with pytest.raises(LookupError, match="rows 5 to 20 are no longer there"):
        read(edge, 0, 5, 60)
    edge.forget("slow")
    edge.trim()
    assert edge.starts() == {"0": 60, "1": 0}


def test_a_reader_takes_what_its_limit_admits(edge: EdgeStream, redis_server: RedisServer) -> None:
    for i in range(4):
        edge.append("p", i, chunks_of(i % 2, rows(10 * i, 10)))
    reader = EdgeReader(
        {"redis": redis_server.url, "edge": "rows", "shards": "2", "consumer": "c", "maxrows": "14"}
    )
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    assert end == {"0": 7, "1": 7}
    assert reader.reportLatestOffset() == {"0": 20, "1": 20}
    parts = reader.partitions(start, end)
    assert [p.ranges for p in parts] == [[(0, 0, 7)], [(1, 0, 7)]]
    assert sum(batch.num_rows for p in parts for batch in reader.read(p)) == 14
    reader.commit(end)
    assert edge.committed() == {"c": {"0": 7, "1": 7}}


def test_slices_read_and_commit_their_own_shards_under_one_name(redis_server: RedisServer) -> None:
    edge = EdgeStream(connect(redis_server.url), "keyed", 8)
    edge.client.flushall()
    for i in range(8):
        edge.append("p", i, chunks_of(i, rows(10 * i, 10 + i)))
    common = {"redis": redis_server.url, "edge": "keyed", "shards": "8", "consumer": "c"}
    one, other = (
        EdgeReader({**common, "groups": groups, "tasks": "1"}) for groups in ("0,1,5", "2,3,4,6,7")
    )
    start = one.initialOffset()
    assert start == {"0": 0, "1": 0, "5": 0}
    end = one.latestOffset(start, one.getDefaultReadLimit())
    assert end == one.reportLatestOffset() == {"0": 10, "1": 11, "5": 15}
    (task,) = one.partitions(start, end)
    assert sum(batch.num_rows for batch in one.read(task)) == 36
    one.commit(end)
    assert edge.committed() == {"c": end}
    other.commit({"2": 12, "3": 4})
    one.commit({"0": 7})  # one that was told late takes nothing back
    assert edge.committed() == {"c": {**end, "2": 12, "3": 4}}
    left = edge.starts()
    assert (left["0"], left["5"], left["2"], left["3"], left["7"]) == (10, 15, 12, 0, 0)


def test_the_same_key_lies_in_the_same_shard_in_every_version() -> None:
    """Written down, not computed: rows and state lie where the first version put them."""
    found = cut_by_shard(pa.record_batch({"k": ["topic-0001", "topic-0002", "", None]}), 64, "k")
    assert [(c.shard, c.rows) for c in found] == [(0, 2), (13, 1), (56, 1)]
    numbers = cut_by_shard(pa.record_batch({"k": [1, 2, 3]}), 64, "k")
    texts = cut_by_shard(pa.record_batch({"k": ["1", "2", "3"]}), 64, "k")
    assert [c.shard for c in numbers] == [c.shard for c in texts]


def test_a_producer_is_fenced_whatever_its_part(edge: EdgeStream) -> None:
    assert edge.append("s", 0, chunks_of(0, rows(0, 2)), fence=3, part="1/0")
    assert edge.append("s", 0, chunks_of(0, rows(2, 2)), fence=3, part="1/1")
    assert not edge.append("s", 0, chunks_of(0, rows(2, 2)), fence=3, part="1/1")
    edge.fence("s", 4)
    edge.fence("s", 2)
    with pytest.raises(Fenced):
        edge.append("s", 1, chunks_of(0, rows(4, 2)), fence=3, part="1/0")
    assert edge.append("s", 0, chunks_of(0, rows(4, 2)), fence=4, part="2/0")


def test_what_was_acknowledged_survives_kill_9(tmp_path) -> None:
    server = RedisServer(tmp_path).start()
    with connect(server.url) as client:
        EdgeStream(client, "rows", 2).append("p", 0, chunks_of(0, rows(0, 100)))
    server.kill()
    again = RedisServer(tmp_path, server.port).start()
    try:
        with redis.Redis.from_url(again.url) as client:
            edge = EdgeStream(client, "rows", 2)
            assert read(edge, 0, 0, 100) == list(range(100))
            assert not edge.append("p", 0, chunks_of(0, rows(0, 100)))
    finally:
        again.stop()


def test_a_consumer_whose_offsets_cannot_be_read_loses_no_rows(edge: EdgeStream) -> None:
    edge.register("good")
    edge.register("bad")
    edge.append("p", 0, chunks_of(0, rows(0, 10), 4))
    for broken in (b"{", b"\xff", b"[]", b'{"0": "x"}'):
        edge.client.hset("weir:edge:rows", "consumer:bad", broken)
        edge.commit("good", {"0": 10})
        assert edge.committed() == {"good": {"0": 10}, "bad": {}}
        assert read(edge, 0, 0, 10) == list(range(10))


def test_rows_that_cannot_be_read_are_not_skipped(edge: EdgeStream) -> None:
    edge.append("p", 0, chunks_of(0, rows(0, 4)))
    edge.client.xadd("weir:edge:rows:0", {"n": 4, "d": b"\xff"}, id="8-0")
    with pytest.raises(LookupError, match="rows up to 8-0 cannot be read"):
        read(edge, 0, 0, 8)
    edge.client.hset("weir:edge:rows:0:at", "rows", "many")
    with pytest.raises(Unavailable, match="counts of rows"):
        edge.ends()
