"""Lines of text whose words follow Zipf's law, and whose frequent words change over time.

Every `SHIFT_LINES` lines the ranks are handed on to other words: keys that were hot grow cold and
others take their place, so that what was balanced is balanced no longer.
"""

import numpy as np
from numpy.typing import NDArray

from weir.pipeline.workloads.zipf import zipf_ranks

WORDS = 2_000
EXPONENT = 1.0
PER_LINE = 8
SHIFT_LINES = 20_000
SHIFT_WORDS = 97
"""After `SHIFT_LINES` lines every rank belongs to the word this many places on."""


def word_numbers(
    first: int, count: int, skew: float = EXPONENT, seed: int = 1
) -> NDArray[np.int64]:
    """The words of the lines first, first + 1, ...: a row of `PER_LINE` numbers each."""
    ranks = zipf_ranks(first * PER_LINE, count * PER_LINE, WORDS, skew, seed)
    lines = np.arange(first, first + count, dtype=np.int64) // SHIFT_LINES
    return (ranks.reshape(count, PER_LINE) + SHIFT_WORDS * lines[:, None]) % WORDS


def word(number: int) -> str:
    """A pronounceable word, a different one for every number.

    >>> word(0), word(1), word(1999)
    ('baba', 'babe', 'nugu')
    """
    syllables = [c + v for c in "bdfghklmn" for v in "aeiou"]
    return syllables[number // 45] + syllables[number % 45]


def text(numbers: NDArray[np.int64]) -> str:
    """A line of these words."""
    return " ".join(word(int(n)) for n in numbers)
