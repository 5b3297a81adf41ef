"""How many examples Hypothesis tries."""

import os

FACTOR = int(os.environ.get("WEIR_TEST_EXAMPLES", "1"))
"""`make test-long` tries so many times as many."""


def examples(count: int) -> int:
    """So many in an ordinary run."""
    return count * FACTOR
