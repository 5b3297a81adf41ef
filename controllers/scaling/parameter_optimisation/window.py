"""An adaptive window: it grows while its values are alike and drops what is out of date."""

from collections.abc import Sequence
from itertools import accumulate
from math import fsum, log, sqrt


def cut_index(values: Sequence[float], confidence: float, least: int = 5) -> int:
    """How many of the oldest values to drop because the newer ones differ from them.

    For every split into old and new parts, the means may differ by eps at most, where
    eps follows from the variance and the sizes of the parts (ADWIN's bound). The split
    with the largest excess is taken; 0: the window is all of one kind. Parts shorter
    than `least` prove nothing.

    Reference: Bifet and Gavalda, "Learning from time-changing data with adaptive
    windowing", SDM 2007.

    >>> cut_index([1.0] * 30 + [5.0] * 10, confidence=0.05)
    30
    >>> cut_index([1.0, 1.1, 0.9, 1.0] * 10, confidence=0.05)
    0
    """
    n = len(values)
    low, high = min(values, default=0.0), max(values, default=0.0)
    span = high - low
    if n < 2 * least or span <= 1e-9 * max(1.0, abs(high)):
        return 0
    scaled = [(v - low) / span for v in values]  # the bound is for values in [0, 1]
    sums = list(accumulate(scaled))
    mean = fsum(scaled) / n
    variance = fsum((v - mean) ** 2 for v in scaled) / n
    weight = log(2.0 * log(n) / confidence)
    best, most = 0, 0.0
    for old in range(least, n - least + 1):
        new = n - old
        sizes = 1.0 / (1.0 / old + 1.0 / new)
        eps = sqrt(2.0 / sizes * variance * weight) + 2.0 / (3.0 * sizes) * weight
        excess = abs(sums[old - 1] / old - (sums[-1] - sums[old - 1]) / new) - eps
        if excess > most:
            best, most = old, excess
    return best
