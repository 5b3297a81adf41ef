"""The audit trail: filter, pages, the check of the chain, and the export."""

import csv
import io
from typing import Any

import msgspec
import pytest
from dash._utils import to_json
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.examples import examples
from weir.components.pages.audit import view
from weir.components.pages.audit.actions import _chosen_filter, _pages
from weir.components.pages.audit.export import COLUMNS, csv_lines, json_lines
from weir.components.pages.audit.render import chain_note, entries_list
from weir.controllers.engine import audit
from weir.controllers.engine.audit import Anchor, AuditEntry, first_break, seal_entry, verify_chain
from weir.controllers.model.errors import InvalidInput

KEPT = 100


def trail(count, first=1):
    """Entries of three people, oldest first, sealed."""
    entries, seal = [], ""
    for number in range(first, first + count):
        entry = AuditEntry(
            at=1000.0 + number,
            by=("ada", "engine", "grace")[number % 3],
            action="recommendation.approved" if number % 2 else "settings.changed",
            subject=f"r{number}",
            why="night shift" if number % 5 == 0 else "",
        )
        entries.append(seal_entry(entry, number, seal))
        seal = entries[-1].seal
    return entries


def reader(entries):
    """As the store reads it: newest first, below a number."""

    def read(limit, before):
        newest = [e for e in reversed(entries) if before is None or e.number < before]
        return newest[:limit]

    return read


def test_pages_join_to_the_whole_trail():
    entries = trail(2 * audit.CHUNK + 17)
    seen: list[Any] = []
    before: int | None = None
    while True:
        found = view.look(reader(entries), view.Filter(), before)
        seen += found.entries
        if found.older is None:
            break
        before = found.older
    assert [e.number for e in seen] == [e.number for e in reversed(entries)]


def test_filters_hold_together():
    read = reader(trail(300))
    found = view.look(read, view.Filter(who="ADA", action="approved", search="night"))
    assert found.entries
    assert {e.by for e in found.entries} == {"ada"}
    assert all(e.number % 2 and e.number % 5 == 0 for e in found.entries)
    between = view.look(read, view.Filter(since=1100.0, until=1110.0))
    assert [e.number for e in between.entries] == list(range(110, 99, -1))
    assert between.looked_at < 210, "what is older is not even looked at"


def test_a_filter_that_finds_little_says_how_far_it_came(monkeypatch):
    monkeypatch.setattr(view, "LOOKED_AT_MOST", 100)
    entries = trail(250)
    found = view.look(reader(entries), view.Filter(subject="r10"))
    assert found.gave_up
    assert (found.looked_at, found.older) == (100, 151)
    assert "looks further back" in to_json(entries_list(found, filtered=True))
    further = view.look(reader(entries), view.Filter(subject="r10"), found.older)
    last = view.look(reader(entries), view.Filter(subject="r10"), further.older)
    assert last.entries[-1].subject == "r10"


def test_a_whole_chain_is_whole_over_all_pieces():
    entries = trail(audit.CHUNK + 40, first=7)
    chain = verify_chain(reader(entries), kept=KEPT)
    assert (chain.checked, chain.broken) == (len(entries), None)
    assert (chain.first.number, chain.last.number) == (7, 6 + len(entries))
    assert "every seal fits" in to_json(chain_note(chain))


@given(st.integers(0, 59), st.sampled_from(["change", "take out"]))
@settings(max_examples=examples(25))
def test_tampering_is_found_where_it_was_done(index, how):
    entries = trail(60)
    if how == "change":
        entries[index] = replace(entries[index], by="eve")
    else:
        del entries[index]
    expected = first_break(entries)
    assert verify_chain(reader(entries), kept=KEPT).broken == expected


def test_tampering_across_pieces_is_found(monkeypatch):
    monkeypatch.setattr(audit, "CHUNK", 10)
    entries = trail(35)
    entries[9] = replace(entries[9], why="")  # its seal no longer fits
    chain = verify_chain(reader(entries), kept=KEPT)
    assert chain.broken == 10
    assert "broken at entry 10" in to_json(chain_note(chain))


def test_the_page_says_what_is_lost_and_what_a_check_cannot_see():
    entries = trail(5)
    said = to_json(chain_note(verify_chain(reader(entries), kept=KEPT)))
    assert "first check" in said
    assert "rewrite what came after the last check" in said
    anchor = Anchor(number=4, seal=entries[3].seal, at=1.0)
    chain = verify_chain(reader(entries), kept=KEPT, anchor=anchor)
    assert "Entry 4 is still the one that the last check saw" in to_json(chain_note(chain))
    nothing: list[AuditEntry] = []
    for left in (entries[:3], nothing):
        cut = to_json(
            chain_note(verify_chain(reader(left), kept=KEPT, anchor=anchor), "audit.json")
        )
        assert "at the last check there was an entry 4" in cut
        assert "remembered in audit.json" in cut
        assert '"data-chain":"broken"' in cut


def test_an_empty_trail_is_nothing_to_worry_about():
    chain = verify_chain(reader([]), kept=KEPT)
    assert chain.checked == 0
    assert "no entry to check" in to_json(chain_note(chain))
    empty = view.look(reader([]), view.Filter())
    assert "Nothing has been done yet" in to_json(entries_list(empty, filtered=False))
    assert "No entry fits" in to_json(entries_list(empty, filtered=True))


def test_the_filter_stands_in_the_address():
    chosen = view.Filter(who="ada", search="a&b", since=5.0)
    assert view.filter_in(view.query_of(chosen)) == chosen
    assert view.filter_in("?since=yesterday") == view.Filter()
    with pytest.raises(InvalidInput, match="since is a time"):
        view.filter_of({"since": "yesterday"})
    form = _chosen_filter(["x", "", None, ""], [5, None])
    assert (form.search, form.who, form.since, form.until) == ("x", "", 5.0, None)
    assert _chosen_filter(["", "", "", ""], "nonsense") == view.Filter()


def test_back_and_forth():
    assert _pages([[], 90], "audit-older") == [90]
    assert _pages([[90], 40], "audit-older") == [90, 40]
    assert _pages([[90, 40], None], "audit-newer") == [90]
    assert _pages([[90, 40], None], "audit-who") == [], "a new filter starts over"
    assert _pages("nonsense", "audit-older") == []


def test_csv_has_every_column_and_no_formula():
    entry = seal_entry(AuditEntry(at=0.5, by="=cmd()", action="x", why='say "no", now'), 1, "")
    rows = list(csv.DictReader(io.StringIO("".join(csv_lines([entry])))))
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["by"] == "'=cmd()"
    assert rows[0]["why"] == 'say "no", now'
    assert rows[0]["at_utc"] == "1970-01-01T00:00:00.500+00:00"


def test_json_lines_can_be_checked_elsewhere():
    entries = trail(5)
    lines = "".join(json_lines(entries)).splitlines()
    again = [msgspec.json.decode(line, type=AuditEntry) for line in lines]
    assert again == entries
    assert first_break(again) is None
