"""`weir engine` as a process of its own."""

import signal
import subprocess

from tests.support.processes import start, stop, weir


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
