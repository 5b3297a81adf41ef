"""The publisher: a job never notices that the store is away."""

import threading
import time

from redis.exceptions import ConnectionError as RedisAway

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


def until(condition, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_samples_arrive_and_a_clean_end_leaves_no_part_and_no_lease() -> None:
    store = Breakable()
    sender = publisher(store)
    sender.put(sample(1.0))
    assert until(lambda: store.clusters() == ["a"])
    assert [p.id for p in store.parts()] == ["agent:a"]
    sender.close()
    assert store.parts() == []
    assert store.lease("cluster:a") is None


def test_while_the_store_is_away_the_oldest_are_dropped_and_counted() -> None:
    store = Breakable()
    store.away.set()
    sender = publisher(store, limit=3)
    began = time.monotonic()
    for i in range(5):
        sender.put(sample(float(i + 1)))
    assert time.monotonic() - began < 0.5  # the job does not wait
    assert until(lambda: store.refused)
    store.away.clear()
    assert until(lambda: len(store.samples("a", 0, 99)) == 3)
    assert [s.at for s in store.samples("a", 0, 99)] == [3.0, 4.0, 5.0]
    assert store.latest()[0].cluster.dropped_samples == 2
    sender.close()


def test_a_second_application_of_the_same_name_waits() -> None:
    store = Breakable()
    first = publisher(store, holder="first")
    assert until(lambda: store.lease("cluster:a") is not None)
    second = publisher(store, holder="second")
    second.put(sample(1.0))
    assert until(lambda: "second" in store.asked)
    assert store.clusters() == []
    first.close()
    assert until(lambda: store.clusters() == ["a"])
    second.close()
