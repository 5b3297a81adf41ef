"""DRS's live network on a real Redis; threads in place of Spark's tasks."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from weir.pipeline.experiments.drs_live import LiveNetwork, run
from weir.pipeline.experiments.drs_rows import Arrival, Row
from weir.pipeline.local.redis_server import RedisServer


class Threads:
    """What a processor sees of Spark: a job that runs one function per task."""

    def __init__(self) -> None:
        self.sparkContext = self
        self._count = 0

    def parallelize(self, _: range, count: int) -> "Threads":
        found = Threads()
        found._count = count
        return found

    def foreachPartition(self, serve: Callable[[Any], None]) -> None:
        tasks = [threading.Thread(target=serve, args=([],)) for _ in range(self._count)]
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()


@pytest.fixture
def network(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveNetwork]:
    monkeypatch.setattr("weir.pipeline.experiments.drs_live.InheritableThread", threading.Thread)
    found = LiveNetwork(Threads(), redis_server.url, ("a", "b"))
    try:
        yield found
    finally:
        found.close()


def rows(count: int, work_s: float = 0.001) -> list[Arrival]:
    two = (Row("b", work_s), Row("b", work_s))
    return [Arrival(0.002 * n, Row("a", work_s, two)) for n in range(count)]


def test_every_row_is_done_once_and_says_what_it_led_to(network: LiveNetwork) -> None:
    network.give((2, 3))
    served = run([network], rows(40), most_s=60)[0]
    assert Counter(s.operator for s in served) == {"a": 40, "b": 80}
    assert all(s.sent == ({"b": 2} if s.operator == "a" else {}) for s in served)
    assert all(s.came <= s.begun < s.done for s in served)
    ended = {s.arrival: s.done for s in served if s.operator == "a"}
    assert all(s.came == ended[s.arrival] for s in served if s.operator == "b")


def test_no_more_rows_are_worked_on_than_there_are_processors(network: LiveNetwork) -> None:
    for allocation in ((3, 1), (1, 2), (2, 2)):  # more, fewer, more
        network.give(allocation)
        assert network.allocation == allocation
        served = run([network], [Arrival(0.0, a.row) for a in rows(20, 0.02)], most_s=60)[0]
        for operator, most in zip(network.operators, allocation, strict=True):
            mine = [s for s in served if s.operator == operator]
            begun = [sum(o.begun <= s.begun < o.done for o in mine) for s in mine]
            assert max(begun) == most


def test_a_processor_waits_for_as_long_as_there_is_no_row(network: LiveNetwork) -> None:
    """It failed after five seconds, when the client's own patience ended."""
    network.give((1, 1))
    time.sleep(5.5)
    assert len(run([network], rows(3), most_s=60)[0]) == 9


def test_processors_end_and_nothing_is_left(
    network: LiveNetwork, redis_server: RedisServer
) -> None:
    network.give((1, 1))
    run([network], rows(5), most_s=60)
    threads = list(network._threads)
    network.close()
    assert not any(t.is_alive() for t in threads)
    with redis.Redis.from_url(redis_server.url) as client:
        assert not list(client.scan_iter("lab:*"))


def test_what_a_processor_fails_with_is_raised(network: LiveNetwork) -> None:
    network._failed.append(OSError("away"))
    with pytest.raises(OSError, match="away"):
        network.served()
