"""`weir engine` as a process of its own, and what it has done."""

import signal
import subprocess

from tests.support.processes import start, stop, weir
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.recommendation import Status
from weir.metrics.store.redis_store import RedisStore


class RealEngine:
    """The engine that a user starts, against a Redis of the tests."""

    def __init__(self, url: str) -> None:
        self._argv = weir("engine", "--redis", url)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RealEngine":
        self._process = start(self._argv)
        return self

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self._process is not None:
            stop(self._process, number)
            self._process = None


def looked_anew(store: RedisStore) -> None:
    """The engine has begun and ended a cycle since."""
    for _ in range(2):
        at = _looked_at(store)
        wait_until(lambda at=at: _looked_at(store) > at, 20, "the engine looks")  # type: ignore[misc]


def _looked_at(store: RedisStore) -> float:
    view = store.outlook()
    return view.at if view else 0.0


def all_still(store: RedisStore) -> bool:
    """Nothing is under way."""
    coming = (Status.APPROVED, Status.APPLYING)
    return all(m.step.final for r in store.rebalances() for m in r.moves) and not any(
        r.status in coming for r in store.recommendations()
    )


def made_since(store: RedisStore, known: int) -> Rebalance:
    """The rebalance that the engine begins next."""
    wait_until(lambda: len(store.rebalances()) > known, 20, "the engine begins")
    return store.rebalances()[0]


def seen(store: RedisStore) -> dict[str, str]:
    """Where operators were when the engine looked last."""
    view = store.outlook()
    return view.problem.placement if view else {}


def running_in(store: RedisStore) -> dict[str, str]:
    """Where operators report."""
    return {o.name: s.cluster.name for s in store.latest() for o in s.operators}
