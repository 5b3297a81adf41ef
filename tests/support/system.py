"""The whole product, started as a user starts it, for the tests that need all of it."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from controllers.model.snapshot import Operator, Snapshot
from metrics.redis_store import RedisStore
from pipeline.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait for a true value and return it; whatever it raises meanwhile counts as not yet."""
    deadline = time.monotonic() + seconds
    last: Exception | None = None
    while time.monotonic() < deadline:
        try:
            found = condition()
            if found:
                return found
        except (OSError, LookupError, ValueError, TypeError, AttributeError) as error:
            last = error
        except Exception as error:
            if type(error).__module__.split(".")[0] != "redis":
                raise
            last = error
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds:.0f} s: {what} ({last})")


class System:
    """`python app.py`, its address, its store and its processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log_file = folder / "output.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "--port", str(self.port)],
                cwd=ROOT,
                env={**os.environ, "TMPDIR": str(folder)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            wait_until(self._live, 240, "everything is live")
        except AssertionError:
            self.stop()
            raise AssertionError(self.log_file.read_text()) from None
        self.redis_url = f"redis://{self.health()['redis']['address']}/0"
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
        return "Weir is live" in self.log_file.read_text()

    def get(self, path: str) -> Any:
        """A JSON answer of the web server."""
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return json.load(answer)

    def health(self) -> dict[str, Any]:
        """What /health says, also when it says 503."""
        try:
            found: dict[str, Any] = self.get("/health")
        except urllib.error.HTTPError as error:
            found = json.load(error)
        return found

    def snapshot(self) -> Snapshot:
        """The present, from the store."""
        return Snapshot.of(self.store.latest(), time.time())

    def operator(self, name: str) -> Operator:
        """One operator now."""
        found = self.snapshot().operator(name)
        if found is None:
            raise LookupError(f"no operator {name}")
        return found

    def command(self, *args: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run one of app.py's commands against this system."""
        return subprocess.run(
            [sys.executable, "app.py", *args, "--redis", self.redis_url],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout_s,
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
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(90)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
