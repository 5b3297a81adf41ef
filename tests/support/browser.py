"""Weir's web side and a browser, as the tests of the pages and the benchmarks use them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.support.waiting import PATIENT_MS, wait_until
from weir.components.pages.sign_in.service import SignIn
from weir.components.web.app import gunicorn_argv, web_env
from weir.components.web.security.gate import cookie_name
from weir.components.web.security.settings import SignInSettings
from weir.components.web.security.tokens import new_token
from weir.metrics.store.redis_store import connect
from weir.metrics.store.users import Role, UsersFile
from weir.pipeline.local.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
expect.set_options(timeout=PATIENT_MS)


class WebServer:
    """Weir's web side under gunicorn, with a user and a token of every role.

    The users are called like their roles; their sessions begin when the server does, so
    that tests can open pages while Redis is away.
    """

    def __init__(self, redis_url: str, runs_dir: str | Path = "runs", **sign_in: Any) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._redis_url = redis_url
        self._runs_dir = runs_dir
        self._folder = tempfile.TemporaryDirectory(prefix="weir-users-")
        self.settings = SignInSettings(users=f"{self._folder.name}/users.json", **sign_in)
        self.users = UsersFile(self.settings.users)
        self.people = SignIn(connect(redis_url), self.users, self.settings)
        self.tokens: dict[Role, str] = {}
        self._sessions: dict[Role, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, workers: int = 2) -> "WebServer":
        """Start and wait until it answers."""
        for role in Role:
            if role not in self.tokens:
                self._let_in(role)
        self._process = subprocess.Popen(
            gunicorn_argv("127.0.0.1", self.port, workers),
            env={
                **os.environ,
                **web_env(self._redis_url, runs_dir=self._runs_dir, sign_in=self.settings),
            },
            cwd=ROOT,
        )
        wait_until(lambda: _answers(self.url), 120, "the web server answers")
        return self

    def _let_in(self, role: Role) -> None:
        self.users.add(role, role, time.time())
        self._sessions[role] = self.people.sessions.begin(role, "test", "password")[0]
        self.tokens[role], kept = new_token(role, role, time.time())
        self.users.add_token(kept)

    def cookies(self, role: Role = Role.ADMIN) -> list[Any]:
        """What a browser holds that has signed in, as Playwright takes it."""
        name = cookie_name(self._redis_url)
        return [{"name": name, "value": self._sessions[role], "url": self.url}]

    def api(self, role: Role = Role.ADMIN) -> httpx.Client:
        """The HTTP API and the pages, as a program with a token sees them."""
        headers = {"authorization": f"Bearer {self.tokens[role]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def get(self, path: str, role: Role = Role.ADMIN) -> httpx.Response:
        """One answer to a program with a token."""
        with self.api(role) as client:
            return client.get(path)

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
            self._process.wait(timeout=120)
            self._process = None


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=10).status_code in (200, 503)
    except httpx.HTTPError:
        return False


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
        page.set_default_timeout(PATIENT_MS)
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
        wait_until(lambda: self.drawn() >= target, timeout_s, f"{more} more reports drawn")
