"""Weir's web side and a browser, as the tests of the pages and the benchmarks use them."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, Playwright

from components.web import gunicorn_argv, web_env
from pipeline.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


class WebServer:
    """Weir's web side under gunicorn."""

    def __init__(self, redis_url: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._redis_url = redis_url
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "WebServer":
        """Start and wait until it answers."""
        self._process = subprocess.Popen(
            gunicorn_argv("127.0.0.1", self.port, workers=2),
            env={**os.environ, **web_env(self._redis_url)},
            cwd=ROOT,
        )
        wait_for(lambda: _answers(self.url), 30, "the web server answers")
        return self

    def workers(self) -> list[int]:
        """Process ids of the workers."""
        assert self._process is not None
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._process.pid)], capture_output=True, text=True
        )
        return [int(pid) for pid in found.stdout.split()]

    def stop(self) -> None:
        """Stop all of it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=20)
            self._process = None


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2).status_code in (200, 503)
    except httpx.HTTPError:
        return False


def wait_for(condition: Callable[[], object], timeout_s: float, what: str) -> None:
    """Wait until something holds, or fail with its name."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:.0f} s: {what}")
        time.sleep(0.1)


def launch(playwright: Playwright) -> Browser:
    """The system's Chromium, without a window and without a word to anybody."""
    path = next(
        (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))),
        None,
    )
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)


class Tab:
    """A page with what it said on the console and where it sent requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("request", lambda r: self.requests.append(r.url))

    def drawn(self) -> int:
        """How many reports have been drawn since the page was loaded."""
        return int(self.page.evaluate("window.weirDrawn.length"))

    def wait_drawn(self, more: int = 2, timeout_s: float = 15) -> None:
        """Wait for further reports on the charts."""
        target = self.drawn() + more
        wait_for(lambda: self.drawn() >= target, timeout_s, f"{more} more reports drawn")
