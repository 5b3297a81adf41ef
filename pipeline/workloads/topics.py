"""Topics that follow Zipf's law, as in DoDo's demonstration."""

import numpy as np
from numpy.typing import NDArray

from weir.pipeline.workloads.zipf import zipf_ranks

TOPICS = 5_000
EXPONENT = 0.5


def topic_numbers(
    first: int, count: int, skew: float = EXPONENT, seed: int = 1
) -> NDArray[np.int64]:
    """Topics of the rows first, first + 1, ..."""
    return zipf_ranks(first, count, TOPICS, skew, seed)


def topic_counts(count: int, seed: int = 1) -> dict[str, int]:
    """How often each topic occurs in the first `count` rows."""
    totals = np.zeros(TOPICS, dtype=np.int64)
    for first in range(0, count, 1_000_000):
        numbers = topic_numbers(first, min(1_000_000, count - first), seed=seed)
        totals += np.bincount(numbers, minlength=TOPICS)
    return {topic_name(i): int(n) for i, n in enumerate(totals) if n}


def topic_name(number: int) -> str:
    """The topic as it appears in a row."""
    return f"topic-{number:04d}"
