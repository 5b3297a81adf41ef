"""A web server with two workers, and tabs of one browser.

Files that have a `WORLD` share its Redis, feeder and web server and leave them as they found
them; every other file has its own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support.browser import Profiles, Tab, WebServer
from tests.support.feeder import Feeder
from tests.support.recorded_run import recorded
from tests.support.witnesses import Witness, store_state
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.users import Role
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def shared_feeder(shared_redis: RedisServer) -> Iterator[Feeder]:
    feeder = Feeder(shared_redis.url, period_s=1.0)
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture(scope="session")
def shared_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def recorded_run(shared_runs: Path) -> str:
    """The id of a recorded run in the folder of runs that is shared."""
    return recorded(shared_runs)


@pytest.fixture(scope="session")
def shared_web(
    shared_redis: RedisServer, shared_feeder: Feeder, shared_runs: Path
) -> Iterator[WebServer]:
    server = WebServer(shared_redis.url, runs_dir=shared_runs).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def own_web(pages_redis: RedisServer, pages_feeder: Feeder) -> Iterator[WebServer]:
    server = WebServer(pages_redis.url).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pages_redis(request: pytest.FixtureRequest) -> RedisServer:
    """The Redis behind the pages."""
    return _of_world(request, "redis")


@pytest.fixture(scope="module")
def pages_feeder(request: pytest.FixtureRequest) -> Feeder:
    """Two clusters that report every second."""
    return _of_world(request, "feeder")


@pytest.fixture(scope="module")
def pages_web(request: pytest.FixtureRequest) -> WebServer:
    """The web server, with somebody of every role."""
    return _of_world(request, "web")


def _of_world(request: pytest.FixtureRequest, part: str) -> Any:
    shared = hasattr(request.module, "WORLD")
    return request.getfixturevalue(f"shared_{part}" if shared else f"own_{part}")


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Iterator[Profiles]:
    found = Profiles(browser)
    yield found
    found.close()


@pytest.fixture
def open_tab(
    profiles: Profiles,
    pages_web: WebServer,
    pages_store: RedisStore,
    witness: Witness,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Tab]]:
    """Opens an address in a profile of its own, signed in as an admin unless told otherwise."""
    tabs: list[Tab] = []
    shots: Path = tmp_path_factory.getbasetemp() / "screenshots"

    def open_(path: str = "/", *, role: Role | None = Role.ADMIN, **look: Any) -> Tab:
        tab = profiles.tab(pages_web.cookies(role) if role else [], **look)
        tabs.append(tab)
        tab.page.goto(pages_web.url + path)
        return tab

    witness("the tabs", lambda: "\n".join(tab.described(shots) for tab in tabs))
    witness("the web server", pages_web.last_lines)
    witness("the store", lambda: store_state(pages_store))
    yield open_
    profiles.give_back()
