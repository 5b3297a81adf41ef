"""One running system for all tests that need Spark."""

from collections.abc import Generator, Iterator

import pytest

from tests.support.system import System

_SYSTEM = pytest.StashKey[System]()


@pytest.fixture(scope="session")
def system(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    """Everything, brought up once as `make run` does."""
    found = System(tmp_path_factory.mktemp("system"))
    request.config.stash[_SYSTEM] = found
    yield found
    found.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside a failure stands what the whole system looked like then."""
    report = yield
    system = item.config.stash.get(_SYSTEM, None)
    if report.failed and system is not None:
        report.sections.append(("the system", system.described()))
    return report
