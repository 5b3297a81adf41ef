"""Numbers that follow Zipf's law, by index: number i is the same in every run, process and order.

A counter-based generator: what was made can be computed again at any time, which is how counts
at rest are checked.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray


def zipf_ranks(
    first: int, count: int, items: int, exponent: float, seed: int = 1
) -> NDArray[np.int64]:
    """Ranks, 0 the most frequent, of the draws first, first + 1, ...

    >>> bool((zipf_ranks(0, 100, 50, 1.0)[60:] == zipf_ranks(60, 40, 50, 1.0)).all())
    True
    """
    index = np.arange(first, first + count, dtype=np.uint64)
    return np.searchsorted(_cumulative(items, exponent), uniform(index, seed)).astype(np.int64)


@cache
def _cumulative(items: int, exponent: float) -> NDArray[np.float64]:
    weights = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    cumulative: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    cumulative[-1] = 1.0
    return cumulative


def uniform(index: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """SplitMix64 of each index, as a number in [0, 1)."""
    step = 0x9E3779B97F4A7C15
    z = (index + np.uint64(1)) * np.uint64(step) + np.uint64(seed * step % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) / float(1 << 53)
