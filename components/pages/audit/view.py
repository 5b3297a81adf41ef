"""The audit trail as people look through it: filter and page."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from weir.controllers.engine.audit import AuditEntry, Read, read_entries
from weir.controllers.model.errors import InvalidInput

PAGE = 50
LOOKED_AT_MOST = 10_000
"""Entries that one look goes through; a filter that finds little says how far it came."""


class Filter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to show; every part that is given has to hold."""

    who: str = ""
    action: str = ""
    subject: str = ""
    since: float | None = None
    until: float | None = None
    search: str = ""

    def fits(self, entry: AuditEntry) -> bool:
        """Whether an entry is to be shown.

        >>> entry = AuditEntry(at=5.0, by="ada", action="recommendation.approved", why="Night")
        >>> Filter(who="AD", search="night").fits(entry), Filter(since=6.0).fits(entry)
        (True, False)
        """
        return (
            _within(self.who, entry.by)
            and _within(self.action, entry.action)
            and _within(self.subject, entry.subject)
            and (self.since is None or entry.at >= self.since)
            and (self.until is None or entry.at <= self.until)
            and (not self.search or _within(self.search, _text(entry)))
        )


class TrailPage(Struct, frozen=True, kw_only=True):
    """One page of the trail."""

    entries: tuple[AuditEntry, ...] = ()
    older: int | None = None  # number to go on below; None: this is the end
    looked_at: int = 0
    gave_up: bool = False  # the look ended before the page was full


def filter_of(values: Mapping[str, Any]) -> Filter:
    """A filter from an address or a form; empty parts do not count.

    >>> filter_of({"who": " ada ", "since": "", "page": "2"})
    Filter(who='ada', action='', subject='', since=None, until=None, search='')
    """
    texts = {k: str(values.get(k) or "").strip() for k in ("who", "action", "subject", "search")}
    return Filter(
        **texts,
        since=_time(values.get("since"), "since"),
        until=_time(values.get("until"), "until"),
    )


def query_of(chosen: Filter) -> str:
    """A filter as the query of an address.

    >>> query_of(Filter(who="ada", action="mode")), query_of(Filter())
    ('?who=ada&action=mode', '')
    """
    parts = {k: v for k in Filter.__struct_fields__ if (v := getattr(chosen, k)) not in ("", None)}
    return f"?{urlencode(parts)}" if parts else ""


def filter_in(query: str | None) -> Filter:
    """The filter in the query of an address; what cannot be read is left out."""
    try:
        return filter_of(dict(parse_qsl((query or "").lstrip("?"))))
    except InvalidInput:
        return Filter()


def look(read: Read, chosen: Filter, before: int | None = None) -> TrailPage:
    """The next page of what fits."""
    found: list[AuditEntry] = []
    looked_at, last = 0, before
    for entry in read_entries(read, before):
        if len(found) == PAGE or looked_at == LOOKED_AT_MOST:
            return TrailPage(
                entries=tuple(found), older=last, looked_at=looked_at, gave_up=len(found) < PAGE
            )
        looked_at, last = looked_at + 1, entry.number
        if chosen.since is not None and entry.at < chosen.since:
            break  # all others are older
        if chosen.fits(entry):
            found.append(entry)
    return TrailPage(entries=tuple(found), looked_at=looked_at)


def _within(part: str, whole: str) -> bool:
    return part.lower() in whole.lower()


def _text(entry: AuditEntry) -> str:
    parts = (entry.by, entry.action, entry.subject, entry.address, entry.why, entry.detail)
    return "\n".join((*parts, entry.plan_hash))


def _time(value: Any, field: str) -> float | None:
    if value in (None, ""):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{field} is a time in seconds since 1970.", field=field) from None


def actions_of(found: Sequence[AuditEntry]) -> list[str]:
    """The kinds of action that occur, to choose from."""
    return sorted({e.action for e in found})
