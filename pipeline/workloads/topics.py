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


def topic_name(number: int) -> str:
    """The topic as it appears in a row."""
    return f"topic-{number:04d}"
