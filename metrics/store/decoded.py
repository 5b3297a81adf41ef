"""Texts that are read again and again, decoded only when they have changed."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from weir.metrics.store.entries import Entries

T = TypeVar("T")


class Decoded(Generic[T]):
    """Remembers what the last round brought, and nothing older; skips what cannot be read.

    >>> seen = []
    >>> numbers = Decoded(Entries(), "number", lambda text: seen.append(text) or int(text))
    >>> numbers([(b"a", b"1"), (b"b", None), (b"c", b"2")]), numbers([(b"c", b"2"), (b"d", b"3")])
    ([1, 2], [2, 3])
    >>> list(seen), numbers([(b"a", b"1"), (b"b", b"x")]), seen[-2:]
    ([b'1', b'2', b'3'], [1], [b'1', b'x'])
    """

    def __init__(self, entries: Entries, kind: str, decode: Callable[[bytes], T]) -> None:
        self._entries = entries
        self._kind = kind
        self._decode = decode
        self._last: dict[tuple[bytes, bytes], T] = {}

    def __call__(self, named: Iterable[tuple[bytes, bytes | None]]) -> list[T]:
        """What the named texts hold, in their order; None for one that is not there."""
        found: dict[tuple[bytes, bytes], T] = {}
        for name, text in named:
            if text is None:
                continue
            value = self._last.get((name, text))
            if value is None:
                value = self._entries.read(self._kind, name, text, self._decode)
            if value is not None:
                found[name, text] = value
        self._last = found
        return list(found.values())
