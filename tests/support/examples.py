"""How many examples Hypothesis tries."""

import os

FACTOR = int(os.environ.get("WEIR_TEST_EXAMPLES", "1"))
"""`make test-long` tries this many times as many."""


def examples(count: int) -> int:
    """This many in an ordinary run."""
    return count * FACTOR
