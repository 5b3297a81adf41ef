"""Faults that `benchmarks/chaos.py` draws from: each happens, lasts and is over; all by a seed.

Everything runs in network and mount namespaces of its own, so that a cut network and a full disk
are the demo's alone.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import redis
from msgspec import Struct

from tests.support.system import System
from weir.metrics.store.redis_store import connect

KINDS = {
    "redis": "redis.conf",
    "engine": "weir engine",
    "planning process": "engine.planning",
    "recorder": "weir record",
    "web": "gunicorn",
    "generator": "weir generate",
    "host": "weir host",
    "executor": "CoarseGrainedExecutorBackend",
    "spark worker": "deploy.worker.Worker",
    "spark master": "deploy.master.Master",
}
"""A word of the command line of each kind of process."""
LASTS_S = (2.0, 6.0)


class Fault(Struct, frozen=True):
    """What happens, to what, and for how long (0: at once)."""

    what: str
    to: str = ""
    lasts_s: float = 0.0

    @property
    def words(self) -> str:
        """For people."""
        lasts = f" for {self.lasts_s:.0f} s" if self.lasts_s else ""
        return " ".join(filter(None, (self.what, self.to))) + lasts


def drawn(seed: int) -> Iterator[Fault]:
    """Faults without end: every kind comes before one comes again."""
    choice = random.Random(seed)
    while True:
        deck = [Fault("kill -9", kind) for kind in KINDS]
        deck += [Fault("suspend", kind, choice.uniform(*LASTS_S)) for kind in KINDS]
        deck += [
            Fault(what, "", choice.uniform(*LASTS_S))
            for what in ("Redis's memory full", "network cut", "disk full")
        ]
        choice.shuffle(deck)
        yield from deck


def victims(system: System, kind: str) -> list[psutil.Process]:
    """Processes of a kind that are there now."""
    return [p for p in _below(system) if KINDS[kind] in _words(p)]


@contextmanager
def happening(system: System, fault: Fault, choice: random.Random) -> Iterator[str]:
    """Let it happen; over with the block. What it was done to."""
    if fault.to:
        found = victims(system, fault.to)
        if not found:
            yield "nobody"
            return
        chosen = choice.choice(sorted(found, key=lambda p: p.pid))
        number = signal.SIGKILL if fault.what == "kill -9" else signal.SIGSTOP
        with suppress(psutil.NoSuchProcess):
            chosen.send_signal(number)
        try:
            time.sleep(fault.lasts_s)
            yield f"{fault.to} {chosen.pid}"
        finally:
            if number is signal.SIGSTOP:
                with suppress(psutil.NoSuchProcess):
                    chosen.send_signal(signal.SIGCONT)
        return
    undo = {"Redis's memory full": _memory_full, "network cut": _cut, "disk full": _disk_full}[
        fault.what
    ](system)
    try:
        time.sleep(fault.lasts_s)
        yield fault.what
    finally:
        undo()


def _memory_full(system: System) -> Callable[[], None]:
    with connect(system.redis_url) as client:
        client.config_set("maxmemory", "1mb")

    def undo() -> None:
        with connect(system.redis_url) as again:
            again.config_set("maxmemory", "0")

    return undo


def _cut(_system: System) -> Callable[[], None]:
    _loopback("down")
    return lambda: _loopback("up")


def _loopback(state: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


def _disk_full(system: System) -> Callable[[], None]:
    """Checkpoints, runs, logs and Redis's own file are on this disk."""
    ballast = Path(system.folder) / "ballast"
    with ballast.open("wb") as out, suppress(OSError):
        while True:
            out.write(b"\0" * (1 << 22))
    return lambda: ballast.unlink()


def reaches_redis(url: str) -> bool:
    """Whether Redis answers."""
    with suppress(redis.exceptions.RedisError, OSError), connect(url) as client:
        return bool(client.ping())
    return False


def isolated() -> bool:
    """Whether this process has a network of its own with nothing but a loopback interface."""
    return os.environ.get("WEIR_CHAOS_ALONE") == "yes"


def _below(system: System) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return list(psutil.Process(system.process.pid).children(recursive=True))
    return []


def _words(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
