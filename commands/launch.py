"""`launch`: a process that starts and ends hosts as they are ordered."""

import signal
import threading
from pathlib import Path

from redis.exceptions import RedisError

from weir.controllers.engine.ports import Store
from weir.pipeline.local.launcher import LAUNCHER, Launching, TemplateLauncher

STEP_S = 1.0


def run(store: Store, command: str, logs: Path) -> None:
    """Follow the orders until SIGTERM or Ctrl-C; hosts that run then are ended."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    launcher = TemplateLauncher(command, logs)
    launching = Launching(store, launcher)
    while not stop.wait(STEP_S):
        try:
            for said in launching.step():
                print(said, flush=True)
        except (RedisError, OSError) as error:
            print(f"Redis is away: {error}", flush=True)
    store.remove_part(LAUNCHER)
    for name in launcher.names():
        launcher.end(name)
