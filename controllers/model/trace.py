"""Arrivals from a text file: a column of times and a column of rates.

    time,rate                 timestamp|value      period;events             # exported
    2024-05-01 00:00:00,120   1661724000|7796      01/05/2024 00:05;1,5      ts<TAB>n

Columns are separated by a comma, a semicolon, a bar or a tab; lines before the header
that begin with # are passed over, and a file without a header is read as time and rate.
Times are dates (ISO 8601 and the usual ways to write them) or seconds, milliseconds,
microseconds or nanoseconds since the epoch; the rate is rows per second and holds until
the next time. A line without a rate is passed over. The bytes may be gzipped.

The column of the rate is the one of a known name, or else the only one of numbers beside
the time.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import isfinite
from statistics import median

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput

_TIMES = (
    "time", "timestamp", "date", "datetime", "date_time", "at", "ts", "t", "t_s", "period",
    "epoch", "epoch_s", "epoch_ms", "epoch_us", "unix", "unixtime", "unix_time", "time_s",
    "time_ms", "ts_ms", "timestamp_s", "timestamp_ms", "timestamp_us", "seconds", "event_time",
    "start", "end",
)  # fmt: skip
_RATES = (
    "rate", "rows_per_s", "workrate", "arrival_rows_per_s", "arrivals", "arrival_rate", "messages",
    "messages_per_s", "events", "events_per_s", "eps", "rps", "requests", "records", "rows",
    "tuples", "tweets", "count", "volume", "load", "throughput", "throughput_rows_per_s", "value",
    "y", "n",
)  # fmt: skip
_DATES = (
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M",
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M",
    "%d-%m-%Y %H:%M:%S", "%d-%m-%Y %H:%M", "%d/%b/%Y:%H:%M:%S", "%d/%b/%Y:%H:%M:%S %z",
    "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d%H%M%S", "%Y%m%d %H:%M",
)  # fmt: skip
_SEPARATORS = ",;|\t"
_UNKNOWN = ("", "nan", "null", "none", "na", "n/a", "-")
_SECONDS_END, _MILLISECONDS_END, _MICROSECONDS_END = 1e11, 1e14, 1e17  # a larger number is finer
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
    lines = _Lines(_text(raw))
    header = lines.header
    at, rate = _columns(header, column, lines.numeric)
    moment_of = _Clock(header[at], [row[at].strip() for _, row in lines.first if len(row) > at])
    times: list[float] = []
    rates: list[float] = []
    for number, row in lines:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= at:
            raise _bad(f"line {number} has no {header[at]}")
        text = row[rate].strip() if len(row) > rate else ""
        if text.lower() in _UNKNOWN:
            continue
        moment, value = moment_of(row[at].strip(), number), _rate(text, number, lines.comma)
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


class _Lines:
    """The rows of a text with their numbers, its header, and how its cells are separated."""

    def __init__(self, text: str) -> None:
        kept = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
        while kept and kept[0][1].lstrip().startswith("#"):
            # "# time,rate" is a header that is marked as a comment.
            marked = kept[0][1].lstrip(" #")
            if marked.split(separator_of(marked))[0].strip(' "').lower() in _TIMES:
                kept[0] = (kept[0][0], marked)
                break
            kept.pop(0)
        self._separator = separator_of(kept[0][1]) if kept else ","
        self._kept = kept
        first = self._row(0) if kept else []
        self._headless = bool(first) and all(_number(c) or _is_date(c) for c in first)
        self.header = (
            ["time", *(f"column {i + 1}" if i > 1 else "rate" for i in range(1, len(first)))]
            if self._headless
            else [name.strip() for name in first]
        )
        self.comma = self._separator != ","  # "1,5" is a number then
        self.first = [(kept[i][0], self._row(i)) for i in range(self._begin, min(len(kept), 200))]

    @property
    def _begin(self) -> int:
        return 0 if self._headless else 1

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        rest = self._kept[self._begin :]
        reader = csv.reader((line for _, line in rest), delimiter=self._separator)
        try:
            for (number, _), row in zip(rest, reader, strict=False):
                yield number, row
        except csv.Error as error:
            raise _bad(f"line {rest[reader.line_num - 1][0]} cannot be read ({error})") from None

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers, as far as the first lines show."""
        cells = [row[column].strip() for _, row in self.first if len(row) > column]
        known = [c for c in cells if c.lower() not in _UNKNOWN]
        return bool(known) and all(_number(c, self.comma) for c in known)

    def _row(self, i: int) -> list[str]:
        number, line = self._kept[i]
        try:
            return next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error as error:
            raise _bad(f"line {number} cannot be read ({error})") from None


def separator_of(header: str) -> str:
    """The separator of a header or first line: the one that occurs most.

    >>> separator_of("timestamp|value"), separator_of("date;a,b;c"), separator_of("time")
    ('|', ';', ',')
    """
    return max(_SEPARATORS, key=lambda mark: (header.count(mark), mark == ","))


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


def _columns(
    header: list[str], column: str | None, numeric: Callable[[int], bool]
) -> tuple[int, int]:
    lower = [name.lower() for name in header]
    at = next((lower.index(name) for name in _TIMES if name in lower), None)
    if at is None:
        raise _bad(f"it has no column 'time' or 'timestamp' in its first line, only {header}")
    if column is not None:
        if column.lower() not in lower:
            raise InvalidInput(f"column: there is no '{column}' in the trace", field="column")
        return at, lower.index(column.lower())
    named = next((lower.index(n) for n in _RATES if n in lower and lower.index(n) != at), None)
    others = [i for i in range(len(header)) if i != at]
    if named is None and not others:
        raise _bad("it has no column with a rate")
    if named is None and len(others) > 1:
        numbers = [i for i in others if numeric(i) and lower[i] not in _TIMES]
        if len(numbers) != 1:
            names = ", ".join(header[i] for i in others)[:200]
            raise InvalidInput(
                f"column: name the one that holds the rate, of {names}", field="column"
            )
        others = numbers
    return at, others[0] if named is None else named


class _Clock:
    """Reads the times of one file; how they are written is found once, in its first lines."""

    def __init__(self, name: str, first: list[str]) -> None:
        self._name = name
        self._form = next((f for f in _DATES if first and all(_as(t, f) for t in first)), "")
        figures = [abs(float(t)) for t in first if _number(t)]
        largest = max(figures, default=0.0)
        self._unit = (
            1.0 if largest <= _SECONDS_END
            else 1e3 if largest <= _MILLISECONDS_END
            else 1e6 if largest <= _MICROSECONDS_END
            else 1e9
        )  # fmt: skip

    def __call__(self, text: str, line: int) -> float:
        try:
            value = float(text) / self._unit
        except ValueError:
            moment = _iso(text) or (_as(text, self._form) if self._form else None)
            if moment is None:
                raise _bad(
                    f"line {line} has a {self._name} of '{text[:40]}', neither a date (ISO 8601) "
                    "nor seconds since the epoch"
                ) from None
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if not isfinite(value):
            raise _bad(
                f"line {line} has a {self._name} of '{text[:40]}', neither a date (ISO 8601) "
                "nor seconds since the epoch"
            )
        if abs(value) > _LAST_S:
            raise _bad(f"line {line} has a {self._name} of '{text[:40]}', which no calendar has")
        return value


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def _as(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def _is_date(text: str) -> bool:
    text = text.strip()
    return _iso(text) is not None or any(_as(text, f) for f in _DATES)


def _number(text: str, comma: bool = False) -> bool:
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return True


def _rate(text: str, line: int, comma: bool) -> float:
    try:
        value = float(text.replace(",", ".") if comma else text)
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
