"""Flights and the weather at airports, in the shape of the data of ALBIC's jobs 2 to 4.

A flight is `F,day,plane,origin,destination,delay` with the delay in minutes, below zero if it
was early; a report of the weather is `W,day,airport,millimetres` of rain. Days follow one another,
so many rows each; with weather, each begins with a report of every airport. A plane flies a few
routes of its own, so what is known of a plane and of its routes exchanges much.
"""

import numpy as np
import pyarrow as pa

from weir.pipeline.workloads.zipf import uniform, zipf_ranks

AIRPORTS, PLANES, ROUTES_OF_PLANE = 30, 300, 4
EXPONENT = 0.6
DAY_ROWS = 300
MOST_RAIN_MM = 120
FIRST_YEAR = 2004
"""After 365 days comes the next."""


def flights(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The flights first, first + 1, ..."""
    return pa.array(_flights(np.arange(first, first + count, dtype=np.uint64), skew), pa.string())


def flights_and_weather(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The same, but for the reports that begin each day."""
    index = np.arange(first, first + count, dtype=np.uint64)
    texts = _flights(index, skew)
    for at, i in enumerate(index.tolist()):
        if i % DAY_ROWS < AIRPORTS:
            texts[at] = f"W,{i // DAY_ROWS},{airport(i % DAY_ROWS)},{rain_mm(i)}"
    return pa.array(texts, pa.string())


def year_of(day: int) -> int:
    """The year that a day is in.

    >>> year_of(0), year_of(365)
    (2004, 2005)
    """
    return FIRST_YEAR + day // 365


def airport(number: int) -> str:
    """Three letters for each airport.

    >>> airport(0), airport(29)
    ('AAA', 'ABD')
    """
    return "A" + chr(65 + number // 26) + chr(65 + number % 26)


def rain_mm(index: int) -> int:
    """What fell where report `index` is from: nothing on most days, much on few."""
    drawn = float(uniform(np.array([index], dtype=np.uint64), seed=14)[0])
    return int(MOST_RAIN_MM * max(0.0, drawn - 0.5) ** 2 * 4)


def _flights(index: "np.ndarray[tuple[int], np.dtype[np.uint64]]", skew: float) -> list[str]:
    if not len(index):
        return []
    planes = zipf_ranks(int(index[0]), len(index), PLANES, skew, seed=11)
    leg = (uniform(index, seed=12) * ROUTES_OF_PLANE).astype(np.int64)
    origins = (planes * 7 + leg * 3) % AIRPORTS
    ends = (origins + 1 + (planes * 5 + leg * 11) % (AIRPORTS - 1)) % AIRPORTS
    delays = np.rint(25 * np.log(1e-3 + 2.5 * uniform(index, seed=13))).astype(np.int64)
    rows = zip(index // np.uint64(DAY_ROWS), planes, origins, ends, delays, strict=True)
    return [f"F,{d},N{p:03d},{airport(o)},{airport(e)},{delay}" for d, p, o, e, delay in rows]
