"""Slices on real Spark: key groups change owners while rows arrive, whoever dies on the way.

One host of our own beside the shared system: the example's operator, whose rows this file
makes itself, so that every count is known.
"""

import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from examples.sliced_operator import COUNTS, GROUPS, VISITS
from tests.support.long import only_long
from tests.support.processes import start, stop, weir
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.slicing import Slicing
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import cut_by_shard
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.local.process import scratch

PLACE = 6
pytestmark = only_long("ten minutes, and an engine killed at its first step has failed once")

KEYS = 500
NAME = "visit_count"
Change = Callable[[Slicing], Slicing]

split: Change = lambda s: s.split(max(s.slices, key=lambda n: len(s.groups_of(n))))  # noqa: E731
merge: Change = lambda s: s.merged(s.slices[-1], s.slices[0])  # noqa: E731
join: Change = Slicing.joined
hand: Change = lambda s: s.handed(s.groups_of(s.slices[0])[-1:], s.slices[0], s.slices[-1])  # noqa: E731


class Sliced:
    """The host with the slices, and the rows that they count."""

    def __init__(self, system: System, folder: Path) -> None:
        self.system, self.folder = system, folder
        self.store = system.store
        client = connect(system.redis_url)
        self.visits, self.counts = EdgeStream(client, VISITS, GROUPS), EdgeStream(client, COUNTS, 1)
        self.rows = 0
        self._over = threading.Event()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self.host = self.started()

    def started(self) -> "subprocess.Popen[bytes]":
        argv = [
            "host", "sliced", "--master", self.system.master,
            "--redis", self.system.redis_url, "--operators", "examples.sliced_operator",
            "--place", NAME, "--period", "1", "--checkpoints", str(self.folder / "checkpoints"),
            "--local-dir", str(self.folder / "local"),
        ]  # fmt: skip
        return start(weir(*argv), self.folder / "host.log", scratch(self.folder))

    def feed(self) -> None:
        self._feeder.start()

    def _feed(self) -> None:
        batch = 0
        while not self._over.wait(0.2):
            names = [f"user-{(self.rows + i) % KEYS}" for i in range(40)]
            rows = pa.record_batch({"user": names, "at": [time.time()] * len(names)})
            self.visits.append("test", batch, cut_by_shard(rows, GROUPS, "user"))
            batch, self.rows = batch + 1, self.rows + len(names)

    def close(self) -> None:
        self._over.set()
        if self._feeder.is_alive():
            self._feeder.join()
        stop(self.host)

    @property
    def slicing(self) -> Slicing:
        return self.store.slicings()[NAME]

    def ask(self, change: Change) -> Reslicing:
        before = self.slicing
        after = change(before)
        new = {name: "sliced" for name in after.slices if name not in before.owners}
        asked = Reslicing(
            id=uuid.uuid4().hex, at=time.time(), operator=NAME, was=before.owners,
            owners=after.owners, clusters=new, by="test",
        )  # fmt: skip
        self.store.save_reslicing(asked)
        return asked

    def state(self, asked: Reslicing) -> Reslicing:
        return next(r for r in self.store.reslicings() if r.id == asked.id)

    def ended(self, asked: Reslicing) -> Reslicing:
        return wait_until(lambda: (s := self.state(asked)).final and s, 300, "it has ended")

    def check_running(self) -> None:
        """Every slice runs once, under its lease, and nothing else of the operator does."""
        names = set(self.slicing.slices)
        assert not self.slicing.held
        wait_until(
            lambda: (
                {
                    o.name: o.key_groups
                    for o in self.system.snapshot().operators
                    if o.slice_of == NAME and o.status == "running"
                }
                == {name: self.slicing.groups_of(name) for name in names}
            ),
            120,
            "the slices run",
        )
        for index in range(8):
            name = f"{NAME}.{index}"
            assert (self.store.lease(operator_lease(name)) is not None) == (name in names)

    def check_counts(self) -> None:
        """After all that was done nothing is missing and nothing was written twice."""
        self._over.set()
        self._feeder.join()
        expected = Counter(f"user-{i % KEYS}" for i in range(self.rows))
        found: dict[str, int] = {}
        written: list[tuple[str, int]] = []

        def all_there() -> bool:
            written.clear()
            for batch in self.counts.read(0, 0, self.counts.ends()["0"]):
                written.extend(zip(batch["user"].to_pylist(), batch["n"].to_pylist(), strict=True))
            found.clear()
            for user, n in written:
                found[user] = max(n, found.get(user, 0))
            return sum(found.values()) >= self.rows

        with suppress(AssertionError):
            wait_until(all_there, 120, "every row is counted")
        assert found == expected
        twice = [pair for pair, times in Counter(written).items() if times > 1]
        assert twice == []


@pytest.fixture(scope="module")
def sliced(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sliced]:
    found = Sliced(system, tmp_path_factory.mktemp("sliced"))
    try:
        wait_until(lambda: NAME in found.store.slicings(), 180, "it has slices")
        found.feed()
        wait_until(
            lambda: all(
                (o := system.snapshot().operator(name)) and o.batch_id
                for name in found.slicing.slices
            ),
            180,
            "its slices have committed",
        )
        yield found
    finally:
        found.close()
        entry = AuditEntry(at=time.time(), by="test", action="cluster.forgotten")
        system.store.forget("sliced", entry)


@pytest.mark.parametrize("change", [split, hand, join, merge])
def test_key_groups_get_other_owners(sliced: Sliced, change: Change) -> None:
    before = sliced.slicing
    done = sliced.ended(sliced.ask(change))
    assert done.step is ResliceStep.DONE, done.message
    assert done.paused_s is not None
    assert sliced.slicing.owners == change(before).owners
    sliced.check_running()


@pytest.mark.parametrize(
    "step",
    [ResliceStep.PLANNED, ResliceStep.HOLDING, ResliceStep.REWRITING, ResliceStep.STARTING],
)
def test_the_engine_dies(sliced: Sliced, step: ResliceStep) -> None:
    asked = sliced.ask(hand)
    wait_until(lambda: sliced.state(asked).step in (step, ResliceStep.DONE), 120, f"it is {step}")
    engine(sliced.system).kill()
    done = sliced.ended(asked)
    assert done.step is ResliceStep.DONE, done.message
    sliced.check_running()


@pytest.mark.parametrize("step", [ResliceStep.HOLDING, ResliceStep.REWRITING, ResliceStep.STARTING])
def test_the_host_dies(sliced: Sliced, step: ResliceStep) -> None:
    before = sliced.slicing
    asked = sliced.ask(hand)
    wait_until(lambda: sliced.state(asked).step in (step, ResliceStep.DONE), 120, f"it is {step}")
    sliced.host.kill()
    sliced.host.wait()
    sliced.host = sliced.started()
    outcome = sliced.ended(asked)
    assert outcome.step in (ResliceStep.DONE, ResliceStep.RETURNED), outcome.message
    same = sliced.slicing.owners == before.owners
    assert same == (outcome.step is ResliceStep.RETURNED)
    sliced.check_running()


def test_nothing_was_lost_or_counted_twice(sliced: Sliced) -> None:
    sliced.check_counts()


def engine(system: System) -> psutil.Process:
    return next(p for p in system.children("engine") if "-m weir" in " ".join(p.cmdline()))
