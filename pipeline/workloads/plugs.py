"""Readings of smart plugs, as in the DEBS 2014 challenge: plugs in households in houses.

A reading is `number,house,household,plug,watts`. Which plugs report often follows Zipf's law; a
plug's load goes up and down in a cycle of its own.
"""

import numpy as np
import pyarrow as pa

from weir.pipeline.workloads.zipf import uniform, zipf_ranks

HOUSES, HOUSEHOLDS, PLUGS = 8, 3, 5
"""Houses, households of each, plugs of each household."""
EXPONENT = 0.3
ALL = HOUSES * HOUSEHOLDS * PLUGS


def readings(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The readings first, first + 1, ..."""
    index = np.arange(first, first + count, dtype=np.uint64)
    ranks = zipf_ranks(first, count, ALL, skew)
    plugs = (ranks * 37) % ALL  # 37 shares no factor with 120: frequent plugs are in all houses
    base = 20 + (plugs * 53) % 400
    wave = 1 + 0.5 * np.sin(index / (50.0 + plugs))
    watts = np.rint(base * wave + 30 * uniform(index, seed=2)).astype(np.int64)
    rows = zip(index, plugs, watts, strict=True)
    return pa.array([f"{i},{place_of(int(plug))},{load}" for i, plug, load in rows])


def place_of(plug: int) -> str:
    """House, household and plug, the last two counted within what they are in.

    >>> place_of(0), place_of(119)
    ('0,0,0', '7,2,4')
    """
    return f"{plug // (HOUSEHOLDS * PLUGS)},{plug // PLUGS % HOUSEHOLDS},{plug % PLUGS}"
