"""The lines of a log, whatever it is packed in, with bounded memory.

Detection is by the first bytes (`codecs`), never by the name. A part that ends
in the middle of a line, or whose compressed stream is cut off or damaged, gives
all that is whole; what happened stands in `notes`. A line longer than
`LINE_BYTES` is not kept: its head is handed on, which counts as a broken line.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator

from weir.controllers.model.errors import InvalidInput
from weir.metrics.eventlog.codecs import Damaged, decode
from weir.metrics.eventlog.locate import Log, LogPart

CHUNK_BYTES = 1 << 18
LINE_BYTES = 1 << 26
ABSURD_BYTES = 1 << 30
"""A line longer than this is not text but an archive made to expand."""


def lines(
    chunks: Iterable[bytes],
    most_bytes: int = LINE_BYTES,
    absurd_bytes: int = ABSURD_BYTES,
    unfinished: bool = True,
) -> Iterator[bytes]:
    """Split chunks into lines, with or without the unfinished one at the end.

    >>> list(lines([b"ab", b"c\\nd", b"ef"]))
    [b'abc', b'def']
    >>> list(lines([b"a", b"b" * 9, b"\\nfine"], most_bytes=4))
    [b'a', b'fine']
    """
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        size += len(first)
        if size <= most_bytes:
            held.append(first)
        elif size > absurd_bytes:
            raise InvalidInput(
                f"a line of more than {absurd_bytes >> 20} MiB: this is not an event log"
            )
        if others:
            yield b"".join(held)
            last = others.pop()
            yield from others
            held, size = [last], len(last)
    if unfinished and any(held):
        yield b"".join(held)


class Allowance:
    """Plain bytes that may still be read, by all readers that share it."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, count: int, name: str) -> None:
        """Use some of it."""
        self._left -= count
        if self._left < 0:
            raise InvalidInput(f"{name} expands to more than may be read")


class LogReader:
    """The lines of all parts of a log; says where it is and what went wrong."""

    def __init__(
        self,
        log: Log,
        on_bytes: Callable[[int], None] = lambda _: None,
        allowance: Allowance | None = None,
    ) -> None:
        self._allowance = allowance
        self.log = log
        self.part = ""
        self.line = 0  # within the part
        self.notes: list[str] = []
        self._on_bytes = on_bytes

    def __iter__(self) -> Iterator[bytes]:
        for part in self.log.parts:
            self.part, self.line = part.name, 0
            for line in lines(self._plain(part)):
                self.line += 1
                yield line

    def _plain(self, part: LogPart) -> Iterator[bytes]:
        """The part's plain bytes up to its end or to where it is damaged."""
        try:
            for chunk in decode(raw_chunks(part, self._on_bytes)):
                if self._allowance is not None:
                    self._allowance.take(len(chunk), part.name)
                yield chunk
        except Damaged as error:
            self.notes.append(f"{part.name} is damaged after line {self.line}: {error}")
        except OSError as error:
            raise InvalidInput(f"{part.path} cannot be read: {error.strerror or error}") from None


def raw_chunks(part: LogPart, on_bytes: Callable[[int], None]) -> Iterator[bytes]:
    """What is stored, in chunks; a member of a zip is unpacked."""
    if part.member is None:
        with open(part.path, "rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                on_bytes(len(chunk))
                yield chunk
        return
    try:
        with zipfile.ZipFile(part.path) as archive, archive.open(part.member) as file:
            share = part.size_bytes / max(archive.getinfo(part.member).file_size, 1)
            while chunk := file.read(CHUNK_BYTES):
                on_bytes(round(len(chunk) * share))
                yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise Damaged(str(error)) from None
    except NotImplementedError as error:  # zipfile's word for a compression it does not know
        raise InvalidInput(f"{part.path}: {error}; unpack it first") from None
    except RuntimeError:  # and for an encrypted member; the one above is a kind of it
        raise InvalidInput(f"{part.path} is encrypted; unpack it first") from None
