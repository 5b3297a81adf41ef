"""Texts that are read again and again, decoded only when they have changed."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Decoded(Generic[T]):
    """Remembers what the last round brought, and nothing older.

    >>> seen = []
    >>> numbers = Decoded(lambda text: seen.append(text) or int(text))
    >>> numbers([b"1", None, b"2"]), numbers([b"2", b"3"]), seen
    ([1, 2], [2, 3], [b'1', b'2', b'3'])
    >>> numbers([b"1"]), seen[-1]
    ([1], b'1')
    """

    def __init__(self, decode: Callable[[bytes], T]) -> None:
        self._decode = decode
        self._last: dict[bytes, T] = {}

    def __call__(self, texts: Iterable[bytes | None]) -> list[T]:
        """What the texts hold, each once, in their order; None for one that is not there."""
        last = self._last
        found = {text: last[text] if text in last else self._decode(text) for text in texts if text}
        self._last = found
        return list(found.values())
