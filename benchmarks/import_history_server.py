"""Spark's own History Server from the pip package, on one log, and the memory of processes."""

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import psutil

from weir.pipeline.local.home import SPARK_HOME
from weir.pipeline.local.ports import LOOPBACK, free_port
from weir.pipeline.local.process import end, spawn

PAGES = ("jobs", "stages", "executors")


class NotLoaded(Exception):
    """The server has died or does not answer, mostly because its heap is too small."""


class Peak:
    """The most memory that a process and all below it have held, while the block runs.

    The kernel keeps each process's own peak (VmHWM); they are added up, so for one
    process it is exact and for several an upper bound.
    """

    def __init__(self, pid: int, every_s: float = 0.02) -> None:
        self.bytes = 0
        self._process = psutil.Process(pid)
        self._every_s = every_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.is_set():
            with suppress(psutil.Error):
                tree = [self._process, *self._process.children(recursive=True)]
                self.bytes = max(self.bytes, sum(_high_water(p.pid) for p in tree))
            self._done.wait(self._every_s)


def _high_water(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


class HistoryServer:
    """A server that has listed the application, but not loaded it."""

    def __init__(self, pid: int, port: int, started_at: float) -> None:
        self.pid = pid
        self._base = f"http://{LOOPBACK}:{port}/api/v1/applications"
        self._started_at = started_at

    def ask(self, path: str = "", timeout_s: float = 1500) -> Any:
        """One answer of the REST API."""
        try:
            with urllib.request.urlopen(f"{self._base}{path}", timeout=timeout_s) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise NotLoaded(str(error)) from None

    def load(self, app_id: str) -> tuple[float, float, float, int]:
        """Seconds from the first request, of processors, and from the start; tasks ended."""
        asked_at, worked_s = time.monotonic(), self._worked_s()
        answers = {page: self.ask(f"/{app_id}/{page}") for page in PAGES}
        seen_at = time.monotonic()
        ended = sum(x["totalTasks"] - x["activeTasks"] for x in answers["executors"])
        return seen_at - asked_at, self._worked_s() - worked_s, seen_at - self._started_at, ended

    def _worked_s(self) -> float:
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)


@contextmanager
def history_server(logs: Path, folder: Path, heap: str) -> Iterator[HistoryServer]:
    """A server over a folder of logs, with this heap and all other settings Spark's own."""
    port, started_at = free_port(), time.monotonic()
    options = {
        "spark.history.fs.logDirectory": logs.as_uri(),
        "spark.history.ui.port": port,
        "spark.history.fs.update.interval": "1s",
        "java.io.tmpdir": folder,
    }
    process = spawn(
        [str(SPARK_HOME / "bin/spark-class"), "org.apache.spark.deploy.history.HistoryServer"],
        folder / "history-server.log",
        {
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": heap,
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+ExitOnOutOfMemoryError -XX:-UsePerfData",
            "SPARK_HISTORY_OPTS": " ".join(f"-D{key}={value}" for key, value in options.items()),
        },
    )
    try:
        server = HistoryServer(process.pid, port, started_at)
        while not _listed(server):
            if process.poll() is not None or time.monotonic() - started_at > 300:
                raise NotLoaded("the server did not list the application")
            time.sleep(0.1)
        yield server
    finally:
        end(process)


def _listed(server: HistoryServer) -> bool:
    try:
        return bool(server.ask(timeout_s=10))
    except NotLoaded:
        return False
