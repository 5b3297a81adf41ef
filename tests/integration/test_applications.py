"""Every application on Spark, in one shared application: rows reach its end, and counts are exact
there although the skew of its keys changed on the way."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.support.long import only_long
from tests.support.made import made_texts
from tests.support.waiting import wait_until
from weir.controllers import service
from weir.controllers.engine.ports import Workload
from weir.controllers.service import Request
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.where import REDIS_URL
from weir.pipeline.edges.source import EdgeSource
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.hosts.operator import Context, load_operators
from weir.pipeline.hosts.session import create_session
from weir.pipeline.local.process import scratch
from weir.pipeline.local.redis_server import RedisServer
from weir.pipeline.workloads.application import Application, application, applications
from weir.pipeline.workloads.generator import Generator
from weir.pipeline.workloads.spells import Spells

WORLD = "a Spark of its own"
ALWAYS = "smart_plugs"
long = only_long("all applications together take minutes on two cores")


@pytest.fixture(scope="module")
def spark(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("local")
    with pytest.MonkeyPatch.context() as patch:
        # Before the driver's JVM copies it.
        for name, value in {REDIS_URL: redis_server.url, **scratch(folder)}.items():
            patch.setenv(name, value)
        session = create_session(
            "local[2]", "applications", executors=1, max_executors=1, local_dir=folder,
            conf={"spark.dynamicAllocation.enabled": "false", "spark.decommission.enabled": "false",
                  "spark.ui.enabled": "false"},
        )  # fmt: skip
        session.dataSource.register(EdgeSource)
        yield session
        session.stop()
        gateway = SparkContext._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(60)
            SparkContext._gateway = SparkContext._jvm = None


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n == ALWAYS else long) for n in sorted(applications())],
)
def test_counts_are_exact_at_the_end_of_each(
    spark: SparkSession, redis_server: RedisServer, tmp_path: Path, name: str
) -> None:
    found = application(name)
    store = RedisStore.at(redis_server.url)
    store.client.flushdb()
    generator = Generator(
        store,
        redis_server.url,
        Workload(name=found.source.edge, rows_per_s=found.rows_per_s),
        found,
    )
    thread = threading.Thread(target=generator.run)
    queries: list[Any] = [
        operator.start(spark, Context(redis_url=redis_server.url), tmp_path)
        for operator in load_operators(found.module, _quick(found))
    ]

    def counted() -> dict[str, int]:
        for query in queries:
            assert query.exception() is None, query.exception()
        return found.counted(redis_server.url)

    try:
        thread.start()
        wait_until(counted, 60, "rows reach the end")
        request = Request(by="test", at=time.time())
        service.set_rate(store, request, found.source.edge, skew=found.skew + 0.7)
        spells = Spells(store.client, found.source.edge)
        wait_until(lambda: len(spells.all()) == 2, 30, "the generator has seen the other skew")
        made = EdgeStream(store.client, found.source.edge, found.source.shards)
        enough = spells.all()[-1][0] + 50
        wait_until(lambda: made.totals()[0] >= enough, 30, "rows with the other skew")
        generator.stop()
        thread.join()
        expected = found.expected(made_texts(store.client, found))
        assert expected
        try:
            wait_until(lambda: counted() == expected, 60, "every row has reached the end")
        except AssertionError:
            assert counted() == expected
    finally:
        generator.stop()
        thread.join()
        for query in queries:
            query.stop()


def _quick(found: Application) -> dict[str, str]:
    """No cost per row, and batches as soon as there are rows."""
    module = __import__(found.module, fromlist=["Settings"])
    names = module.Settings.__struct_fields__
    costs = {name: "0" for name in names if name.endswith("_cost_s")}
    return costs | {name: "0.3" for name in names if name.endswith("trigger_s")}
