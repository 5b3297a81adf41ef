"""Topics that follow Zipf's law: row i is the same in every run, process and order."""

import numpy as np
from numpy.typing import NDArray

TOPICS = 5_000
EXPONENT = 0.5


def topic_numbers(first: int, count: int, seed: int = 1) -> NDArray[np.int64]:
    """Topics of the rows first, first + 1, ...

    A counter-based generator: what was generated can be computed again at any time,
    which is how counts at rest are checked.

    >>> bool((topic_numbers(0, 100)[50:] == topic_numbers(50, 50)).all())
    True
    """
    index = np.arange(first, first + count, dtype=np.uint64)
    return np.searchsorted(_cumulative(), _uniform(index, seed)).astype(np.int64)


def topic_counts(count: int, seed: int = 1) -> dict[str, int]:
    """How often each topic occurs in the first `count` rows."""
    totals = np.zeros(TOPICS, dtype=np.int64)
    for first in range(0, count, 1_000_000):
        numbers = topic_numbers(first, min(1_000_000, count - first), seed)
        totals += np.bincount(numbers, minlength=TOPICS)
    return {topic_name(i): int(n) for i, n in enumerate(totals) if n}


def topic_name(number: int) -> str:
    """The topic as it appears in a row."""
    return f"topic-{number:04d}"


def _cumulative() -> NDArray[np.float64]:
    weights = np.arange(1, TOPICS + 1, dtype=np.float64) ** -EXPONENT
    cumulative: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    cumulative[-1] = 1.0
    return cumulative


def _uniform(index: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """SplitMix64 of each index, as a number in [0, 1)."""
    step = 0x9E3779B97F4A7C15
    z = (index + np.uint64(1)) * np.uint64(step) + np.uint64(seed * step % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) / float(1 << 53)
