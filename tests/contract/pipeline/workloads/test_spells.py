"""What a generator made can be made again, whatever its skew was meanwhile."""

import threading
import time

from tests.support.made import made_texts
from tests.support.waiting import wait_until
from weir.controllers import service
from weir.controllers.engine.ports import Workload
from weir.controllers.service import Request
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.local.redis_server import RedisServer
from weir.pipeline.workloads.application import application
from weir.pipeline.workloads.generator import Generator
from weir.pipeline.workloads.spells import Spells


def test_the_same_rows_after_changes_of_skew_and_a_restart(redis_server: RedisServer) -> None:
    store = RedisStore.at(redis_server.url)
    store.client.flushdb()
    found = application("top_n")
    edge = EdgeStream(store.client, found.source.edge, found.source.shards)
    spells = Spells(store.client, found.source.edge)
    asked = Workload(name=found.source.edge, rows_per_s=2000)
    for skew in (None, 2.0, 2.0, 0.0):  # each time another generator
        generator = Generator(store, redis_server.url, asked, found)
        thread = threading.Thread(target=generator.run)
        thread.start()
        try:
            wait_until(lambda: store.workloads(), 10, "the generator is there")
            request = Request(by="test", at=time.time())
            service.set_rate(store, request, found.source.edge, skew=skew)
            wanted = found.skew if skew is None else skew
            wait_until(lambda w=wanted: spells.all()[-1][1] == w, 10, "it has seen it")  # type: ignore[misc]
            enough = edge.totals()[0] + 200
            wait_until(lambda e=enough: edge.totals()[0] > e, 10, "it has made rows")  # type: ignore[misc]
        finally:
            generator.stop()
            thread.join()
    assert [skew for _, skew in spells.all()] == [0.5, 2.0, 0.0]
    appended = sorted(
        text
        for shard, end in edge.ends().items()
        for batch in edge.read(int(shard), 0, end)
        for text in batch.column("text").to_pylist()
    )
    assert appended == sorted(made_texts(store.client, found))


def test_the_generator_says_what_it_makes(redis_server: RedisServer) -> None:
    store = RedisStore.at(redis_server.url)
    store.client.flushdb()
    found = application("top_n")
    generator = Generator(store, redis_server.url, Workload(name="tweets", rows_per_s=1), found)
    thread = threading.Thread(target=generator.run)
    thread.start()
    try:
        (part,) = wait_until(store.parts, 10, "a sign of life")
        assert (part.title, part.about) == (found.title, found.origin)
    finally:
        generator.stop()
        thread.join()
