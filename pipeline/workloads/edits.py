"""Edits of an encyclopedia, `article,editor,bytes`: few articles are edited often.

The data of the original has no places; as there, every edit is given one within Denmark, all of
them equally likely.
"""

import numpy as np
import pyarrow as pa

from weir.pipeline.workloads.zipf import uniform, zipf_ranks

ARTICLES = 2_000
EXPONENT = 0.9
SOUTH, NORTH, WEST, EAST = 54.6, 57.7, 8.1, 12.6
_BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz"


def edits(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The edits first, first + 1, ..."""
    index = np.arange(first, first + count, dtype=np.uint64)
    articles = zipf_ranks(first, count, ARTICLES, skew, seed=6)
    editors = (uniform(index, seed=7) * 10_000).astype(np.int64)
    sizes = (10 / (1e-3 + uniform(index, seed=8))).astype(np.int64)
    rows = zip(articles, editors, sizes, strict=True)
    return pa.array([f"article-{a:04d},editor-{e},{size}" for a, e, size in rows])


def place_of(editor: int, size: int) -> tuple[float, float]:
    """Latitude and longitude of an edit: the same edit is always at the same place."""
    both = np.array([editor * 31 + size], dtype=np.uint64)
    north, east = float(uniform(both, seed=9)[0]), float(uniform(both, seed=10)[0])
    return SOUTH + north * (NORTH - SOUTH), WEST + east * (EAST - WEST)


def geohash(latitude: float, longitude: float, length: int = 4) -> str:
    """The cell of a place, as a text in which more letters say it more closely.

    >>> geohash(57.64911, 10.40744, 6)
    'u4pruy'
    """
    spans = [[-180.0, 180.0], [-90.0, 90.0]]
    letters, bits = "", 0
    for i in range(5 * length):
        span, value = spans[i % 2], (longitude, latitude)[i % 2]
        middle = (span[0] + span[1]) / 2
        above = value >= middle
        span[0 if above else 1] = middle
        bits = bits * 2 + above
        if i % 5 == 4:
            letters, bits = letters + _BASE32[bits], 0
    return letters
