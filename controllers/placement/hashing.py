"""Hashes that are the same in every process, on every run and on every machine."""

from collections.abc import Iterable
from hashlib import blake2b
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

MIX = 1_481_765_933
"""Odd and below 2**31: SQL can compute the product with a CRC in 64 bits with a sign."""


def stable_hash(key: str, seed: int = 0) -> int:
    """64 bits of BLAKE2b; another seed is another, independent hash function.

    Python's own `hash` of text differs from process to process, so it must never
    decide where a key goes.

    >>> stable_hash("tweets")
    14810149064483937732
    >>> stable_hash("tweets", seed=1) == stable_hash("tweets")
    False
    """
    salt = seed.to_bytes(8, "little")
    return int.from_bytes(blake2b(key.encode(), digest_size=8, salt=salt).digest(), "big")


def key_groups(keys: Iterable[bytes], groups: int) -> NDArray[np.int64]:
    """The key group of each key, one of `groups` equal arcs of the ring: CRC-32, mixed, brought
    down to a number below `groups`.

    A CRC because it costs 0.1 us per key and Spark's SQL has the same one; mixed because the
    group depends on the upper bits, which short keys hardly reach. What is written here may
    never change: rows and state lie where it said.

    >>> key_groups([b"topic-0001", b"topic-0002", b""], 64).tolist()
    [56, 13, 0]
    """
    found = np.fromiter(map(crc32, keys), np.uint64)
    return (
        (found * np.uint64(MIX) % np.uint64(2**32)) * np.uint64(groups) >> np.uint64(32)
    ).astype(np.int64)


def key_group_sql(column: str, groups: int) -> str:
    """The same as an expression of Spark's SQL, over a column of text or whole numbers."""
    crc = f"coalesce(crc32(cast({column} as string)), 0)"
    return f"shiftright(pmod({crc} * {MIX}L, 4294967296L) * {groups}L, 32)"
