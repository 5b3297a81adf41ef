"""The audit trail as a file: CSV for spreadsheets, JSON lines to check the chain elsewhere."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from weir.controllers.engine.audit import AuditEntry

COLUMNS = (
    "number", "at_utc", "by", "action", "subject", "address", "why", "detail", "plan_hash",
    "before", "predicted", "measured", "previous", "seal",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """A header, then one row per entry."""
    yield _row(COLUMNS)
    for entry in entries:
        yield _row([_cell(entry, name) for name in COLUMNS])


def json_lines(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """Every entry as it is kept, so that its seal can be computed again."""
    for entry in entries:
        yield msgspec.json.encode(entry).decode() + "\n"


def _cell(entry: AuditEntry, name: str) -> str:
    if name == "at_utc":
        return datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="milliseconds")
    value = getattr(entry, name)
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode() if value else ""
    return safe(str(value))


def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula (OWASP, CSV injection).

    >>> safe("=1+1"), safe("night shift")
    ("'=1+1", 'night shift')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _row(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()
