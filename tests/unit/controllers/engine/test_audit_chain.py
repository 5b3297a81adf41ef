"""Whether the audit trail is whole: within, at both ends, and against what was seen before."""

import pytest
from msgspec.structs import replace

from weir.controllers.engine.audit import Anchor, AuditEntry, seal_entry, verify_chain
from weir.controllers.model.errors import Unavailable
from weir.metrics.store.anchor import AnchorFile
from weir.metrics.store.memory_store import MemoryStore

KEPT = 20


def resealed(entries, first=1, previous=""):
    """The same entries in a chain of their own."""
    found = []
    for number, entry in enumerate(entries, start=first):
        found.append(seal_entry(entry, number, previous))
        previous = found[-1].seal
    return found


def trail(count, first=1):
    entries = [AuditEntry(at=float(n), by="ada", action="mode.changed") for n in range(count)]
    return resealed(entries, first, "" if first == 1 else "gone")


def reader(entries):
    def read(limit, before):
        return [e for e in reversed(entries) if before is None or e.number < before][:limit]

    return read


def anchor(entry):
    return Anchor(number=entry.number, seal=entry.seal, at=1.0)


def lost(entries, seen=None):
    return verify_chain(reader(entries), kept=KEPT, anchor=anchor(seen) if seen else None).lost


def test_a_trail_that_goes_on_is_whole():
    entries = trail(12)
    assert verify_chain(reader(entries), kept=KEPT, anchor=anchor(entries[7])).whole
    assert verify_chain(reader(entries), kept=KEPT, anchor=anchor(entries[-1])).whole


def test_a_cut_tail_is_missed():
    entries = trail(12)
    assert lost(entries[:-1], entries[-1]) == (
        "the trail ends at entry 11, but at the last check there was an entry 12"
    )


def test_a_cut_head_is_missed_unless_that_many_are_not_kept():
    entries = trail(KEPT + 5)
    assert lost(entries[5:]) == ""
    assert lost(entries[6:]) == ("the entries before 7 are missing, though the newest 20 are kept")
    assert lost(entries[3:8]).startswith("the entries before 4 are missing")


def test_trimming_while_it_is_checked_is_no_loss():
    entries = trail(KEPT + 2)
    reads = iter([entries[4:KEPT], entries[4:]])  # two more came, and took the oldest with them
    assert verify_chain(lambda limit, before: next(reads)[::-1], kept=KEPT - 2).whole


def test_a_trail_that_was_sealed_anew_is_another_one():
    entries = trail(12)
    forged = resealed([replace(e, by="eve") for e in entries])
    assert verify_chain(reader(forged), kept=KEPT).whole, "without an anchor nobody can tell"
    assert lost(forged, entries[4]) == "entry 5 is not the one that was there at the last check"


def test_a_deleted_trail_is_missed_empty_or_begun_again():
    entries = trail(12)
    assert lost([], entries[-1]) == (
        "the trail is empty, but at the last check there was an entry 12"
    )
    assert lost(resealed(entries[:3]), entries[-1]).startswith("the trail ends at entry 3")
    assert lost(resealed([replace(e, at=9.0) for e in entries]), entries[-1])
    assert lost(trail(3, first=13), entries[-1]).startswith("the entries before 13 are missing")


def test_what_stood_before_the_anchor_may_have_been_trimmed_since():
    entries = trail(3 * KEPT)
    assert verify_chain(reader(entries[-KEPT:]), kept=KEPT, anchor=anchor(entries[4])).whole


def test_the_file_remembers_the_last_check_and_only_a_whole_one(tmp_path):
    store = MemoryStore()
    file = AnchorFile.beside(tmp_path / "state" / "users.json", "redis://:secret@db:6379/0")
    assert file.check(store.audit).checked == 0
    assert not file.path.exists()
    for _ in range(5):
        store.append_audit(AuditEntry(at=1.0, by="ada", action="mode.changed"))
    assert file.check(store.audit).anchor is None
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.check(store.audit).anchor.number == 5
    gone = store._audit.pop()
    for _ in range(2):  # it does not get used to it
        assert "there was an entry 5" in file.check(store.audit).lost
    assert file.check(store.audit, anew=True).whole
    assert file.check(store.audit).anchor.number == 4
    store._audit.append(gone)
    assert file.check(store.audit).whole


def test_each_redis_has_its_own_and_a_damaged_file_is_said(tmp_path):
    users = tmp_path / "users.json"
    one = AnchorFile.beside(users, "redis://db:6379/0")
    assert one.path == AnchorFile.beside(users, "redis://:secret@db:6379/0").path
    assert one.path != AnchorFile.beside(users, "redis://db:6379/1").path
    one.path.write_text("{")
    with pytest.raises(Unavailable, match="cannot be read"):
        one.check(MemoryStore().audit)
