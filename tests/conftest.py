"""What several kinds of tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.pipeline.local.redis_server import RedisServer

WHOLE = tuple(Path(__file__).parent / folder for folder in ("e2e", "integration"))
"""Tests of everything together, with a browser or with Spark."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On a machine that others use too, what failed is tried once more, and the report says so."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in WHOLE):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A real Redis for the whole run; tests that use it begin by emptying it."""
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()
