"""What the store in Redis rests on: values read one by one, its clock, and the audit trail."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha1
from typing import Any, NamedTuple, TypeVar

import msgspec
import redis
from redis.typing import EncodableT

from weir.controllers.engine.audit import AuditEntry, seal_entry, unreadable
from weir.controllers.engine.skipped import Skipped
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.placement import Lease
from weir.metrics.store import keys, scripts
from weir.metrics.store.clock import StoreClock
from weir.metrics.store.entries import Entries
from weir.metrics.store.keyring import Keyring

T = TypeVar("T")

AUDIT = "audit entry"
SEALS = 200
"""How often an entry is resealed when others write to the trail at the same time."""
MOST_NUMBER = 10**15
"""Of an entry; nobody gets there by adding one at a time."""
CROWDED = "too many write to the audit trail at once; try again"

_encode = msgspec.json.encode
_entry = msgspec.json.Decoder(AuditEntry)


class AuditedChange(NamedTuple):
    """One field of a hash that changes with others and their audit entry."""

    key: str
    field: str  # empty: the whole key goes
    value: bytes | None = None  # None: it is removed
    seen: str = "*"  # what it must hold, see `scripts.CHANGE`


def sha1_of(data: bytes) -> str:
    """As Redis computes it."""
    return sha1(data, usedforsecurity=False).hexdigest()


def seen_as(data: bytes | None) -> str:
    """What a field held when it was looked at, for `Change.seen`."""
    return "-" if data is None else sha1_of(data)


class RedisAudit:
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.entries = Entries()
        self.keyring = Keyring(in_use=self._is_signed)
        self._time = StoreClock(client)
        self._change_at_once = client.register_script(scripts.CHANGE)
        self._remove_stray = client.register_script(scripts.STRAY)

    def now(self) -> float:
        """The time as the store has it."""
        return self._time.now()

    def note_fault(self, where: str, error: Exception) -> None:
        """Log what nobody expected, and let the next sign of life tell of it."""
        self.entries.note_fault(where, error)

    def skipped(self) -> tuple[Skipped, ...]:
        """What could not be read lately, by kind."""
        return self.entries.skipped()

    # -- values, each read on its own

    def _hash(self, kind: str, key: str) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = self.entries.ask(
            kind, key, lambda: self.client.hgetall(key), {}
        )
        return found

    def _field(self, kind: str, key: str, name: str, decode: Callable[[bytes], T]) -> T | None:
        data: bytes | None = self.entries.ask(kind, key, lambda: self.client.hget(key, name), None)
        return None if data is None else self.entries.read(kind, name, data, decode)

    def _fields(self, kind: str, key: str, *names: str) -> list[bytes | None]:
        found: list[bytes | None] = self.entries.ask(
            kind, key, lambda: self.client.hmget(key, list(names)), [None] * len(names)
        )
        return found

    def _raw(self, key: str, name: str) -> bytes | None:
        """A field as it stands, for a change that is bound to what was seen."""
        data: Any = self.client.hget(key, name)
        return None if data is None else bytes(data)

    def _value(self, kind: str, key: str, decode: Callable[[bytes], T]) -> T | None:
        data: bytes | None = self.entries.ask(kind, key, lambda: self.client.get(key), None)
        return None if data is None else self.entries.read(kind, key, data, decode)

    # -- audit

    def append_audit(self, entry: AuditEntry) -> AuditEntry:
        """Add to the trail; the entry comes back with its number and seal."""
        for _ in range(SEALS):
            kept = self._next_entry(entry)
            try:
                self.client.xadd(
                    keys.AUDIT,
                    {"e": _encode(kept)},
                    id=f"{kept.number}-0",
                    maxlen=keys.AUDIT_KEPT,
                    approximate=True,
                )
            except redis.exceptions.ResponseError as error:
                if "equal or smaller" not in str(error):
                    raise
                continue  # somebody else was first: seal again behind their entry
            return kept
        raise Unavailable(CROWDED)

    def audit(self, limit: int = 100, before_number: int | None = None) -> list[AuditEntry]:
        """The newest entries, newest first; those before a number to look further back."""
        newest = "+" if before_number is None else f"({before_number}-0"
        return self._entries_of(lambda: self.client.xrevrange(keys.AUDIT, max=newest, count=limit))

    def audit_since(self, number: int) -> list[AuditEntry]:
        """Every entry from a number on, oldest first."""
        return self._entries_of(lambda: self.client.xrange(keys.AUDIT, min=f"{number}-0"))

    def _entries_of(self, question: Callable[[], Any]) -> list[AuditEntry]:
        rows: list[tuple[bytes, dict[bytes, bytes]]] = self.entries.ask(
            AUDIT, keys.AUDIT, question, []
        )
        return [self._entry(entry_id, fields) for entry_id, fields in rows]

    def _entry(self, entry_id: bytes, fields: Mapping[bytes, bytes]) -> AuditEntry:
        """One that cannot be read keeps its place in the trail, where it breaks the chain."""
        number = int(entry_id.split(b"-")[0])
        found = self.entries.read(AUDIT, entry_id, fields.get(b"e", b""), _entry.decode)
        if found is not None and found.number != number:
            self.entries.skip(AUDIT, entry_id, "it has another number")
        return found if found is not None and found.number == number else unreadable(number)

    def _run_audited(
        self,
        script: Any,
        over: Sequence[str],
        args: Sequence[EncodableT],
        audit: AuditEntry | None,
    ) -> bool:
        """Run a script that also writes to the trail; reseal and retry when others were first."""
        for _ in range(SEALS):
            entry = self._next_entry(audit) if audit else None
            said = [entry.number, _encode(entry)] if entry else ["", ""]
            done = script(keys=[*over, keys.AUDIT], args=[*args, *said, keys.AUDIT_KEPT])
            if done >= 0:
                return bool(done)
        raise Unavailable(CROWDED)

    def _change(
        self,
        changes: Sequence[AuditedChange],
        audit: AuditEntry | None = None,
        leader: Lease | None = None,
    ) -> bool:
        """All of it and its entry if there is one, or nothing; False if somebody else was first."""
        over = list(dict.fromkeys(c.key for c in changes))
        args: list[EncodableT] = [leader.token if leader else "", len(changes)]
        for c in changes:
            todo = "set" if c.value is not None else "remove" if c.field else "drop"
            args += [over.index(c.key) + 2, c.field, c.seen, todo, c.value or b""]
        lease = keys.lease(leader.name if leader else "")
        return self._run_audited(self._change_at_once, [lease, *over], args, audit)

    def _is_signed(self) -> bool:
        """Whether somebody has a key already."""
        newest = self.audit(limit=1)
        return bool(newest and newest[0].signature)

    def _next_entry(self, entry: AuditEntry) -> AuditEntry:
        try:
            info = self.client.xinfo_stream(keys.AUDIT)
        except redis.exceptions.ResponseError as error:
            if "WRONGTYPE" in str(error):  # as if somebody had deleted it, which shows as well
                self.client.rename(keys.AUDIT, keys.AUDIT_ASIDE)
                self.entries.skip(AUDIT, keys.AUDIT, "the key held another type")
            # Nothing was ever written.
            return seal_entry(entry, 1, "", self.keyring.audit_key())
        # The stream knows its last number even if somebody took the last entries out;
        # the gap then shows in the chain.
        number = int(info["last-generated-id"].split(b"-")[0]) + 1
        if number > MOST_NUMBER:
            self._remove_stray(keys=[keys.AUDIT], args=[MOST_NUMBER])
            self.entries.skip(AUDIT, str(number - 1), "no entry has such a number; it was removed")
            return self._next_entry(entry)
        last = info["last-entry"]
        seal = self._entry(*last).seal if last else ""
        return seal_entry(entry, number, seal, self.keyring.audit_key())
