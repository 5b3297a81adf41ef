"""Values from Redis, read one by one: what cannot be read is skipped and noted, never fatal.

Whoever shares the Redis can write anything there, and another version of Weir may have. One
value that cannot be read must not hide the others, and people must see that it is there. What
is noted is the key, never the value: it may hold a secret.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import ValidationError
from redis.exceptions import ResponseError

from weir.controllers.engine.skipped import Skipped
from weir.controllers.model.flaws import LONGEST_NAME, name_flaw

log = logging.getLogger(__name__)

T = TypeVar("T")

KEPT_S = 300.0
"""How long after it was last met a value still counts as skipped."""
MOST = 1000
"""How many values are remembered; more would tell people nothing new."""
FAULT = "fault"
_WRONG_TYPE = "WRONGTYPE"


class Flawed(ValueError):
    """A value whose structure is right, but which cannot be true."""


def name_of(data: bytes) -> str:
    """A name as it stands in Redis."""
    name = data.decode()
    if wrong := name_flaw(name):
        raise Flawed(wrong)
    return name


class Entries:
    """Reads values and remembers which it skipped. Several threads may share one."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._met: dict[tuple[str, str], tuple[float, float, str]] = {}  # since, last, why

    def read(
        self, kind: str, name: bytes | str, data: bytes, decode: Callable[[bytes], T]
    ) -> T | None:
        """What a value holds; None for one that cannot be read.

        >>> entries = Entries(clock=lambda: 7.0)
        >>> entries.read("number", "a", b"1", int), entries.read("number", "b", b"x", int)
        (1, None)
        >>> [(s.kind, s.count, s.example, s.since) for s in entries.skipped()]
        [('number', 1, 'b', 7.0)]
        """
        try:
            return decode(data)
        except Exception as error:  # however a decoder fails, the value is at fault
            self.skip(kind, name, _reason(error))
            return None

    def values(
        self, kind: str, found: Iterable[tuple[bytes, bytes]], decode: Callable[[bytes], T]
    ) -> list[T]:
        """Those that can be read, in their order."""
        read = (self.read(kind, name, data, decode) for name, data in found)
        return [value for value in read if value is not None]

    def table(
        self, kind: str, found: Mapping[bytes, bytes], decode: Callable[[bytes], T]
    ) -> dict[str, T]:
        """A hash whose names and values can be read, by name."""
        table = {}
        for data in sorted(found):
            name = self.read(kind, data, data, name_of)
            value = None if name is None else self.read(kind, data, found[data], decode)
            if name is not None and value is not None:
                table[name] = value
        return table

    def names(self, kind: str, found: Iterable[bytes]) -> list[str]:
        """Names that can be read, sorted."""
        return sorted(self.values(kind, ((name, name) for name in found), name_of))

    def ask(self, kind: str, key: str, question: Callable[[], Any], otherwise: T) -> T:
        """Redis's answer; `otherwise` if the key holds another type than it should.

        The client's annotations allow text wherever ours gets bytes: `otherwise`, or what the
        caller declares, says what comes.
        """
        try:
            answer: T = question()
        except ResponseError as error:
            if _WRONG_TYPE not in str(error):
                raise
            self.skip(kind, key, "the key holds another type")
            return otherwise
        return answer

    def skip(self, kind: str, name: bytes | str, why: str) -> None:
        """Note a value that was skipped."""
        text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
        key, now = (kind, ascii(text)[1:-1][:LONGEST_NAME]), self._clock()
        with self._lock:
            known = self._met.get(key)
            if known is None:
                log.warning("skipped %s '%s': %s", kind, key[1], why)
                while len(self._met) >= MOST:
                    del self._met[min(self._met, key=lambda k: self._met[k][1])]
            self._met[key] = (known[0] if known else now, now, why)

    def note_fault(self, where: str, error: Exception) -> None:
        """Note a mistake of ours that a value may have brought to light; the log has all of it."""
        log.error("%s failed", where, exc_info=error)
        self.skip(FAULT, where, f"{type(error).__name__}; the log says more")

    def skipped(self) -> tuple[Skipped, ...]:
        """What was skipped lately, by kind."""
        now = self._clock()
        with self._lock:
            self._met = {k: v for k, v in self._met.items() if now - v[1] <= KEPT_S}
            met = sorted(self._met.items(), key=lambda item: item[1][1])
        kinds: dict[str, Skipped] = {}
        for (kind, example), (since, _, why) in met:
            known = kinds.get(kind)
            kinds[kind] = Skipped(
                kind=kind,
                count=known.count + 1 if known else 1,
                since=min(since, known.since) if known else since,
                example=example,
                why=why,
            )
        return tuple(kinds[kind] for kind in sorted(kinds))


def _reason(error: Exception) -> str:
    """Why, without a word of the value itself.

    A validation error names fields and types, which is what is needed; others may quote.
    """
    text = str(error)
    if isinstance(error, Flawed) or (isinstance(error, ValidationError) and "'" not in text):
        return text[:LONGEST_NAME]
    return f"it cannot be decoded ({type(error).__name__})"
