"""One running system for the tests that need Spark: to start it takes a minute.

Files with a `WORLD` start what they need themselves. The others run in the order of their `PLACE`, each after what it rests on; within a file from top
to bottom. Every file finds the two clusters as they began (topic_count and top_n in narrow, one
executor there, nothing open) and leaves them so. What was lost or doubled on the way is counted
once, by the last file, which also stops the system.
"""

from collections.abc import Iterator

import pytest

from tests.conftest import WITNESSES
from tests.support.system import System


@pytest.fixture(scope="session")
def system(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    """Everything, brought up once as `make run` does."""
    found = System(tmp_path_factory.mktemp("system"))
    # Killed hosts are started again by the demo itself: the tests look whether they take up what
    # they had. `test_rescue.py` switches it on.
    found.store.save_settings("failover", {"rescue_by_itself": False})
    witnesses = request.config.stash[WITNESSES]
    witnesses.add("the system", found.described)
    yield found
    witnesses.remove("the system")
    found.stop()
