"""Ratings of movies, `user,movie,stars`, in the shape of the Netflix prize's: few movies are rated
by many, and about two of five ratings are above three stars."""

import numpy as np
import pyarrow as pa

from weir.pipeline.workloads.zipf import uniform, zipf_ranks

MOVIES, USERS = 200, 5_000
EXPONENT = 0.8
FAN_FROM = 4
"""Whoever gives a movie this many stars is a fan of it."""


def ratings(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The ratings first, first + 1, ..."""
    index = np.arange(first, first + count, dtype=np.uint64)
    movies = zipf_ranks(first, count, MOVIES, skew, seed=3)
    users = (uniform(index, seed=4) ** 2 * USERS).astype(np.int64)  # some watch much more
    stars = 1 + np.searchsorted([0.1, 0.3, 0.6, 0.85], uniform(index, seed=5))
    rows = zip(users, movies, stars, strict=True)
    return pa.array([f"{user},{movie},{given}" for user, movie, given in rows])
