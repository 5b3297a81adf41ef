"""The engine's process around the pure core: leading, deciding, handing over, telling."""

import http.server
import threading
from collections import Counter
from typing import Any

import msgspec

from tests.support import people
from tests.support.waiting import wait_until
from tests.unit.controllers.engine.engine_world import World
from weir.controllers.engine.apply.effects import News
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.export.webhook import Notifier
from weir.metrics.store.memory_store import MemoryStore
from weir.pipeline.engine.pace import Pace
from weir.pipeline.engine.process import Engine


def world_without_planning() -> World:
    world = World(a={"count": 1.6}, b={"top": 0.1})
    for place in world.places.values():
        place.hosted = False  # nothing to plan: planners compile for seconds
    world.store.save_settings("engine", {"settle_s": 6.0})
    for name in world.places:
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    world.report()
    return world


def test_a_standby_takes_over_and_finishes_what_was_begun() -> None:
    world = world_without_planning()
    one, two = Engine(world.store), Engine(world.store)
    one.cycle(world.now)
    two.cycle(world.now)
    names = {p.name for p in world.store.parts() if p.kind == "engine"}
    assert names == {"leader", "standby"}
    snapshot = Snapshot.of(world.store.latest(), world.now)
    asked = people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 3), by="ada", now=world.now
    )
    one.cycle(world.now)
    assert world.store.recommendation(asked.id).status is Status.APPLYING
    for _ in range(10):  # one is gone; two goes on
        world.tick()
        two.cycle(world.now)
    assert world.store.recommendation(asked.id).status is Status.EFFECTIVE
    assert world.places["a"].scaled == [asked.id]
    one.cycle(world.now)  # it wakes up
    assert world.places["a"].scaled == [asked.id]


def test_one_that_compiles_for_a_minute_gives_signs_of_life() -> None:
    world = world_without_planning()
    engine = Engine(world.store)
    with engine.getting_ready():
        wait_until(lambda: told(world, engine), 10, "it is there")
        assert told(world, engine) == [("standby", "getting ready")]
    engine.cycle(world.now)
    assert told(world, engine)[0][1] != "getting ready"


def test_reports_are_read_once_in_a_cycle_and_memories_a_few_at_a_time() -> None:
    """Both were asked for again and again: most of a look at a thousand clusters."""
    world = World(**{f"c{i:02}": {f"o{i:02}": 0.5} for i in range(45)})
    for name in world.places:
        world.places[name].hosted = False
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    asked = Counter[str]()
    engine = Engine(Counted(world.store, asked))
    world.report()
    engine.cycle(world.now)
    assert (asked["latest"], asked["all_memories"], asked["memories"]) == (1, 3, 0)
    assert len(world.store.scale_outlooks()) == 45


class Counted:
    """A store that notes what it is asked."""

    def __init__(self, store: MemoryStore, asked: Counter[str]) -> None:
        self._store, self.asked = store, asked

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._store, name)


def told(world: World, engine: Engine) -> list[tuple[str, str]]:
    return [(p.name, p.detail) for p in world.store.parts() if p.id == engine._id]


def test_what_costs_much_is_done_seldom() -> None:
    pace = Pace(2.0)
    assert pace.due(100.0)
    pace.note(100.0, 0.01)
    assert not pace.due(101.9)
    assert pace.due(102.0)
    pace.note(102.0, 2.0)
    assert not pace.due(111.0)
    assert pace.due(112.0)


def test_the_webhook_is_told_once_and_a_dead_one_costs_nothing() -> None:
    told: list[dict[str, object]] = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    news = News(at=1.0, event="recommendation.applied", subject="r1", clusters=("a",), text="done")
    notifier = Notifier()
    notifier.url = f"http://127.0.0.1:{server.server_port}/key"
    notifier.tell(news)
    notifier.tell(news)
    notifier.close()
    server.shutdown()
    server.server_close()
    assert [(n["event"], n["subject"]) for n in told] == [("recommendation.applied", "r1")]
    dead = Notifier()
    dead.url = f"http://127.0.0.1:{server.server_port}/key"
    dead.tell(news)
    dead.close()


def test_the_followed_scaler_answers_each_period_while_the_others_take_turns() -> None:
    world = world_without_planning()
    for name in world.places:
        world.store.save_settings(f"scale:{name}", {"scaler": "thresholds"})
    engine = Engine(world.store)
    engine._shadows.note(["a"], cpu_s=60.0)  # asking all scalers costs far too much
    for _ in range(3):
        world.tick()
        engine.cycle(world.now)
        newest = {sample.cluster.name: sample.at for sample in world.store.latest()}
        for name, outlook in world.store.scale_outlooks().items():
            assert outlook.sample_at == newest[name]
            assert {a.scaler for a in outlook.answers} == {"thresholds"}
    assert "not followed answer every 600 s" in told(world, engine)[0][1]


def test_a_clock_that_is_set_ahead_and_back_does_not_stop_the_engine() -> None:
    world = world_without_planning()
    engine = Engine(world.store)
    engine.cycle(world.now + 3600.0)  # one cycle with the wrong time
    world.tick()
    engine.cycle(world.now)
    assert {o.sample_at for o in world.store.scale_outlooks().values()} == {world.now}
