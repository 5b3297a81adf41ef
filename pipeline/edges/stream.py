"""A sharded, trimmed log of rows in Redis Streams: what connects two operators.

An entry is a chunk of rows as Arrow IPC; its id is the number of rows in the
shard once it is there. So an offset is a row count, the lag between two offsets
is their difference, and a batch may start in the middle of a chunk.

A producer appends a batch to all shards in one atomic step and only if that
batch is not there yet: a batch that Spark replays is not appended twice.
A fence keeps out a producer whose lease has passed to somebody else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import redis
from redis.typing import EncodableT

from weir.controllers.model.errors import Fenced, InvalidInput, Unavailable
from weir.metrics.store import keys

CHUNK_ROWS = 4096
Entry = tuple[bytes, Mapping[bytes, bytes]]
"""A chunk as it stands in its shard: the id and the fields."""

# KEYS: edge hash, then stream and counters of each shard in turn.
# ARGV: producer, its part, batch, fence ('' for none), then per chunk: shard, rows, data.
# Batches are counted for each part of a producer, the fence holds for all of it.
_APPEND = """
local fence = redis.call('HGET', KEYS[1], 'fence:' .. ARGV[1])
if ARGV[4] ~= '' then
  if fence and tonumber(ARGV[4]) < tonumber(fence) then return -1 end
  redis.call('HSET', KEYS[1], 'fence:' .. ARGV[1], ARGV[4])
end
local counted = 'batch:' .. ARGV[1] .. ARGV[2]
local last = redis.call('HGET', KEYS[1], counted)
if last and tonumber(ARGV[3]) <= tonumber(last) then return 0 end
for i = 5, #ARGV, 3 do
  local shard = tonumber(ARGV[i])
  local stream, counters = KEYS[2 + 2 * shard], KEYS[3 + 2 * shard]
  local rows = redis.call('HINCRBY', counters, 'rows', ARGV[i + 1])
  redis.call('HINCRBY', counters, 'bytes', #ARGV[i + 2])
  redis.call('XADD', stream, rows .. '-0', 'n', ARGV[i + 1], 'd', ARGV[i + 2])
end
redis.call('HSET', KEYS[1], counted, ARGV[3])
return 1
"""

# KEYS: edge hash. ARGV: producer, token. Nothing older than the token is taken from now on.
_FENCE = """
local fence = tonumber(redis.call('HGET', KEYS[1], 'fence:' .. ARGV[1]) or '0')
if fence < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], 'fence:' .. ARGV[1], ARGV[2]) end
return 1
"""

# KEYS: edge hash. ARGV: consumer, then shard and offset in turn. The slices of one operator
# commit side by side, each its own shards; an offset never goes back.
_COMMIT = """
local field = 'consumer:' .. ARGV[1]
local ok, known = pcall(cjson.decode, redis.call('HGET', KEYS[1], field) or '{}')
if not ok or type(known) ~= 'table' then known = {} end
for i = 2, #ARGV, 2 do
  local before = tonumber(known[ARGV[i]]) or 0
  known[ARGV[i]] = math.max(before, tonumber(ARGV[i + 1]))
end
redis.call('HSET', KEYS[1], field, next(known) and cjson.encode(known) or '{}')
return 1
"""


class Chunk(NamedTuple):
    """Rows for one shard, encoded."""

    shard: int
    rows: int
    data: bytes


class EdgeStream:
    """One log with a fixed number of shards."""

    def __init__(self, client: redis.Redis, name: str, shards: int = 2) -> None:
        if shards < 1:
            raise InvalidInput(f"edge '{name}' needs at least one shard", field="shards")
        self.client = client
        self.name = name
        self.shards = shards
        self._append = client.register_script(_APPEND)
        self._fence = client.register_script(_FENCE)
        self._commit = client.register_script(_COMMIT)

    def append(
        self,
        producer: str,
        batch: int,
        chunks: Iterable[Chunk],
        fence: int | None = None,
        part: str = "",
    ) -> bool:
        """Append one batch of a producer, or of a part of it, to all shards at once; False if it
        was there already."""
        names = [keys.edge(self.name)]
        for shard in range(self.shards):
            names += [keys.edge_shard(self.name, shard), keys.edge_shard_at(self.name, shard)]
        args: list[EncodableT] = [producer, part, batch, "" if fence is None else fence]
        for chunk in chunks:
            args += chunk
        done = self._append(keys=names, args=args)
        if done == -1:
            raise Fenced(f"edge '{self.name}': a newer run of '{producer}' is writing")
        return bool(done)

    def fence(self, producer: str, token: int) -> None:
        """Take nothing more from runs of a producer that hold an older token."""
        self._fence(keys=[keys.edge(self.name)], args=[producer, token])

    def last_batch(self, producer: str) -> int:
        """The producer's newest batch, -1 before the first."""
        found = self.client.hget(keys.edge(self.name), f"batch:{producer}")
        try:
            return -1 if found is None else int(found)
        except ValueError:
            raise Unavailable(f"edge '{self.name}': the last batch cannot be read") from None

    def ends(self, shards: Iterable[int] | None = None) -> dict[str, int]:
        """Rows appended to these shards, or all, so far: the latest offset."""
        return {str(i): rows for i, (rows, _) in self.counters(shards).items()}

    def starts(self, shards: Iterable[int] | None = None) -> dict[str, int]:
        """Rows before the oldest one still there, by shard: where a new consumer begins."""
        starts = {}
        for shard, end in self.ends(shards).items():
            first = self._entries(int(shard), count=1)
            starts[shard] = (
                int(first[0][0].split(b"-")[0]) - self._rows(*first[0]) if first else end
            )
        return starts

    def totals(self, shards: Iterable[int] | None = None) -> tuple[int, int]:
        """Rows and bytes appended to these shards, or all, so far."""
        counters = self.counters(shards).values()
        return sum(r for r, _ in counters), sum(b for _, b in counters)

    def counters(self, shards: Iterable[int] | None = None) -> dict[int, tuple[int, int]]:
        """Rows and bytes appended so far to each of these shards, or all."""
        wanted = list(range(self.shards) if shards is None else shards)
        pipe = self.client.pipeline(transaction=False)
        for shard in wanted:
            pipe.hmget(keys.edge_shard_at(self.name, shard), "rows", "bytes")
        try:
            found = [(int(rows or 0), int(size or 0)) for rows, size in pipe.execute()]
        except ValueError:
            raise Unavailable(f"edge '{self.name}': its counts of rows cannot be read") from None
        return dict(zip(wanted, found, strict=True))

    def read(self, shard: int, start: int, end: int, page: int = 64) -> Iterator[pa.RecordBatch]:
        """The rows from offset `start` up to `end` of one shard."""
        at = start
        while at < end:
            entries = self._entries(shard, min=f"({at}-0", count=page)
            for entry_id, fields in entries:
                until = int(entry_id.split(b"-")[0])
                first = until - self._rows(entry_id, fields)
                if first > at:
                    raise LookupError(
                        f"edge '{self.name}' shard {shard}: rows {at} to {first} are no longer there"
                    )
                rows = self._decode(entry_id, fields)
                yield from _slice(rows, at - first, min(until, end) - first)
                at = min(until, end)
                if at >= end:
                    return
            if not entries:
                raise LookupError(
                    f"edge '{self.name}' shard {shard}: rows {at} to {end} are not there"
                )

    def _entries(self, shard: int, **which: Any) -> list[Entry]:
        found: Any = self.client.xrange(keys.edge_shard(self.name, shard), **which)
        return list(found)

    # Rows are not skipped, as they would be missing from every count that follows: an operator
    # that meets one that cannot be read fails and says which.

    def _rows(self, entry_id: bytes, fields: Mapping[bytes, bytes]) -> int:
        try:
            return int(fields[b"n"])
        except (KeyError, ValueError):
            raise LookupError(self._unreadable(entry_id)) from None

    def _decode(self, entry_id: bytes, fields: Mapping[bytes, bytes]) -> list[pa.RecordBatch]:
        try:
            return decode(fields[b"d"])
        except (KeyError, OSError, pa.ArrowException):
            raise LookupError(self._unreadable(entry_id)) from None

    def _unreadable(self, entry_id: bytes) -> str:
        return f"edge '{self.name}': the rows up to {entry_id.decode()} cannot be read"

    # -- consumers and trimming

    def register(self, consumer: str) -> None:
        """From now on nothing is trimmed that this consumer has not committed."""
        self.client.hsetnx(keys.edge(self.name), f"consumer:{consumer}", b"{}")

    def forget(self, consumer: str) -> None:
        """The consumer will not come back: stop keeping rows for it."""
        self.client.hdel(keys.edge(self.name), f"consumer:{consumer}")

    def commit(self, consumer: str, offsets: Mapping[str, int]) -> None:
        """Record what a consumer has done in these shards, then drop what every consumer has
        done in them."""
        args: list[EncodableT] = [consumer]
        for shard, offset in offsets.items():
            args += [shard, offset]
        self._commit(keys=[keys.edge(self.name)], args=args)
        self.trim(int(shard) for shard in offsets)

    def committed(self) -> dict[str, dict[str, int]]:
        """Offsets of every registered consumer. Whose offsets cannot be read has done nothing yet
        as far as is known: rows that it may need are kept."""
        found: Any = self.client.hgetall(keys.edge(self.name))
        return {
            name.decode("utf-8", "backslashreplace").removeprefix("consumer:"): _offsets(value)
            for name, value in found.items()
            if name.startswith(b"consumer:")
        }

    def trim(self, shards: Iterable[int] | None = None) -> None:
        """Drop the chunks of these shards, or all, that lie wholly behind every consumer."""
        consumers = self.committed().values()
        if not consumers:
            return
        pipe = self.client.pipeline(transaction=False)
        for shard in range(self.shards) if shards is None else shards:
            done = min(offsets.get(str(shard), 0) for offsets in consumers)
            if done:
                # An entry's id is its last row: keep those that end after `done`.
                pipe.xtrim(keys.edge_shard(self.name, shard), minid=f"{done}-1", approximate=False)
        pipe.execute()


def _offsets(value: bytes) -> dict[str, int]:
    try:
        return msgspec.json.decode(value, type=dict[str, int])
    except (msgspec.DecodeError, RecursionError):
        return {}


def encode(batch: pa.RecordBatch) -> bytes:
    """A record batch as an Arrow IPC stream. Every column may hold nothing, as readers declare it,
    also where Spark knows that it never does."""
    schema = pa.schema([field.with_nullable(True) for field in batch.schema])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return bytes(sink.getvalue().to_pybytes())


def decode(data: bytes) -> list[pa.RecordBatch]:
    """The record batches of an Arrow IPC stream; data only, nothing is executed."""
    with pa.ipc.open_stream(data) as reader:
        return list(reader)


def chunks_of(shard: int, batch: pa.RecordBatch, rows: int = CHUNK_ROWS) -> list[Chunk]:
    """A record batch cut into chunks for one shard."""
    parts = (batch.slice(at, rows) for at in range(0, batch.num_rows, rows))
    return [Chunk(shard, part.num_rows, encode(part)) for part in parts]


def _slice(batches: Sequence[pa.RecordBatch], start: int, end: int) -> Iterator[pa.RecordBatch]:
    at = 0
    for batch in batches:
        first, last = max(start - at, 0), min(end - at, batch.num_rows)
        if first < last:
            yield batch.slice(first, last - first)
        at += batch.num_rows
