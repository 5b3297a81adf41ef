"""Arrivals from a CSV file: a column of times and a column of rates.

    time,rate                 timestamp,value                timestamp,workRate,thrRate
    2024-05-01 00:00:00,120   2015-02-26 21:42:53,35         1641387952,53350.0,

Times are ISO 8601 or seconds (or milliseconds) since the epoch; the rate is rows per
second and holds until the next time. A line without a rate is passed over. The bytes
may be gzipped.

The column of the rate is the one of a known name, or else the only one beside the time.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from statistics import median

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput

_TIMES = ("time", "timestamp", "date", "datetime", "at", "ts")
_RATES = ("rate", "rows_per_s", "workrate", "arrival_rows_per_s", "arrivals", "messages", "value")
_MILLISECONDS = 1e11  # a larger number cannot be seconds
_LAST_S = 253_402_300_799.0  # the end of the year 9999
_RATE_MIN, _RATE_MAX = 1e-9, 1e12  # beyond them products overflow
MOST_BYTES = 1 << 28  # also of what a gzipped trace unpacks to
_GZIP = b"\x1f\x8b"


class Trace(Struct, frozen=True, kw_only=True):
    """Rates that hold from their time to the next; the last one as long as is usual."""

    times: tuple[float, ...]
    rows_per_s: tuple[float, ...]
    column: str = ""  # that holds the rate
    others: tuple[str, ...] = ()  # columns that it might have been

    @property
    def step_s(self) -> float:
        """The usual distance of two times."""
        return median(b - a for a, b in zip(self.times, self.times[1:], strict=False))

    def part(self, first: float, last: float) -> "Trace":
        """The share of the trace between two fractions of its lines."""
        n = len(self.times)
        span = slice(round(first * n), round(last * n))
        return Trace(times=self.times[span], rows_per_s=self.rows_per_s[span])


def read_trace(raw: bytes, column: str | None = None) -> Trace:
    """The trace in a CSV file.

    >>> read_trace(b"time,rate\\n0,10\\n60,20\\n").rows_per_s
    (10.0, 20.0)
    >>> read_trace(b"time,rate\\n0,10\\n60,-1\\n")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: trace: line 3 has a rate of -1, but it must be 0 or more
    """
    lines = _rows(_text(raw))
    header = [name.strip() for name in next(lines, [])]
    at, rate = _columns(header, column)
    times: list[float] = []
    rates: list[float] = []
    for number, row in enumerate(lines, start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= at:
            raise _bad(f"line {number} has no {header[at]}")
        text = row[rate].strip() if len(row) > rate else ""
        if not text or text.lower() in ("nan", "null", "none"):
            continue
        moment, value = _moment(row[at].strip(), header[at], number), _rate(text, number)
        if times and moment <= times[-1]:
            raise _bad(f"line {number} is not later than the one before; sort it by {header[at]}")
        times.append(moment)
        rates.append(value)
    if len(times) < 2:
        raise _bad(f"it has {len(times)} lines with a time and a rate, but 2 are needed at least")
    if not any(rates):
        raise _bad("every rate in it is 0")
    others = tuple(name for i, name in enumerate(header) if i not in (at, rate))
    return Trace(times=tuple(times), rows_per_s=tuple(rates), column=header[rate], others=others)


def _rows(text: str) -> Iterator[list[str]]:
    lines = csv.reader(text.splitlines())
    try:
        yield from lines
    except csv.Error as error:
        raise _bad(f"line {lines.line_num} cannot be read ({error})") from None


def _text(raw: bytes) -> str:
    try:
        if raw.startswith(_GZIP):
            raw = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise _bad(f"it has more than {MOST_BYTES >> 20} MiB of text")
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error):
        raise _bad("it is gzipped, but damaged") from None
    except UnicodeDecodeError:
        raise _bad("it is not a text file") from None


def _columns(header: list[str], column: str | None) -> tuple[int, int]:
    lower = [name.lower() for name in header]
    at = next((lower.index(name) for name in _TIMES if name in lower), None)
    if at is None:
        raise _bad(f"it has no column 'time' or 'timestamp' in its first line, only {header}")
    if column is not None:
        if column.lower() not in lower:
            raise InvalidInput(f"column: there is no '{column}' in the trace", field="column")
        return at, lower.index(column.lower())
    named = next((lower.index(name) for name in _RATES if name in lower), None)
    others = [i for i in range(len(header)) if i != at]
    if named is None and not others:
        raise _bad("it has no column with a rate")
    if named is None and len(others) > 1:
        names = ", ".join(header[i] for i in others)[:200]
        raise InvalidInput(f"column: name the one that holds the rate, of {names}", field="column")
    return at, others[0] if named is None else named


def _moment(text: str, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise _bad(
                f"line {line} has a {name} of '{text[:40]}', neither ISO 8601 nor seconds"
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not isfinite(value):
        raise _bad(f"line {line} has a {name} of '{text[:40]}', neither ISO 8601 nor seconds")
    value = value / 1000.0 if abs(value) > _MILLISECONDS else value
    if abs(value) > _LAST_S:
        raise _bad(f"line {line} has a {name} of '{text[:40]}', which no calendar has")
    return value


def _rate(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _bad(f"line {line} has a rate of '{text[:40]}', which is no number") from None
    if not 0.0 <= value < float("inf"):
        raise _bad(f"line {line} has a rate of {value:g}, but it must be 0 or more")
    if value and not _RATE_MIN <= value <= _RATE_MAX:
        raise _bad(
            f"line {line} has a rate of {value:g}, but it must be 0 or within "
            f"{_RATE_MIN:g} to {_RATE_MAX:g}"
        )
    return value


def _bad(problem: str) -> InvalidInput:
    return InvalidInput(f"trace: {problem}", field="trace")
