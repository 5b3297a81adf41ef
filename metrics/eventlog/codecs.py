"""Compressed streams as Spark and people write them, told apart by their first bytes.

| first bytes          | format                                   | written by                |
|----------------------|------------------------------------------|---------------------------|
| 1f 8b                | gzip, one or more members                | gzip, Databricks          |
| 28 b5 2f fd, 5x 2a.. | zstd, one or more frames                 | Spark (default since 3.0) |
| 04 22 4d 18          | lz4 frame                                | lz4                       |
| "LZ4Block"           | LZ4Block of lz4-java                     | Spark                     |
| 82 "SNAPPY" 00       | snappy-java                              | Spark                     |
| "PK" 03 04           | zip, read forwards: also without its end | browsers, History Server  |
| "ZV" and others      | refused with a sentence                  | Spark 1.x                 |

A decoder takes chunks and gives chunks; both are small, so memory stays bounded
whatever a few bytes claim to expand to. A stream that ends early gives all that
is whole; one that is damaged gives what came before and then raises `Damaged`.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator

import lz4.block
import lz4.frame
import zstandard

from weir.controllers.model.errors import InvalidInput

OUT_BYTES = 1 << 20
_WINDOW_BYTES = 1 << 27  # largest zstd window: what Spark and `zstd` write by default fits
_BLOCK_BYTES = 1 << 26  # largest block of the block formats; lz4-java's own limit is 32 MiB


class Damaged(Exception):
    """The compressed stream cannot be read beyond this point."""


Chunks = Iterable[bytes]
Decoder = Callable[["_Feed"], Iterator[bytes]]


def decode(chunks: Chunks, depth: int = 0) -> Iterator[bytes]:
    """The plain bytes behind `chunks`, whatever they are compressed with.

    >>> import gzip
    >>> b"".join(decode([gzip.compress(b"one ") + gzip.compress(b"two")]))
    b'one two'
    >>> b"".join(decode([b"pl", b"ain"]))
    b'plain'
    """
    feed = _Feed(chunks)
    head = feed.peek(10)
    if head.startswith(b"PK\x03\x04"):
        return _zip(feed, depth)
    for magic, decoder in _DECODERS:
        if head.startswith(magic):
            return decoder(feed)
    return feed.rest()


class _Feed:
    """Chunks as something that can be read and peeked at."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = iter(chunks)
        self._held = b""

    def peek(self, size: int) -> bytes:
        while len(self._held) < size and (chunk := next(self._chunks, b"")):
            self._held += chunk
        return self._held[:size]

    def read(self, size: int = -1) -> bytes:
        """At most one chunk; empty at the end."""
        data = self._held or next(self._chunks, b"")
        self._held = b""
        if 0 <= size < len(data):
            data, self._held = data[:size], data[size:]
        return data

    def exactly(self, size: int) -> bytes | None:
        """`size` bytes, or None where the stream ends before."""
        parts = []
        while size and (data := self.read(size)):
            parts.append(data)
            size -= len(data)
        return None if size else b"".join(parts)

    def back(self, data: bytes) -> None:
        self._held = data + self._held

    def rest(self) -> Iterator[bytes]:
        while data := self.read():
            yield data


def _gzip(feed: _Feed) -> Iterator[bytes]:
    while feed.peek(2) == b"\x1f\x8b":  # what follows the last member is padding
        yield from inflate(feed, zlib.MAX_WBITS | 16)


def inflate(feed: _Feed, wbits: int) -> Iterator[bytes]:
    """One deflate stream; what follows it stays in the feed."""
    stream = zlib.decompressobj(wbits)
    while not stream.eof and (data := feed.read()):
        while data and not stream.eof:
            try:
                yield stream.decompress(data, OUT_BYTES)
            except zlib.error as error:
                raise Damaged(str(error)) from None
            data = stream.unconsumed_tail
    feed.back(stream.unused_data)


def _zip(feed: _Feed, depth: int) -> Iterator[bytes]:
    """All members one after the other, found by their own headers.

    The directory of a zip stands at its end, which a file that was cut off has
    lost. Members are decoded in turn, but a zip within a zip only once: there are
    archives that contain themselves.
    """
    if depth > 1:
        raise Damaged("a zip in a zip in a zip")
    while feed.peek(4) == b"PK\x03\x04" and (head := feed.exactly(30)) is not None:
        flags, method = (int.from_bytes(head[i : i + 2], "little") for i in (6, 8))
        size = int.from_bytes(head[18:22], "little")
        if flags & 1:
            raise InvalidInput("the zip is encrypted; unpack it first")
        if method not in (0, 8) or (method == 0 and flags & 8):
            raise Damaged(f"zip method {method} cannot be read without the archive's end")
        feed.exactly(sum(int.from_bytes(head[i : i + 2], "little") for i in (26, 28)))
        member = inflate(feed, -zlib.MAX_WBITS) if method == 8 else _slices(feed, size)
        yield from decode(member, depth + 1)
        for _ in member:  # what the member's own decoder left over
            pass
        yield b"\n"
        if flags & 8:  # sizes follow the data, in 4 or in 8 bytes each
            feed.exactly(16)
            if feed.peek(2) != b"PK":
                feed.exactly(8)


def _slices(feed: _Feed, size: int) -> Iterator[bytes]:
    while size and (data := feed.read(size)):
        size -= len(data)
        yield data


def _zstd(feed: _Feed) -> Iterator[bytes]:
    context = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
    with context.stream_reader(feed, read_across_frames=True) as reader:  # type: ignore[arg-type]
        try:
            while data := reader.read1(OUT_BYTES):  # what is there: a log may be growing
                yield data
        except zstandard.ZstdError as error:
            raise Damaged(str(error)) from None


def _lz4_frame(feed: _Feed) -> Iterator[bytes]:
    while feed.peek(4) == b"\x04\x22\x4d\x18":
        frame = lz4.frame.LZ4FrameDecompressor()
        while not frame.eof and (data := feed.read()):
            try:
                yield frame.decompress(data, OUT_BYTES)
                while not frame.eof and not frame.needs_input:
                    yield frame.decompress(b"", OUT_BYTES)
            except RuntimeError as error:
                raise Damaged(str(error)) from None
        feed.back(frame.unused_data or b"")


def _lz4_block(feed: _Feed) -> Iterator[bytes]:
    """Magic, token, compressed and plain length, checksum; length 0 ends a stream."""
    while (head := feed.exactly(21)) is not None:
        stored, plain = (int.from_bytes(head[i : i + 4], "little") for i in (9, 13))
        method = head[8] & 0xF0
        if (
            head[:8] != b"LZ4Block"
            or method not in (0x10, 0x20)
            or max(stored, plain) > _BLOCK_BYTES
        ):
            raise Damaged("not a block of LZ4Block")
        data = feed.exactly(stored)
        if data is None:
            return
        if method == 0x10:
            yield data
            continue
        try:
            yield lz4.block.decompress(data, uncompressed_size=plain) if plain else b""
        except lz4.block.LZ4BlockError as error:
            raise Damaged(str(error)) from None


def _snappy(feed: _Feed) -> Iterator[bytes]:
    """A header of 16 bytes, then blocks behind their length (big endian)."""
    import pyarrow

    codec = pyarrow.Codec("snappy")
    feed.exactly(16)
    while (head := feed.exactly(4)) is not None:
        if head == b"\x82SNA":  # another stream was appended
            feed.exactly(12)
            continue
        size = int.from_bytes(head, "big")
        if size > _BLOCK_BYTES:
            raise Damaged("not a block of snappy-java")
        block = feed.exactly(size)
        if block is None:
            return
        plain = _varint(block)
        if plain > _BLOCK_BYTES:
            raise Damaged("a block that claims to be too large")
        try:
            yield codec.decompress(block, plain, asbytes=True)
        except (OSError, ValueError) as error:
            raise Damaged(str(error)) from None


def _varint(data: bytes) -> int:
    """The length at the head of a raw snappy block.

    >>> _varint(bytes([0xAC, 0x02]))
    300
    """
    value = 0
    for shift, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            break
    return value


def _refuse(name: str, advice: str) -> Decoder:
    def decoder(feed: _Feed) -> Iterator[bytes]:
        raise InvalidInput(f"{name} is not supported; {advice}")

    return decoder


_DECODERS: tuple[tuple[bytes, Decoder], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\x28\xb5\x2f\xfd", _zstd),
    *((bytes([low]) + b"\x2a\x4d\x18", _zstd) for low in range(0x50, 0x60)),
    (b"\x04\x22\x4d\x18", _lz4_frame),
    (b"LZ4Block", _lz4_block),
    (b"\x82SNAPPY\0", _snappy),
    (b"ZV", _refuse("LZF compression", "unpack the log first or write it with zstd")),
    (b"\xff\x06\0\0sNaPpY", _refuse("framed snappy", "unpack the log first")),
    (b"BZh", _refuse("bzip2", "unpack the log first")),
    (b"\xfd7zXZ", _refuse("xz", "unpack the log first")),
)
