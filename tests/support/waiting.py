"""Waiting for something to come true.

How long that takes says nothing about right or wrong on a machine that others use as
well: tests wait far longer than it should take, and benchmarks measure speed.
"""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 4.0
"""How many times as long as expected a test waits."""
LEAST_S = 120.0
"""How long it waits in any case: what takes a second may wait for a minute for its turn."""
AWAY = ("redis", "playwright")
"""Whose errors count as not yet: a server that is away, a page that loads itself again."""
PATIENT_MS = 120_000
"""How long a test waits for what a page should show, in Playwright's unit."""


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait for a true value and return it; whatever it raises meanwhile counts as not yet."""
    limit_s = max(PATIENCE * seconds, LEAST_S)
    deadline = time.monotonic() + limit_s
    pause_s = 0.005
    last: Exception | None = None
    while time.monotonic() < deadline:
        try:
            found = condition()
            if found:
                return found
        except (OSError, LookupError, ValueError, TypeError, AttributeError) as error:
            last = error
        except Exception as error:
            if type(error).__module__.split(".")[0] not in AWAY:
                raise
            last = error
        time.sleep(pause_s)
        pause_s = min(0.1, 1.5 * pause_s)
    raise AssertionError(f"not within {limit_s:.0f} s: {what} ({last})")
