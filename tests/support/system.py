"""The whole product, started as a user starts it, for the tests that need all of it."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.support.processes import ROOT, last_lines, start, stop, weir
from tests.support.requests import Requests
from tests.support.waiting import wait_until
from tests.support.witnesses import store_state
from weir.commands import control
from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.ports import free_port
from weir.pipeline.local.process import scratch

WHOLE = ("--set", "slices=0")
"""Every operator one query, as most tests name them."""


class System(Requests):
    """`weir`, its address, its store and its processes. Without slices unless told otherwise."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.folder = folder
        self.log_file = folder / "output.log"
        self.runs = folder / "runs"
        self.scratch = folder / "scratch"  # its temporary folder, which it leaves empty
        self.scratch.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = start(
            weir("--port", self.port, "--runs", self.runs, *WHOLE, *args),
            self.log_file,
            {"TMPDIR": str(self.scratch), "WEIR_USERS": "", "WEIR_HOME": str(folder / "home")},
        )
        try:
            wait_until(self._live, 240, "everything is live")
        except AssertionError:
            self.stop()
            raise AssertionError(self.log_file.read_text()) from None
        self._client = self._signed_in()
        self.redis_url = (folder / "home" / "redis").read_text().strip()
        self.store = RedisStore.at(self.redis_url)
        self.master = next(
            arg
            for child in self.children("host")
            for arg in child.cmdline()
            if arg.startswith("spark://")
        )

    def _live(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(self.log_file.read_text())
        return "Ctrl-C stops everything" in self.log_file.read_text()

    def _signed_in(self) -> httpx.Client:
        """The one-time link that was printed, opened as the sign-in page does."""
        link = re.search(r"/sign-in#link=(\S+)", self.log_file.read_text())
        assert link is not None, self.log_file.read_text()
        client = httpx.Client(base_url=self.url, timeout=60)
        client.post("/sign-in/link", json={"link": link[1]}).raise_for_status()
        return client

    def cookies(self) -> list[Any]:
        """What a browser holds that has signed in as admin, as Playwright takes it."""
        found = self._client.cookies.items()
        return [{"name": n, "value": v, "url": self.url} for n, v in found]

    def get(self, path: str) -> Any:
        """A JSON answer of the web server to an admin."""
        try:
            return self.ask(path).raise_for_status().json()
        except httpx.HTTPStatusError as error:
            raise OSError(str(error)) from None

    def snapshot(self) -> Snapshot:
        """The present, from the store."""
        return Snapshot.of(self.store.latest(), time.time())

    def operator(self, name: str) -> OperatorSample:
        """One operator now."""
        found = self.snapshot().operator(name)
        if found is None:
            raise LookupError(f"no operator {name}")
        return found

    def command(self, *args: str, timeout_s: float = 480) -> subprocess.CompletedProcess[str]:
        """Run one of Weir's commands against this system."""
        return subprocess.run(
            weir(*args, "--redis", self.redis_url),
            cwd=ROOT,
            env={**os.environ, "WEIR_USERS": str(self.folder / "users.json")},
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    def rate(self, rows_per_s: float | None = None, *, paused: bool | None = None) -> None:
        """What the generator sends from now on."""
        control.rate(self.store, rows_per_s, None, paused)

    def described(self) -> str:
        """How everything stands: signs of life, clusters, what is open, and the ends of all logs."""
        logs = [self.log_file, *sorted(self.scratch.rglob("*.log"))]
        return "\n".join(
            [store_state(self.store), *(f"-- {log.name}\n{last_lines(log, 8)}" for log in logs)]
        )

    def children(self, word: str) -> list[psutil.Process]:
        """Processes below ours whose command line has this word."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [p for p in found if word in _cmdline(p)]

    def drained(self) -> bool:
        """Nothing waits anywhere and nothing has been committed for a moment."""
        snapshot = self.snapshot()
        return len(snapshot.operators) >= 3 and all(
            o.queue_rows == 0 and o.busy_cores == 0 for o in snapshot.operators if o.reads
        )

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        return stop(self.process, signal.SIGINT)

    def spark_says(self, cluster: str, what: str) -> list[dict[str, Any]]:
        """A list from the REST API of a cluster's own Spark."""
        found = self.snapshot().cluster(cluster)
        assert found is not None
        url = f"{found.ui_url}/api/v1/applications/{found.app_id}/{what}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            said: list[dict[str, Any]] = json.load(answer)
        return said

    def spark_executors(self, cluster: str, what: str = "executors") -> list[dict[str, Any]]:
        """The executors of a cluster, by its own Spark."""
        return [e for e in self.spark_says(cluster, what) if e["id"] != "driver"]


@contextmanager
def running(log_file: Path, *argv: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A program of a user, until the end of the block."""
    environment = {"PYTHONPATH": str(ROOT), **scratch(log_file.parent)}
    process = start([weir()[0], *argv], log_file, environment)
    try:
        yield process
    finally:
        stop(process, signal.SIGINT)


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
