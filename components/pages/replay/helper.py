"""A process beside each web worker for what takes long: planners, scalers, simulations.

The first plan compiles for seconds and a simulation computes for as long; in the web
worker itself every open page would stand still meanwhile. The process is started when
it is first needed, yields to everything else, and ends with its worker, however that ends.
"""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from weir.controllers.model.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")
NICE = 5


class Helper:
    """Runs one thing after the other; functions are those of a module, arguments plain data."""

    def __init__(self, root: str | Path) -> None:
        self._root = str(root)
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()

    def ask(self, timeout_s: float, function: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """What the function returns or raises; Unavailable if that takes too long."""
        for last in (False, True):
            pool = self._running()
            try:
                return pool.submit(function, *args, **more).result(timeout_s)
            except (BrokenProcessPool, CancelledError):
                self._drop_pool(pool)
                if last:
                    break
            except TimeoutError:
                self._drop_pool(pool)
                break
        raise Unavailable("This takes too long at the moment; try again later.")

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._pool is not None:
                _end(self._pool)
                self._pool = None

    def _running(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    1, get_context("spawn"), _begin, (os.getpid(), self._root)
                )
            return self._pool

    def _drop_pool(self, pool: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is pool:
                self._pool = None
        _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


def _begin(parent: int, root: str) -> None:
    from weir.components.pages.replay import child as replay_child

    os.nice(NICE)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    replay_child.begin(root)


def _follow(parent: int) -> None:
    """A worker that was killed takes its helper along."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)
