"""Sets of items, as words of short messages: `number,item item ...`; few items are frequent."""

from collections.abc import Iterable
from itertools import combinations

import pyarrow as pa

from weir.pipeline.workloads.zipf import zipf_ranks

ITEMS, MOST_ITEMS = 40, 4
EXPONENT = 1.0


def item_sets(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The sets first, first + 1, ...: of one to four items, as the same may be drawn twice."""
    drawn = zipf_ranks(first * MOST_ITEMS, count * MOST_ITEMS, ITEMS, skew, seed=31)
    sets = drawn.reshape(count, MOST_ITEMS).tolist()
    return pa.array(
        [
            f"{first + i},{' '.join(f'w{n:02d}' for n in sorted(set(s)))}"
            for i, s in enumerate(sets)
        ],
        pa.string(),
    )


def patterns(items: Iterable[str]) -> list[str]:
    """Every combination of items that is not empty.

    >>> patterns(["a", "b"])
    ['a', 'b', 'a b']
    """
    ordered = sorted(items)
    sizes = range(1, len(ordered) + 1)
    return [" ".join(chosen) for size in sizes for chosen in combinations(ordered, size)]
