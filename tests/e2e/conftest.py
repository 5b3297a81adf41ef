"""Redis, a web server with two workers and a browser, once per file of tests.

Not once per session: a browser driven in this thread keeps an event loop running,
and the load would disturb the tests of other folders.
"""

import logging
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.support.browser import Tab, WebServer, launch
from tests.support.feeder import Feeder
from tests.support.inside import Inside
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.users import Role
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture(scope="module")
def pages_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pages_store(pages_redis: RedisServer) -> RedisStore:
    return RedisStore.at(pages_redis.url)


@pytest.fixture(scope="module")
def pages_feeder(pages_redis: RedisServer) -> Iterator[Feeder]:
    """Two clusters that report every second."""
    pages_feeder = Feeder(pages_redis.url, period_s=1.0)
    pages_feeder.history(2)
    pages_feeder.start()
    yield pages_feeder
    pages_feeder.stop()


@pytest.fixture(scope="module")
def pages_web(pages_redis: RedisServer, pages_feeder: Feeder) -> Iterator[WebServer]:
    server = WebServer(pages_redis.url).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def open_tab(browser: Browser, pages_web: WebServer) -> Iterator[Callable[..., Tab]]:
    """Opens an address in a fresh profile, signed in as an admin unless told otherwise."""
    contexts = []

    def open_(
        path: str = "/",
        *,
        width: int = 1440,
        theme: str = "light",
        block_ws: bool = False,
        role: Role | None = Role.ADMIN,
    ) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
        )
        if role is not None:
            context.add_cookies(pages_web.cookies(role))
        if block_ws:  # a proxy that knows no WebSockets
            context.add_init_script("delete window.SharedWorker; delete window.WebSocket;")
        contexts.append(context)
        tab = Tab(context.new_page())
        tab.page.goto(pages_web.url + path)
        return tab

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def inside(pages_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """The web side in this process, with clusters that have reported."""
    feeder = Feeder(pages_redis.url, obeys=True)
    feeder.history(0.5)
    feeder._hosts.step(time.time())
    found = Inside(pages_redis.url, tmp_path_factory.mktemp("users"))
    yield found
    found.stop()


@pytest.fixture
def unchanged(inside: Inside) -> Iterator[None]:
    """Whatever the test asks for, nothing may have come of it."""
    before, users = inside.everything(), inside.users.content()
    yield
    after = inside.everything()
    leases = {k for k in {*before, *after} if b"lease" in k}  # they run out by themselves
    assert {k: v for k, v in after.items() if k not in leases} == {
        k: v for k, v in before.items() if k not in leases
    }
    assert inside.users.content() == users


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that is logged, at any level."""
    caplog.set_level(logging.DEBUG)
    return caplog
