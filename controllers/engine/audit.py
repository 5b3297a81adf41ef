"""The audit trail: append-only, each entry sealed with the hash of the one before.

Changing, removing or inserting an entry breaks the chain from there on, and `first_break` says
where; anybody can check that, of an export too. Whoever can write to Redis could seal it all
again. So each seal is signed with a key that is not in Redis, and `verify_chain` looks at

- the signatures: once there was one, every later entry has one that fits;
- the beginning: the oldest entries are dropped only when there are more than are kept;
- an anchor: the newest entry of the last check, remembered where Redis cannot reach. Web servers
  take one every minute, by themselves.

What it cannot see: entries that whoever has the key changed between two checks, and the newest
ones being cut off before an anchor was taken of them.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.age import Time


class AuditEntry(Struct, frozen=True, kw_only=True):
    """Who did what, when, from where and why, with the figures around it."""

    at: Time
    by: str
    action: str  # e.g. "recommendation.approved", "settings.changed", "sign_in.failed"
    subject: str = ""  # a recommendation's id, a cluster, a user
    address: str = ""
    why: str = ""
    plan_hash: str = ""
    before: dict[str, object] = {}
    predicted: dict[str, object] = {}
    measured: dict[str, object] = {}
    detail: str = ""
    number: int = 0  # given by the store
    previous: str = ""  # seal of the entry before
    seal: str = ""
    signature: str = ""  # of the seal, by a holder of the key


def seal_entry(
    entry: AuditEntry, number: int, previous: str, key: bytes | None = None
) -> AuditEntry:
    """The entry as it is kept, signed if there is a key.

    >>> first = seal_entry(AuditEntry(at=1.0, by="ada", action="paused"), 1, "")
    >>> second = seal_entry(AuditEntry(at=2.0, by="ada", action="resumed"), 2, first.seal)
    >>> first_break([first, second]) is None
    True
    >>> first_break([replace(first, by="eve"), second])
    1
    """
    open_ = msgspec.to_builtins(replace(entry, number=number, previous=previous, seal=""))
    del open_["signature"]  # it signs the seal
    seal = hashlib.sha256(msgspec.json.encode(open_)).hexdigest()
    signature = signature_of(seal, key) if key else ""
    return replace(entry, number=number, previous=previous, seal=seal, signature=signature)


def signature_of(seal: str, key: bytes) -> str:
    """What only a holder of the key can write below a seal."""
    return hmac.new(key, seal.encode(), "sha256").hexdigest()


def unreadable(number: int) -> AuditEntry:
    """What stands in the trail for an entry that cannot be read: no seal fits it."""
    return AuditEntry(at=0.0, by="?", action="unreadable", number=number)


def first_break(entries: Iterable[AuditEntry]) -> int | None:
    """Number of the first entry that does not fit, oldest first; None for a whole chain.

    A trail whose beginning was trimmed by retention begins with any number.
    """
    before: AuditEntry | None = None
    for entry in entries:
        fits = seal_entry(entry, entry.number, entry.previous).seal == entry.seal
        if before is not None:
            fits = fits and (entry.number, entry.previous) == (before.number + 1, before.seal)
        if not fits:
            return entry.number
        before = entry
    return None


Read = Callable[[int, int | None], list[AuditEntry]]
"""Reads entries newest first: at most `limit`, with a number below the one given."""
CHUNK = 500


class Anchor(Struct, frozen=True, kw_only=True):
    """The newest entry when the trail was last found whole."""

    number: int
    seal: str
    at: float  # when that was
    signed_from: int = 0  # number of the first entry with a signature; 0: there was none


class Chain(Struct, frozen=True, kw_only=True):
    """Whether the trail is as it was written."""

    checked: int
    broken: int | None = None  # number of the first entry that does not fit
    lost: str = ""  # what is missing at the ends, in a sentence
    first: AuditEntry | None = None
    last: AuditEntry | None = None
    anchor: Anchor | None = None  # that it was compared with
    signed_from: int = 0  # number of the first entry with a signature; 0: there is none

    @property
    def whole(self) -> bool:
        """Whether nothing contradicts it."""
        return self.broken is None and not self.lost


def read_entries(read: Read, before: int | None = None) -> Iterator[AuditEntry]:
    """The whole trail below a number, newest first, read in pieces."""
    while True:
        chunk = read(CHUNK, before)
        yield from chunk
        if len(chunk) < CHUNK:
            return
        before = chunk[-1].number


def verify_chain(
    read: Read,
    *,
    kept: int,
    anchor: Anchor | None = None,
    key: bytes | None = None,
    since_anchor: bool = False,
) -> Chain:
    """Check every seal, link and signature from the newest entry back, and both ends; `kept` is
    how many stay. `since_anchor` looks no further back than the last check did."""
    checked, broken, same = 0, None, True
    signed_from = anchor.signed_from if anchor else 0
    unsigned: int | None = None  # the oldest one so far without a signature
    newest: AuditEntry | None = None
    newer: AuditEntry | None = None
    for entry in read_entries(read):
        newest = newest or entry
        checked += 1
        # Each pair on its own, so that the whole trail never has to be in memory.
        wrong = first_break([entry, newer] if newer else [entry])
        broken = broken if wrong is None else wrong
        if not entry.signature:
            unsigned = entry.number
            if 0 < signed_from <= entry.number and key:
                broken = entry.number
        elif key:
            if unsigned is not None:
                broken = min(unsigned, broken or unsigned)
            if not hmac.compare_digest(signature_of(entry.seal, key), entry.signature):
                broken = entry.number
            signed_from = min(signed_from or entry.number, entry.number)
        if anchor is not None and entry.number == anchor.number:
            same = entry.seal == anchor.seal
        newer = entry
        if since_anchor and anchor is not None and entry.number <= anchor.number:
            break
    # New entries may have come meanwhile and pushed the oldest out.
    now = next(iter(read(1, None)), None)
    part = since_anchor and anchor is not None
    lost = _end(newest, anchor, same) or ("" if part else _beginning(newer, now, kept))
    return Chain(
        checked=checked, broken=broken, lost=lost, first=newer, last=newest, anchor=anchor,
        signed_from=signed_from,
    )  # fmt: skip


def _end(last: AuditEntry | None, anchor: Anchor | None, same: bool) -> str:
    if anchor is None:
        return ""
    if last is None or last.number < anchor.number:
        ends = f"ends at entry {last.number}" if last else "is empty"
        return f"the trail {ends}, but at the last check there was an entry {anchor.number}"
    return "" if same else f"entry {anchor.number} is not the one that was there at the last check"


def _beginning(first: AuditEntry | None, newest: AuditEntry | None, kept: int) -> str:
    if first is None or newest is None:
        return ""
    if first.number == 1:
        return "" if not first.previous else "there was an entry before the first one"
    if newest.number - first.number + 1 >= kept:
        return ""
    return f"the entries before {first.number} are missing, though the newest {kept:,} are kept"
