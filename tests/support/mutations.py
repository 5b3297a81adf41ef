"""Values in Redis as somebody else may leave them: broken in every way, by a seed."""

import json
import random
from collections.abc import Callable
from typing import Any

import redis

ODD: tuple[Any, ...] = (
    None, True, -1, -0.5, 1e308, -1e308, 10**30, 2**63, 0, "", "x" * 20_000, "\x1b[2J\x00", "é",
    "NaN", [], {}, [[1]], {"a": {"b": 1}},
)  # fmt: skip
TEXTS = (
    b"", b"null", b"NaN", b"Infinity", b"1e999", b"-1", b"[]", b"{}", b"true", b'"text"', b"{",
    b"\xff\xfe\x00\x80", b"[" * 50_000, b'{"a":' * 20_000, b"9" * 5000, b" ", b"\x00",
)  # fmt: skip


class Odd:
    """Texts as somebody else may leave them, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self, data: bytes) -> bytes:
        """A value as it may come to be: cut, another one, or the same with one part of it odd."""
        way = self._random.randrange(4)
        if way == 0:
            return data[: self._random.randrange(len(data))] if data else b"{"
        if way == 1:
            return self._random.choice(TEXTS)
        try:
            value = json.loads(data)
        except ValueError:
            return self._random.choice(TEXTS)
        return json.dumps(self._odd(value)).encode()

    def _odd(self, value: Any) -> Any:
        """One leaf replaced or missing, wherever it is."""
        if isinstance(value, dict) and value and self._random.random() < 0.9:
            key = self._random.choice(sorted(value))
            if self._random.random() < 0.15:
                return {k: v for k, v in value.items() if k != key}
            return {**value, key: self._odd(value[key])}
        if isinstance(value, list) and value and self._random.random() < 0.9:
            i = self._random.randrange(len(value))
            return [*value[:i], self._odd(value[i]), *value[i + 1 :]]
        return self._random.choice(ODD)

    def line(self, data: bytes) -> bytes:
        """Lines of text with one byte, cell or line of them changed, doubled or gone."""
        lines = data.split(b"\n")
        i, way = self._random.randrange(len(lines)), self._random.randrange(5)
        if way == 0:
            lines[i] = self._random.choice(TEXTS)
        elif way == 1:
            del lines[i]
        elif way == 2:
            lines[i:i] = [lines[i]] * 3
        elif way == 3:
            cells = lines[i].split(b",")
            cells[self._random.randrange(len(cells))] = self._random.choice(TEXTS)
            lines[i] = b",".join(cells)
        else:
            at = self._random.randrange(len(data) + 1)
            return data[:at] + bytes([self._random.randrange(256)]) + data[at + 1 :]
        return b"\n".join(lines)


class Mutations(Odd):
    """Changes one value of a Redis at a time, and can put it back."""

    def __init__(self, client: redis.Redis, seed: int) -> None:
        super().__init__(seed)
        self._client: Any = client  # whose annotations allow text where it answers bytes

    def change(self, key: bytes) -> Callable[[], None]:
        """Break something about a key; what comes back undoes it."""
        before, ttl_ms = self._client.dump(key), self._client.pttl(key)
        kind = self._client.type(key).decode()
        change = self._random.choice(
            [self._type, getattr(self, f"_{kind}"), getattr(self, f"_{kind}")]
        )
        change(key)

        def undo() -> None:
            self._client.restore(key, max(0, ttl_ms), before, replace=True)

        return undo

    # -- by the type that Redis knows

    def _type(self, key: bytes) -> None:
        before = self._client.type(key)
        self._client.delete(key)
        makers: dict[bytes, Callable[[], Any]] = {
            b"string": lambda: self._client.set(key, b"\x80"),
            b"list": lambda: self._client.rpush(key, b"{}"),
            b"hash": lambda: self._client.hset(key, "a", "{}"),
            b"set": lambda: self._client.sadd(key, b"\xff"),
            b"zset": lambda: self._client.zadd(key, {b"\xff": float("inf")}),
            b"stream": lambda: self._client.xadd(key, {"a": "b"}),
        }
        makers[self._random.choice([t for t in makers if t != before])]()

    def _string(self, key: bytes) -> None:
        self._client.set(key, self.text(self._client.get(key) or b""), keepttl=True)

    def _hash(self, key: bytes) -> None:
        name = self._random.choice(sorted(self._client.hkeys(key)))
        way = self._random.randrange(6)
        data = self._client.hget(key, name) or b""
        if way == 0:
            self._client.hset(key, b"\xff\xfe" + name, data)
        elif way == 1:
            self._client.hset(key, name + b"\n" * 300, data)
        elif way == 2 and self._client.hlen(key) > 1:
            self._client.hdel(key, name)
        else:
            self._client.hset(key, name, self.text(data))

    def _stream(self, key: bytes) -> None:
        entry_id, fields = self._random.choice(self._client.xrange(key))
        if self._random.random() < 0.2:  # at the end, with an id of its own
            far = self._random.choice(["*", "9999999999999-0", "18446744073709551615-1"])
            self._client.xadd(key, {"s": b"{", "e": b"", "id": b"\xff"}, id=far)
            return
        entries = self._client.xrange(key)
        last = self._client.xinfo_stream(key)["last-generated-id"]
        ttl_ms = self._client.pttl(key)
        self._client.delete(key)
        for known, values in entries:
            if known == entry_id:
                name = self._random.choice(sorted(fields))
                odd = {name: self.text(fields[name])} if self._random.random() < 0.8 else {"q": "1"}
                values = {**fields, **odd} if name in odd else odd
            self._client.xadd(key, values, id=known)
        self._client.execute_command("XSETID", key, last)
        if ttl_ms > 0:
            self._client.pexpire(key, ttl_ms)

    def _zset(self, key: bytes) -> None:
        odd = self._random.choice([b"", b"\xff", b"x" * 5000, b"unknown", b"a\nb"])
        self._client.zadd(key, {odd: self._random.choice([0, -1, 1e308, float("inf")])})

    def _set(self, key: bytes) -> None:
        self._client.sadd(key, self._random.choice([b"", b"\xff", b"x" * 5000, b"unknown"]))
