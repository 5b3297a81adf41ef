"""The publisher: a job never notices that the store is away."""

import threading
import time

from redis.exceptions import ConnectionError as RedisAway

from tests.support.waiting import wait_until
from weir.controllers.engine.ports import Part
from weir.controllers.model.sample import Cluster, ClusterSample
from weir.metrics.agent.publisher import Publisher
from weir.metrics.store.memory_store import MemoryStore


class Breakable(MemoryStore):
    """A store that can be taken away."""

    def __init__(self) -> None:
        super().__init__()
        self.away = threading.Event()
        self.asked: list[str] = []  # who wanted a lease
        self.refused = 0

    def acquire(self, name, holder, ttl_s):
        self._check()
        self.asked.append(holder)
        return super().acquire(name, holder, ttl_s)

    def renew(self, *args, **more):
        self._check()
        return super().renew(*args, **more)

    def append(self, *args, **more):
        self._check()
        return super().append(*args, **more)

    def _check(self) -> None:
        if self.away.is_set():
            self.refused += 1
            raise RedisAway("away")


def sample(at: float) -> ClusterSample:
    return ClusterSample(at=at, period_s=1.0, cluster=Cluster(name="a"))


def publisher(store: MemoryStore, limit: int = 500, holder: str = "me") -> Publisher:
    def part() -> Part:
        return Part(id="agent:a", kind="agent", name="a", at=time.time())

    started = Publisher(store, "a", holder, part, limit)
    started.start()
    return started


def test_samples_arrive_and_a_clean_end_leaves_no_part_and_no_lease() -> None:
    store = Breakable()
    sender = publisher(store)
    sender.put(sample(1.0))
    wait_until(lambda: store.clusters() == ["a"], 5, "a report is there")
    assert [p.id for p in store.parts()] == ["agent:a"]
    sender.close()
    assert store.parts() == []
    assert store.lease("cluster:a") is None


def test_while_the_store_is_away_the_oldest_are_dropped_and_counted() -> None:
    store = Breakable()
    store.away.set()
    sender = publisher(store, limit=3)
    for i in range(5):
        sender.put(sample(float(i + 1)))  # the job does not wait
    wait_until(lambda: store.refused, 5, "the store is asked")
    store.away.clear()
    wait_until(lambda: len(store.samples("a", 0, 99)) == 3, 5, "three are kept")
    assert [s.at for s in store.samples("a", 0, 99)] == [3.0, 4.0, 5.0]
    assert store.latest()[0].cluster.dropped_samples == 2
    sender.close()


def test_a_second_application_of_the_same_name_waits() -> None:
    store = Breakable()
    first = publisher(store, holder="first")
    wait_until(lambda: store.lease("cluster:a"), 5, "the first has the name")
    second = publisher(store, holder="second")
    second.put(sample(1.0))
    wait_until(lambda: "second" in store.asked, 5, "the second asks for it")
    assert store.clusters() == []
    first.close()
    wait_until(lambda: store.clusters() == ["a"], 5, "the second has it")
    second.close()
