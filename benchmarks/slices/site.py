"""A fleet whose operators are those of `operators.py`, fed with rows whose counts are known."""

import shutil
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pyarrow as pa

from benchmarks.slices.operators import counts_of, rows_of
from tests.support.fleet import Fleet
from tests.support.processes import last_lines
from tests.support.waiting import wait_until
from weir.controllers.engine.ports import Placement
from weir.controllers.model.sample import ClusterSample, OperatorStatus
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import cut_by_shard
from weir.pipeline.edges.stream import EdgeStream

TICK_S = 0.1


class Source:
    """Appends rows to an operator's input at a rate, from a thread of its own."""

    def __init__(
        self, redis_url: str, name: str, rate: float, pick: Callable[[int, int], Sequence[str]]
    ) -> None:
        """`pick(first, count)`: the keys of rows first, first + 1, ..."""
        self.name, self.rate, self.pick = name, rate, pick
        self.expected: Counter[str] = Counter()
        self.rows = 0
        client = connect(redis_url)
        link, out = rows_of(name), counts_of(name)
        self.edge = EdgeStream(client, link.edge, link.shards)
        self._counts = EdgeStream(client, out.edge, out.shards)
        self.edge.register(name)
        self._writer, self._batch = f"bench-{uuid4()}", 0  # an edge takes no batch twice
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> "Source":
        self._thread.start()
        return self

    def _run(self) -> None:
        due, last = 0.0, time.monotonic()
        while not self._over.wait(TICK_S):
            now = time.monotonic()
            due, last = due + self.rate * (now - last), now
            if count := int(due):
                self.add(self.pick(self.rows, count))
                due -= count

    def add(self, names: Sequence[str]) -> None:
        """These rows at once."""
        with self._lock:
            rows = pa.record_batch({"ts": [time.time()] * len(names), "key": list(names)})
            self.edge.append(self._writer, self._batch, cut_by_shard(rows, self.edge.shards, "key"))
            self._batch += 1
            self.rows += len(names)
            self.expected.update(names)

    @property
    def waiting(self) -> int:
        """Rows that no batch has told of yet: of the newest one the source hears with the next."""
        done = self.edge.committed().get(self.name, {})
        return self.edge.totals()[0] - sum(done.values())

    def stop(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def wrong(self) -> tuple[int, int]:
        """After it was stopped, once all is counted or nothing comes any more: keys with a wrong
        count, and counts that were written twice."""
        written: Counter[tuple[str, int]] = Counter()
        found: dict[str, int] = {}
        at = 0

        def all_counted() -> bool:
            nonlocal at
            end = self._counts.ends()["0"]
            for batch in self._counts.read(0, at, end):
                names, counts = batch["key"].to_pylist(), batch["n"].to_pylist()
                written.update(zip(names, counts, strict=True))
                for key, n in zip(names, counts, strict=True):
                    found[key] = max(n, found.get(key, 0))
            at = end
            return sum(found.values()) >= self.rows

        with suppress(AssertionError):
            wait_until(all_counted, 15, "every row is counted")
        wrong = sum(found.get(key, 0) != n for key, n in self.expected.items())
        strange = len(found.keys() - self.expected.keys())
        return wrong + strange, sum(times > 1 for times in written.values())


@contextmanager
def site(
    place: dict[str, str], *host: object, names: str, costs: str = "", trigger_s: float = 2.0
) -> Iterator[Fleet]:
    """Clusters with those operators, gone after the block; logs are shown if it fails."""
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    words = (
        "--operators", "benchmarks.slices.operators", "--set", f"names={names}",
        "--set", f"costs={costs}", "--set", f"trigger_s={trigger_s:g}", *host,
    )  # fmt: skip
    fleet: Fleet | None = None
    try:
        fleet = Fleet(folder, place, None, words)
        yield fleet
    except BaseException:
        for log in sorted(folder.glob("*.log")):
            print(f"-- {log.name}\n{last_lines(log, 15)}", flush=True)
        raise
    finally:
        if fleet is not None:
            fleet.close()
        shutil.rmtree(folder, ignore_errors=True)


def slices_of(fleet: Fleet, name: str) -> tuple[str, ...]:
    """What runs of an operator: its slices, or itself."""
    slicing = fleet.store.slicings().get(name)
    return slicing.slices if slicing else (name,)


def run(fleet: Fleet, name: str, *clusters: str) -> None:
    """Run an operator, its slices dealt to these clusters in turn, and wait for each."""
    slices = slices_of(fleet, name)
    for i, one in enumerate(slices):
        fleet.store.place(Placement(operator=one, cluster=clusters[i % len(clusters)]))

    def all_run() -> bool:
        found = {o.name: o for o in fleet.snapshot().operators}
        return all(
            one in found
            and found[one].status is OperatorStatus.RUNNING
            and found[one].batch_at is not None
            for one in slices
        )

    wait_until(all_run, 40, f"{name} runs and commits")


def halt(fleet: Fleet, name: str) -> None:
    """Stop an operator at a batch boundary, and wait for it."""
    slices = slices_of(fleet, name)
    placed = fleet.store.placements()
    for one in slices:
        fleet.store.place(Placement(operator=one, cluster=placed[one].cluster, wanted="stopped"))
    wait_until(
        lambda: all(
            o.status is OperatorStatus.STOPPED
            for o in fleet.snapshot().operators
            if o.name in slices
        ),
        30,
        f"{name} has stopped",
    )  # fmt: skip


def samples(fleet: Fleet, cluster: str, since: float) -> list[ClusterSample]:
    """What a cluster has reported since."""
    return list(fleet.store.samples(cluster, since, time.time()))


def loads(fleet: Fleet, seconds: float) -> dict[str, float]:
    """Load per core of every cluster, mean over the last seconds."""
    since = time.time() - seconds
    found = {name: samples(fleet, name, since) for name in sorted(fleet.hosts)}
    return {name: statistics.fmean(s.load for s in some) for name, some in found.items() if some}


def distance(by_cluster: dict[str, float]) -> float:
    """ALBIC's load distance in points; the clusters are equally large."""
    mean = statistics.fmean(by_cluster.values())
    return 100.0 * max(abs(load - mean) for load in by_cluster.values())


def cpu_s(pid: int) -> float:
    """CPU time of a process and all below it, also of those that have ended."""
    total = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                total += sum(one.cpu_times()[:4])
    return total
