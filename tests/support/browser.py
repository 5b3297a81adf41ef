"""Weir's web side and a browser, as the tests of the pages and the benchmarks use them."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from tests.support.processes import last_lines, start, stop
from tests.support.waiting import PATIENT_MS, wait_until
from weir.components.pages.sign_in.service import SignIn
from weir.components.web.app import gunicorn_argv, web_env
from weir.components.web.security.gate import cookie_name
from weir.components.web.security.settings import SignInSettings
from weir.components.web.security.tokens import new_token
from weir.metrics.store.redis_store import connect
from weir.metrics.store.users import Role, UsersFile
from weir.pipeline.local.ports import free_port

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
        self._log_file = Path(self._folder.name) / "web.log"
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
        self._process = start(
            gunicorn_argv("127.0.0.1", self.port, workers),
            self._log_file,
            web_env(self._redis_url, runs_dir=self._runs_dir, sign_in=self.settings),
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
            stop(self._process)
            self._process = None

    def last_lines(self) -> str:
        """The end of its log."""
        return last_lines(self._log_file)


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


class Profiles:
    """Profiles of a browser, kept for their cache: nobody has one while another test does.

    What scripts and styles cost to fetch and to compile is paid once per kind of profile. What
    a page has stored is forgotten before the next test gets the profile.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[tuple[Any, ...], list[BrowserContext]] = {}
        self._taken: list[tuple[tuple[Any, ...] | None, BrowserContext]] = []

    def tab(
        self,
        cookies: list[Any],
        *,
        width: int = 1440,
        theme: str = "light",
        block_ws: bool = False,
    ) -> "Tab":
        """An empty tab in a profile that has these cookies and nothing else."""
        kind = None if block_ws else (width, theme)
        free = self._free.get(kind, []) if kind else []
        context = free.pop() if free else self._new(width, theme)
        self._taken.append((kind, context))
        if cookies:
            context.add_cookies(cookies)
        if block_ws:  # a proxy that knows no WebSockets
            context.add_init_script("delete window.SharedWorker; delete window.WebSocket;")
        return Tab(context.new_page())

    def give_back(self) -> None:
        """The test is over: close its tabs, and forget who it was and what it stored."""
        while self._taken:
            kind, context = self._taken.pop()
            if kind is None:
                context.close()
                continue
            for page in context.pages:
                if page.url.startswith("http"):
                    page.evaluate("localStorage.clear()")
                page.close()
            context.clear_cookies()
            self._free.setdefault(kind, []).append(context)

    def close(self) -> None:
        """Close them all."""
        for contexts in self._free.values():
            for context in contexts:
                context.close()

    def _new(self, width: int, theme: Any) -> BrowserContext:
        return self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme
        )


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

    def described(self, folder: Path) -> str:
        """Its address, the last errors on its console, and where a picture of it lies."""
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / f"{time.time():.3f}.png"
        self.page.screenshot(path=picture, timeout=20_000)
        errors = "".join(f"\n  console: {text[:300]}" for text in self.errors[-5:])
        return f"{self.page.url}: picture in {picture}{errors}"
