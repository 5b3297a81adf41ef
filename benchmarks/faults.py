"""Faults that `benchmarks/chaos.py` draws from: each happens, lasts and is over; all by a seed.

Everything runs in network and mount namespaces of its own, so that a cut network and a full disk
are the demo's alone. So is its clock: every process of the demo has `clock.c` in front of the
machine's, which needs a C compiler.
"""

import os
import random
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import redis
from msgspec import Struct

from tests.support.system import System
from tests.support.waiting import wait_until
from weir.metrics.store.redis_store import connect

KINDS = {
    "redis": "redis-server",
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
ELSE = ("Redis's memory full", "network cut", "disk full", "clock ahead", "clock back")
LASTS_S = (2.0, 6.0)
CLOCK_S = 1800.0
"""How far the clock is set ahead or back; reports from a quarter of an hour ago are forgotten."""


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
        deck += [Fault(what, "", choice.uniform(*LASTS_S)) for what in ELSE]
        choice.shuffle(deck)
        yield from deck


def victims(system: System, kind: str) -> list[psutil.Process]:
    """Processes of a kind that are there now."""
    return [p for p in below(system) if KINDS[kind] in words(p)]


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
    begin = {
        "Redis's memory full": _memory_full, "network cut": _cut, "disk full": _disk_full,
        "clock ahead": _clock_ahead, "clock back": _clock_back,
    }[fault.what]  # fmt: skip
    undo = begin(system)
    try:
        time.sleep(fault.lasts_s)
        yield fault.what
    finally:
        undo()


def _memory_full(system: System) -> Callable[[], None]:
    _configure(system, "1mb")
    return lambda: _configure(system, "0")


def _configure(system: System, maxmemory: str) -> None:
    """Redis may still be coming up again after the fault before."""

    def told() -> bool:
        with connect(system.redis_url) as client:
            return bool(client.config_set("maxmemory", maxmemory))

    wait_until(told, 15, "Redis is told how much memory it has")


def _cut(_system: System) -> Callable[[], None]:
    _loopback("down")
    return lambda: _loopback("up")


def _loopback(state: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


def _disk_full(system: System) -> Callable[[], None]:
    """Checkpoints, runs, logs and Redis's own file are on this disk."""
    ballast = Path(system.folder) / "ballast"
    with ballast.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(b"\0" * (1 << 22))
    return lambda: ballast.unlink()


def clock_env(folder: Path) -> dict[str, str]:
    """What gives all processes of the demo a clock that can be set."""
    source, library = Path(__file__).with_name("clock.c"), folder / "clock.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    set_clock(folder, 0.0)
    return {"LD_PRELOAD": str(library), "WEIR_CLOCK": str(folder / "clock")}


def _clock_ahead(system: System) -> Callable[[], None]:
    set_clock(system.folder, CLOCK_S)
    return lambda: set_clock(system.folder, 0.0)


def _clock_back(system: System) -> Callable[[], None]:
    set_clock(system.folder, -CLOCK_S)
    return lambda: set_clock(system.folder, 0.0)


def set_clock(folder: Path, ahead_s: float) -> None:
    """The clock of all processes that were started with `clock_env`."""
    with os.fdopen(os.open(folder / "clock", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(struct.pack("d", ahead_s))


def reaches_redis(url: str) -> bool:
    """Whether Redis answers."""
    with suppress(redis.exceptions.RedisError, OSError), connect(url) as client:
        return bool(client.ping())
    return False


def isolated() -> bool:
    """Whether this process has a network of its own with nothing but a loopback interface."""
    return os.environ.get("WEIR_CHAOS_ALONE") == "yes"


def below(system: System) -> list[psutil.Process]:
    """All processes of the demo but its own."""
    with suppress(psutil.NoSuchProcess):
        return list(psutil.Process(system.process.pid).children(recursive=True))
    return []


def words(process: psutil.Process) -> str:
    """Its command line; empty for one that has gone."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
