"""Numbers as sentences put them: the one formatter of counts, shares, times and sizes.

Pages, the engine's reasons and the command line all speak through these, so that the same
figure reads the same wherever it stands.
"""

import re
from functools import lru_cache

_DIGITS = re.compile(r"\d+")
_MOST_DIGITS = 12


@lru_cache(maxsize=1 << 16)
def by_number(name: str) -> str:
    """Sorts names so that a-9 stands before a-10.

    >>> sorted(["a-10", "a-9", "b", "a-09"], key=by_number)
    ['a-09', 'a-9', 'a-10', 'b']
    """
    padded = _DIGITS.sub(lambda found: found.group().zfill(_MOST_DIGITS), name)
    return f"{padded}\0{name}"


def number_of(count: int, noun: str) -> str:
    """A count with its noun.

    >>> number_of(1, "executor"), number_of(1200, "row"), number_of(2, "batch"), number_of(0, "query")
    ('1 executor', '1,200 rows', '2 batches', '0 queries')
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('ch', 's', 'x')) else 's'}"


def are(count: int) -> str:
    """The verb that follows a count.

    >>> f"{number_of(1, 'executor')} {are(1)} there", f"{number_of(2, 'executor')} {are(2)} there"
    ('1 executor is there', '2 executors are there')
    """
    return "is" if count == 1 else "are"


def percent(fraction: float, digits: int = 0) -> str:
    """A share, or the load of a cluster's cores, in per cent.

    >>> percent(0.394), percent(0.0123, 1), percent(1.2)
    ('39 %', '1.2 %', '120 %')
    """
    return f"{100.0 * fraction:.{digits}f} %"


def span(passed_s: float) -> str:
    """How long something took, ago or still to go, as precise as a sentence needs.

    >>> span(0.2), span(42.3), span(200), span(9000)
    ('less than a second', '42 s', '3 min', '2.5 h')
    """
    if passed_s < 0.5:
        return "less than a second"
    if passed_s < 119.5:
        return f"{passed_s:.0f} s"
    return f"{passed_s / 60:.0f} min" if passed_s < 7170 else f"{passed_s / 3600:.1f} h"


def latency(latency_s: float) -> str:
    """A latency.

    >>> latency(12.44), latency(0.02)
    ('12.4 s', 'below 0.1 s')
    """
    return f"{latency_s:.1f} s" if latency_s >= 0.05 else "below 0.1 s"


def either(low: str, high: str) -> str:
    """The two ends of a range as they read; one where nobody would see that they differ.

    >>> either("3.1", "3.4"), either("12.4 s", "12.4 s")
    ('3.1 to 3.4', '12.4 s')
    """
    return low if low == high else f"{low} to {high}"


def brings(what: str, before: str, after: str, many: bool = False) -> str:
    """What an action does to a figure, in the figures as they read.

    >>> brings("the load", "39 %", "12 %"), brings("the load", "39 %", "39 %", many=True)
    ('brings the load from 39 % to 12 %', 'leave the load at 39 %')
    """
    s = "" if many else "s"
    return (
        f"leave{s} {what} at {after}"
        if before == after
        else f"bring{s} {what} from {before} to {after}"
    )


def size(size_bytes: float) -> str:
    """Bytes, in powers of 1,000.

    >>> size(900), size(12_340_000)
    ('900 B', '12.3 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes:.0f} B"


def signed(value: float) -> str:
    """A figure that may be below zero, with two digits and a true minus.

    >>> signed(-0.074), signed(0.4)
    ('−0.07', '0.40')
    """
    return f"{value:.2f}".replace("-", "−")


def quantity(value: float) -> str:
    """A plain number, grouped and rounded to what matters; never with an exponent.

    >>> quantity(2_990_960.0), quantity(12.5), quantity(4.0), quantity(0.0321)
    ('2,990,960', '12.5', '4', '0.0321')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    size = abs(value)
    return f"{value:.1f}" if size >= 10 else f"{value:.3g}" if size >= 1e-4 else f"{value:.6f}"
