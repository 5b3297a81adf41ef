"""One running system for all tests that need Spark."""

from collections.abc import Iterator

import pytest

from tests.support.system import System


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Everything, brought up once as `make run` does."""
    found = System(tmp_path_factory.mktemp("system"))
    yield found
    found.stop()
