"""Reports like those of real agents, written into a real Redis in real time.

By default the shape of the demo: cluster "wide" with the operator "extractor",
cluster "narrow" with "topic_count" and "top_n". With N clusters x M operators it
makes load for benchmarks. The figures follow a small model: what arrives beyond
the capacity waits in the queue, and latency grows with it.

    python -m tests.support.feeder --redis redis://127.0.0.1:6379/0 --minutes 5
"""

import argparse
import math
import random
import threading
import time
import uuid
from collections.abc import Sequence

import redis

from tests.support.models import ClusterModel, OperatorModel, demo, many, sample_of
from tests.support.scalers import Asker
from weir.controllers.engine.ports import Lease, Part, Placement, Workload
from weir.controllers.model.placement import operator_lease
from weir.metrics.store.redis_store import RedisStore


class Hosts:
    """Lets operators follow their placement, as real hosts do: let go, a pause, resume."""

    PAUSE_S = 1.6
    LEASE_S = 5.0
    LOOK_EVERY_S = 0.2

    def __init__(self, store: RedisStore, models: Sequence[ClusterModel]) -> None:
        self._store = store
        self._models = {m.name: m for m in models}
        self._leases: dict[str, Lease] = {}
        self._travelling: dict[str, tuple[float, OperatorModel]] = {}
        self._looked_at = 0.0

    def step(self, now: float) -> None:
        """Hold leases, place what is placed nowhere, and bring about changed placements."""
        if now - self._looked_at < self.LOOK_EVERY_S:
            return
        self._looked_at = now
        placed = self._store.placements()
        for model in self._models.values():
            for operator in list(model.operators):
                if operator.name not in placed:
                    self._store.place(Placement(operator=operator.name, cluster=model.name))
                elif placed[operator.name].cluster != model.name:
                    self._let_go(model, operator, now)
                    continue
                self._hold(model, operator)
        for name, (since, operator) in list(self._travelling.items()):
            if now - since >= self.PAUSE_S:
                self._resume(self._models[placed[name].cluster], operator, since, now)

    def _hold(self, model: ClusterModel, operator: OperatorModel) -> None:
        name = operator_lease(operator.name)
        lease = self._store.acquire(name, f"{model.app_id}/1", self.LEASE_S)
        if lease is not None:
            self._leases[operator.name] = lease

    def _let_go(self, model: ClusterModel, operator: OperatorModel, now: float) -> None:
        model.operators.remove(operator)
        if operator.name in self._leases:
            self._store.release(self._leases.pop(operator.name))
        self._travelling[operator.name] = (now, operator)

    def _resume(
        self, model: ClusterModel, operator: OperatorModel, since: float, now: float
    ) -> None:
        del self._travelling[operator.name]
        operator.run_id = uuid.uuid4().hex
        operator.first_batch_at, operator.pause_s = now, now - since
        operator.queue_rows += operator.arrival_rows_per_s * operator.pause_s
        model.operators.append(operator)
        self._hold(model, operator)


class Feeder:
    """Writes the reports of several clusters, with the beats of engine, hosts and generator."""

    def __init__(
        self,
        redis_url: str,
        models: Sequence[ClusterModel] | None = None,
        *,
        period_s: float = 2.0,
        rate_rows_per_s: float = 400.0,
        wave: float = 0.3,  # how far the rate swings around that
        seed: int = 7,
        obeys: bool = False,
        asks: bool = False,
        engine: bool = True,
    ) -> None:
        """`obeys`: operators move where they are placed; the engine is then a real one.

        `engine`: give the engine's signs of life too, as none runs.
        `asks`: the scalers are asked each second, as an engine does.
        """
        self.store = RedisStore.at(redis_url)
        self.models = list(demo() if models is None else models)
        self.period_s = period_s
        self._rate = rate_rows_per_s
        self._wave = wave
        self._rng = random.Random(seed)
        self._hosts = Hosts(self.store, self.models) if obeys else None
        self._asker = Asker(self.store) if asks else None
        self._engine = engine and not obeys
        self._due: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def history(self, minutes: float) -> None:
        """Fill the past, so that charts are not empty at first."""
        self._due = self._by_turns(time.time() - minutes * 60)
        while self._next_at() < time.time():  # to write it takes time too
            for model in self.models:
                at = self._due[model.name]
                if at > time.time():
                    continue
                wave = 1 + self._wave * math.sin(at / 90 + model.phase)
                self.store.append(sample_of(model, self._rate * wave, at, self.period_s, self._rng))
                self._due[model.name] += self.period_s

    def _next_at(self) -> float:
        return min(self._due.values(), default=0.0 if self.models else math.inf)

    def _by_turns(self, since: float) -> dict[str, float]:
        """When each cluster reports next: not all at once."""
        step_s = self.period_s / max(len(self.models), 1)
        return {model.name: since + i * step_s for i, model in enumerate(self.models)}

    def start(self, *, parts: bool = True) -> "Feeder":
        """Go on in a thread until stopped; survives a Redis that is away."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(parts,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Fall silent, as if the agents had died."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=120)
            self._thread = None

    def _run(self, parts: bool) -> None:
        ensured = False
        if self._next_at() < time.time() - self.period_s:  # it was silent for a while
            self._due = self._by_turns(time.time())
        due = self._due
        beat_at = 0.0
        while not self._stop.wait(0.05):
            now = time.time()
            try:
                if parts and not ensured:
                    if not self.store.workloads():
                        self.store.set_workload(Workload(name="tweets", rows_per_s=self._rate))
                    ensured = True
                if parts and now - beat_at >= 1.0:
                    beat_at = now
                    self._beat(now)
                if self._hosts:
                    self._hosts.step(now)
                if self._asker:
                    self._asker.step(now)
                for model in self.models:
                    if now >= due[model.name]:
                        due[model.name] += self.period_s
                        self._report(model, now, parts)
            except redis.exceptions.RedisError:
                ensured = False

    def _report(self, model: ClusterModel, now: float, steered: bool) -> None:
        rate = self._rate
        if steered:
            found = next(iter(self.store.workloads()), None)
            rate = 0.0 if found and found.paused else found.rows_per_s if found else rate
        wave = 1 + self._wave * math.sin(now / 90 + model.phase)
        self.store.append(sample_of(model, rate * wave, now, self.period_s, self._rng))

    def _beat(self, now: float) -> None:
        if self._engine:
            self.store.beat(Part(id="engine", kind="engine", name="engine", at=now))
        self.store.beat(Part(id="generator:tweets", kind="generator", name="tweets", at=now))
        for model in self.models:
            self.store.beat(Part(id=f"host:{model.name}", kind="host", name=model.name, at=now))


def main() -> None:
    """Feed until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--clusters", type=int, default=0, help="0: the demo's two")
    parser.add_argument("--operators", type=int, default=3)
    parser.add_argument("--period", type=float, default=2.0)
    parser.add_argument("--minutes", type=float, default=0.0, help="of history to begin with")
    parser.add_argument("--no-engine", action="store_true", help="a real engine runs beside it")
    options = parser.parse_args()
    models = many(options.clusters, options.operators) if options.clusters else demo()
    feeder = Feeder(options.redis, models, period_s=options.period, engine=not options.no_engine)
    feeder.history(options.minutes)
    feeder.start()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        feeder.stop()


if __name__ == "__main__":
    main()
