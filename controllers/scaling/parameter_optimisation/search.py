"""Recursive random search: sample everywhere, then around the best, ever closer."""

from collections.abc import Callable
from math import ceil, log
from random import Random

Coordinates = tuple[float, ...]  # every coordinate in [0, 1]


def search(
    cost: Callable[[Coordinates], float],
    dimensions: int,
    chance: Random,
    start: Coordinates,
    evaluations: int = 150,
    confidence: float = 0.95,
    share: float = 0.1,
    shrink: float = 0.6,
    smallest: float = 0.02,
) -> tuple[Coordinates, float]:
    """The cheapest point found, and its cost; never worse than `start`.

    Exploration draws so many points that one of them is among the best `share` with
    the given confidence. Exploitation searches a box around the best, moves the box
    to whatever is better, and shrinks it after as many failures; when the box is
    small, exploration begins again, as long as evaluations are left.

    Reference: Ye and Kalyanaraman, "A recursive random search algorithm for
    large-scale network parameter configuration", SIGMETRICS 2003.

    >>> point, least = search(lambda p: abs(p[0] - 0.3), 1, Random(1), start=(0.9,))
    >>> least < 0.02
    True
    """
    left = evaluations - 1
    best, least = start, cost(start)
    draws = ceil(log(1.0 - confidence) / log(1.0 - share))
    first = True
    while left > 0:
        # The first round also knows the start; later ones look elsewhere on purpose.
        centre, here = (best, least) if first else (best, float("inf"))
        first = False
        for _ in range(min(draws, left)):
            point = tuple(chance.random() for _ in range(dimensions))
            there = cost(point)
            left -= 1
            if there < here:
                centre, here = point, there
        size, failures = share ** (1.0 / dimensions), 0
        while left > 0 and size > smallest:
            point = tuple(_near(c, size, chance) for c in centre)
            there = cost(point)
            left -= 1
            if there < here:
                centre, here, failures = point, there, 0
            else:
                failures += 1
                if failures >= 2 * dimensions:
                    size, failures = size * shrink, 0
        if here < least:
            best, least = centre, here
    return best, least


def _near(coordinate: float, size: float, chance: Random) -> float:
    low = max(0.0, coordinate - size / 2.0)
    return low + chance.random() * (min(1.0, coordinate + size / 2.0) - low)
