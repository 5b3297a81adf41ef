"""What all tests share: tiers, the order they run in, a Redis, a browser, and reports of failures.

A tier is a folder; its marker is set here, so `pytest -m spark` or `-m "not browser"` works.
Tests that share something expensive are one group, which runs on one worker of xdist. Groups
that take longest come first: Spark's tests mostly wait, so others run beside them.
"""

import os
import re
import signal
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests.support.witnesses import Witness, Witnesses
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

if TYPE_CHECKING:  # what unit tests need not import
    from playwright.sync_api import Browser

    from tests.support.feeder import Feeder

os.environ.setdefault("WEIR_KEY", "5e" * 32)  # of every process that tests start
HERE = Path(__file__).parent
TIERS = {"integration": "spark", "e2e": "browser", "contract": "contract", "unit": "unit"}
"""Folders with their markers, in the order in which they begin."""
WITNESSES = pytest.StashKey[Witnesses]()


def pytest_configure(config: pytest.Config) -> None:
    """A run that is asked to end stops what it has started, as with Ctrl-C."""
    config.stash[WITNESSES] = Witnesses()
    # How long an example takes says nothing about right or wrong on a machine that others use too.
    hypothesis.settings.register_profile("weir", deadline=None)
    hypothesis.settings.load_profile("weir")
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier; long tiers first."""
    for item in items:
        item.add_marker(_tier(item.path))
    items.sort(key=lambda item: (_turn(item.path), _place(item)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole groups; xdist's own marker of a group does nothing under this pytest."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return _group(HERE.parent / nodeid.split("::")[0])

    return Groups(config, log)


def _tier(path: Path) -> str:
    """The marker of a test; examples in docstrings are unit tests."""
    folder = path.relative_to(HERE).parts[0] if path.is_relative_to(HERE) else "unit"
    return TIERS.get(folder, "unit")


@cache
def _group(path: Path) -> str:
    """All tests of one `WORLD`, of the one Spark system, or of one file."""
    world = re.search(r'^WORLD = "([^"]+)"', path.read_text(), re.MULTILINE)
    if world:
        return world[1]
    return "spark" if _tier(path) == "spark" else str(path)


def _turn(path: Path) -> float:
    """When a file's tier begins; what starts a Spark of its own waits until the pages are done."""
    order = list(TIERS.values())
    alone = _tier(path) == "spark" and _group(path) != "spark"
    return order.index("browser") + 0.5 if alone else order.index(_tier(path))


def _place(item: pytest.Item) -> int:
    """Where a file says that it belongs within its tier."""
    return int(getattr(getattr(item, "module", None), "PLACE", 0))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside a failure stands in what state each part of the system was."""
    report = yield
    if report.failed:
        report.sections.extend(item.config.stash[WITNESSES].statements())
    return report


@pytest.fixture
def witness(request: pytest.FixtureRequest) -> Iterator[Witness]:
    """Names a part that can say how it stands, for the time of one test."""
    witnesses = request.config.stash[WITNESSES]
    named: list[str] = []

    def name(part: str, says: Callable[[], str]) -> None:
        witnesses.add(part, says)
        named.append(part)

    yield name
    for part in named:
        witnesses.remove(part)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A real Redis for the whole run; tests that use it begin by emptying it."""
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A real Redis for one file of tests."""
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pages_redis(own_redis: RedisServer) -> RedisServer:
    """The Redis behind the pages."""
    return own_redis


@pytest.fixture(scope="module")
def pages_store(pages_redis: RedisServer) -> Iterator[RedisStore]:
    found = RedisStore.at(pages_redis.url)
    yield found
    found.client.close()


@pytest.fixture(scope="module")
def own_feeder(pages_redis: RedisServer) -> "Iterator[Feeder]":
    """Two clusters that report every second, for one file of tests."""
    from tests.support.feeder import Feeder

    feeder = Feeder(pages_redis.url, period_s=1.0)
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture(scope="module")
def pages_feeder(own_feeder: "Feeder") -> "Feeder":
    """What the pages show."""
    return own_feeder


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One Chromium for all; tests get profiles of their own in it."""
    from playwright.sync_api import sync_playwright

    from tests.support.browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
