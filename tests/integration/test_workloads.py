"""Applications besides the one of the demonstration: rows reach the end, and counts are exact."""

import threading
import time
from pathlib import Path

from tests.support.long import only_long
from tests.support.made import word_counts
from tests.support.system import System, running
from tests.support.waiting import wait_until
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Workload
from weir.metrics.store import keys
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.workloads.application import application
from weir.pipeline.workloads.generator import Generator
from weir.pipeline.workloads.ranking import ranking
from weir.pipeline.workloads.word_count import TRENDING, counted
from weir.pipeline.workloads.words import word

PLACE = 2.5
pytestmark = only_long("a third cluster beside the shared two takes minutes on two cores")


def test_words_are_counted_exactly(system: System, tmp_path: Path) -> None:
    found = application("word_count")
    source = found.source
    placed = [operator for own in found.places.values() for operator in own]
    host = (
        "-m", "weir", "host", "words", "--master", system.master, "--redis", system.redis_url,
        "--operators", found.module, "--place", ",".join(placed), "--period", "2",
        "--checkpoints", str(tmp_path / "checkpoints"), "--local-dir", str(tmp_path / "local"),
        "--set", "slow_trigger_s=2", "--set", "splitter_cost_s=0",
    )  # fmt: skip
    rate = Workload(name=source.edge, rows_per_s=50)
    generator = Generator(system.store, system.redis_url, rate, found)
    thread = threading.Thread(target=generator.run)
    with running(tmp_path / "host.log", *host):
        thread.start()
        try:
            wait_until(lambda: counted(system.redis_url), 180, "words are counted")
            wait_until(lambda: ranking(system.redis_url, TRENDING), 60, "words are trending")
        finally:
            generator.stop()
            thread.join()
        lines = EdgeStream(system.store.client, source.edge, source.shards).totals()[0]
        expected = word_counts(lines)
        wait_until(
            lambda: sum(counted(system.redis_url).values()) >= sum(expected.values()),
            120,
            "every word is counted",
        )
        assert counted(system.redis_url) == expected
        assert word(0) in ranking(system.redis_url, TRENDING)
        flows = {(o.name, o.reads, o.writes) for o in system.snapshot().operators}
        assert {("word_count", ("words",), ("word_counts",))} <= flows
    system.store.client.hdel(keys.WORKLOADS, source.edge)
    system.store.forget("words", AuditEntry(at=time.time(), by="test", action="cluster.forgotten"))
