"""One value in Redis that cannot be read stops nobody, hides nothing beside it, and is shown.

The suite changes a few hundred values. For a long run:

    WEIR_MUTATIONS=4000 python -m pytest tests/contract/test_mutations.py
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from tests.support import people
from tests.support.given import given_mode
from tests.support.loops import run
from tests.support.mutations import Mutations
from tests.support.proposals import advance, propose
from tests.support.world import narrow, wide
from weir.components.live.delta import start
from weir.components.live.health import health_json
from weir.components.live.hub import Hub
from weir.components.pages.registry import PAGES
from weir.controllers.engine.apply.moves import MoveState
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Part, Placement, Rebalance, Tier, Workload
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now
from weir.controllers.engine.propose.outlook import outlook
from weir.controllers.engine.propose.scaling import scale_by_hand, scale_group
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import Command, ScaleTo
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import Fenced
from weir.controllers.model.failover import Death
from weir.controllers.model.hosting import HostOrder, HostState
from weir.controllers.model.placement import cluster_lease, operator_lease
from weir.controllers.model.sample import Mode
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.agent.commands import CommandRunner
from weir.metrics.runs.recorder import Recorder
from weir.metrics.store import keys
from weir.metrics.store.redis_store import RedisStore, connect
from weir.pipeline.engine.pace import Pace
from weir.pipeline.engine.process import Engine
from weir.pipeline.engine.views import Views
from weir.pipeline.local.redis_server import RedisServer

MUTATIONS = int(os.environ.get("WEIR_MUTATIONS", "80"))
SEED = int(os.environ.get("WEIR_SEED", "1"))
HOLDER = "agent/1"
PATHS = ("/", "/cluster/wide", "/operator/top_n", "/balance", "/scale/wide", "/recommendations")

# Of these nobody here reads a word: tests of their own look at them.
ELSEWHERE = (
    "aside",
    "edge",
    "topics",
    "ranking",
    "spells",
    "sightings",
    "session",
    "sessions",
    "link",
    "links",
    "failures",
)


class Watched(RedisStore):
    """A store that remembers what nobody expected."""

    def __init__(self, url: str) -> None:
        super().__init__(connect(url))
        self.faults: list[tuple[str, Exception]] = []

    def note_fault(self, where: str, error: Exception) -> None:
        if not _no_place(error):
            self.faults.append((where, error))
        super().note_fault(where, error)


def _no_place(error: Exception) -> bool:
    """Redis refuses to write: the key holds another type, or what it should count is no number."""
    said = ("WRONGTYPE", "not an integer", "last possible", "would overflow", "equal or smaller")
    return isinstance(error, ResponseError) and any(s in str(error) for s in said)


class Every(Pace):
    """It is time once in a given number of looks."""

    def __init__(self, looks: int) -> None:
        super().__init__(0.0)
        self._looks, self._count = looks, 0

    def due(self, now: float) -> bool:
        self._count += 1
        return self._count % self._looks == 0


def report(store: RedisStore) -> None:
    now = time.time()
    for sample in (wide(now), narrow(now, 3)):
        store.append(sample)


def populate(store: RedisStore) -> None:
    """Something of every key that the four readers look at."""
    store.client.flushall()
    now = time.time()
    for i in range(8):
        for sample in (wide(now - 20 + 2 * i), narrow(now - 20 + 2 * i, i)):
            store.append(sample)
            store.append(sample, Tier.MINUTE)
    for operator, cluster in (
        ("extractor", "wide"),
        ("topic_count", "narrow"),
        ("top_n", "narrow"),
    ):
        store.place(Placement(operator=operator, cluster=cluster))
        store.set_last_commit(operator, now - 1)
        store.acquire(operator_lease(operator), HOLDER, 3600.0)
    for cluster in ("wide", "narrow"):
        store.acquire(cluster_lease(cluster), HOLDER, 3600.0)
        store.beat(Part(id=f"host:{cluster}", kind="host", name=cluster, at=now))
        given_mode(store, cluster, Mode.APPROVE)
        store.save_settings(scale_group(cluster), {"scaler": "thresholds"}, "ada", now)
    store.save_settings(ENGINE, {"ttl_s": 200.0}, "ada", now)
    store.set_workload(Workload(name="tweets", rows_per_s=200.0))
    for i in range(3):
        store.submit(
            Command(id=f"c{i}", cluster="wide", action=ScaleTo(executors=3 + i), issued_at=now + i,
                    expires_at=now + 36000)
        )  # fmt: skip
    propose(store, "wide", 5)
    advance(store, propose(store, "wide", 4), Status.REJECTED, by="ada")
    snapshot = Snapshot.of(store.latest(), now)
    store.beat(Part(id="engine:0", kind="engine", name="leader", at=now))
    people.propose_by_hand(store, scale_by_hand(snapshot, "narrow", 2), by="ada", now=now)
    move = Move(operator="top_n", source="narrow", target="wide")
    store.save_rebalance(Rebalance(id="r1", at=now, moves=(MoveState(move=move),), by="ada"))
    order = HostOrder(cluster="extra", wanted=HostState.RUNNING, at=now, by="ada")
    assert store.change_host_order(
        None, order, AuditEntry(at=now, by="ada", action="cluster.added")
    )
    slices = Slicing.even("topic_count", 2)
    assert store.slice_if(slices, seen=None)
    store.save_reslicing(
        Reslicing(id="s1", at=now, operator="topic_count", was=slices.owners, owners=slices.owners)
    )


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Watched]:
    found = Watched(redis_server.url)
    populate(found)
    yield found
    found.client.close()


@pytest.fixture
def engine(store: Watched) -> Engine:
    found = Engine(store)
    found._decide, found._plan = Every(1), Every(4)
    for _ in range(4):
        found.cycle(time.time())
    now = time.time()  # what the planning process will answer
    problem = problem_now(Snapshot.of(store.latest(), now), {}, BalanceSettings())
    store.save_outlook(outlook(problem, now, wait="", chosen="milp", auto=False))
    store.save_deaths([Death(cluster="gone", at=now - 60, noticed_at=now - 55, lost=("top_n",))])
    return found


def run_through(store: Watched, look: Callable[[], None], among: str = "weir:*") -> Counter[str]:
    """Change a value, let somebody look, put it back; what escaped, by its first line."""
    mutations, choice = Mutations(store.client, SEED), random.Random(SEED)
    escaped: Counter[str] = Counter()
    for _ in range(MUTATIONS):
        report(store)
        key = choice.choice(sorted(store.client.keys(among)))
        undo = mutations.change(key)
        try:
            look()
        except Fenced:  # its lease was the value; the next cycle gets it back
            continue
        except Exception as error:
            if not _no_place(error):
                escaped[f"{key!r}: {type(error).__name__}: {str(error)[:120]}"] += 1
        finally:
            undo()
    for where, fault in store.faults:
        escaped[f"{where}: {type(fault).__name__}: {str(fault)[:120]}"] += 1
    return escaped


def test_every_key_is_in_the_populated_store(store: Watched, engine: Engine) -> None:
    named = [
        line.split("|")[1].strip()
        for line in (keys.__doc__ or "").splitlines()
        if "| weir:" in line
    ]
    wanted = {n.split("{")[0].rstrip(":") for n in named}
    wanted -= {w for w in wanted if w.split(":")[1] in ELSEWHERE}
    there = [k.decode() for k in store.client.keys("*")]
    assert [w for w in sorted(wanted) if not any(k.startswith(w) for k in there)] == []


def test_the_engine(store: Watched, engine: Engine) -> None:
    def look() -> None:
        engine._views = Views()
        engine._rolled_at = engine._trimmed_at = 0.0
        engine.cycle(time.time())

    assert run_through(store, look) == Counter()
    assert store.skipped()
    report(store)
    before = time.time()
    look()  # with everything as it was
    outlooks = store.scale_outlooks()
    assert {name for name, view in outlooks.items() if view.at >= before} == {"narrow", "wide"}


def test_the_readers_of_the_pages(
    store: Watched, engine: Engine, redis_server: RedisServer
) -> None:
    hub = Hub(redis_server.url, store, 5.0, PAGES)

    async def look() -> None:
        import redis.asyncio

        client = redis.asyncio.Redis.from_url(redis_server.url)
        hub._window._read_to.clear()
        for path in PATHS:
            hub.look(path)
        hub._control_reader._seldom_at = float("-inf")
        await hub._read_facts()
        await hub._read_samples(client)
        await client.aclose()
        hub._world = None
        health_json(hub.world())
        for path in PATHS:
            start(PAGES, hub.world(), path)

    def once() -> None:
        run(look())

    assert run_through(store, once) == Counter()
    once()
    world = hub.world()
    assert set(world.series) == {"narrow", "wide"}
    assert store.skipped()


def test_the_recorder(store: Watched, engine: Engine, tmp_path: Path) -> None:
    recorder = Recorder(store, tmp_path)

    def look() -> None:
        recorder.step(time.time())

    assert run_through(store, look) == Counter()
    recorder.flush(time.time())
    assert store.skipped()


def test_an_agent(store: Watched, engine: Engine) -> None:
    done: list[int] = []

    def scale(action: ScaleTo, _report: Callable[[float, str], None]) -> str:
        done.append(action.executors)
        return "done"

    agent = CommandRunner(store, "wide", HOLDER, {ScaleTo: scale})
    count = 0

    def look() -> None:
        nonlocal count
        count += 1
        at = time.time()
        good = Command(id=f"n{count}", cluster="wide", action=ScaleTo(executors=2), issued_at=at,
                       expires_at=at + 3600)  # fmt: skip
        store.submit(good)
        agent.poll()

    assert run_through(store, look, among="weir:command*") == Counter()
    done.clear()
    look()
    assert done[-1:] == [2]
    assert store.skipped()
