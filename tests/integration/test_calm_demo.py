"""The inbox of a demo of its own, from its start and over five minutes of a rising and falling rate.

It takes six minutes, so it runs with `make test-long` only.
"""

import time
from pathlib import Path

from tests.support.calm import Watch
from tests.support.long import only_long
from tests.support.system import System

RATES = (600, 200, 900, 100, 700)
PHASE_S = 60.0
WINDOW_S = 60.0  # of loads that plans look at: so long the old rate is still in it

pytestmark = only_long("six minutes")


def test_the_inbox_is_calm_and_of_one_mind(tmp_path: Path) -> None:
    system, watch = System(tmp_path, "--rate", str(RATES[0])), Watch()
    try:
        begun = time.time()
        changed = [begun]
        for rate in RATES:
            done = system.command("rate", str(rate))
            assert done.returncode == 0, done.stderr
            changed.append(time.time())
            while time.time() < changed[-1] + PHASE_S:  # a watch is as long as it is
                watch.look(system.store.recommendations(), time.time())
                time.sleep(1.0)
    finally:
        system.stop()
    assert watch.contradictions == []
    for found in watch.withdrawn:
        ended_at = found.history[-1].at
        because = any(found.at - WINDOW_S <= at <= ended_at for at in changed[2:])
        assert because, "\n".join(watch.told())
    print("\n".join(watch.told()))
