"""`weir engine` as a process of its own."""

import os
import signal
import subprocess
import sys

from tests.support.browser import ROOT


class RealEngine:
    """The engine that a user starts, against a Redis of the tests."""

    def __init__(self, url: str) -> None:
        self._argv = [sys.executable, "-m", "weir", "engine", "--redis", url]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RealEngine":
        self._process = subprocess.Popen(self._argv, cwd=ROOT, env=os.environ)
        return self

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=120)
            self._process = None
