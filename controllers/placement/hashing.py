"""A hash that is the same in every process, on every run and on every machine."""

from hashlib import blake2b


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
