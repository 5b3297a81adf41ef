"""Keeps the parts of a one-machine Weir running: starts, watches, restarts, stops."""

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weir.pipeline.local.process import end, spawn

BACK_OFF_S = (0.5, 1.0, 2.0, 5.0, 10.0)
HEALTHY_S = 30.0


@dataclass
class Child:
    """One process that should always run. `ready` tells when it can be used."""

    name: str
    argv: Sequence[str]
    log_file: Path
    ready: Callable[[], bool] = lambda: True
    env: dict[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    failures: int = 0
    next_try: float = 0.0

    def start(self) -> None:
        """Start it now."""
        self.process = spawn(self.argv, self.log_file, self.env)
        self.started_at = time.monotonic()

    def watch(self) -> str | None:
        """Start it again if it died, waiting longer each time; says so in a sentence."""
        now = time.monotonic()
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                if self.failures and now - self.started_at > HEALTHY_S:
                    self.failures = 0
                return None
            end(self.process)
            self.process = None
            wait_s = BACK_OFF_S[min(self.failures, len(BACK_OFF_S) - 1)]
            self.failures += 1
            self.next_try = now + wait_s
            return f"{self.name} has ended (code {code}); starting it again in {wait_s:g} s"
        if now >= self.next_try:
            self.start()
            return f"{self.name} is starting again"
        return None

    def stop(self) -> None:
        """Stop it and wait until it has gone."""
        if self.process is not None:
            end(self.process)
            self.process = None
