"""One Redis, one web server with two workers and one browser for all tests of the pages."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from components.web import gunicorn_argv, web_env
from metrics.redis_store import RedisStore
from tests.support.feeder import Feeder
from tests.support.redis_server import RedisServer, free_port

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


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def store(redis_server: RedisServer) -> RedisStore:
    return RedisStore.at(redis_server.url)


@pytest.fixture(scope="session")
def feeder(redis_server: RedisServer) -> Iterator[Feeder]:
    """Two clusters that report every second."""
    feeder = Feeder(redis_server.url, period_s=1.0)
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture(scope="session")
def web(redis_server: RedisServer, feeder: Feeder) -> Iterator[WebServer]:
    server = WebServer(redis_server.url).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


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


@pytest.fixture
def open_tab(browser: Browser, web: WebServer) -> Iterator[Callable[..., Tab]]:
    """Opens an address in a fresh profile."""
    contexts = []

    def open_(path: str = "/", *, width: int = 1440, theme: str = "light", block_ws: bool = False) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme  # type: ignore[arg-type]
        )
        if block_ws:  # a proxy that knows no WebSockets
            context.add_init_script("delete window.SharedWorker; delete window.WebSocket;")
        contexts.append(context)
        tab = Tab(context.new_page())
        tab.page.goto(web.url + path)
        return tab

    yield open_
    for context in contexts:
        context.close()
