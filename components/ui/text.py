"""Figures as people read them: grouped, rounded to what matters, with a unit.

A figure that was not measured is an en dash, never a zero.
"""

from collections.abc import Callable

from weir.controllers.engine.recommendation import ENGINE
from weir.controllers.model import words
from weir.controllers.model.words import number_of, percent, quantity

NOTHING = "–"


def amount(value: float | None) -> str:
    """A count or a rate without its unit.

    >>> amount(0.04), amount(3.14159), amount(1234.6), amount(2_500_000)
    ('0.04', '3.1', '1,235', '2.5 M')
    >>> amount(None)
    '–'
    """
    if value is None:
        return NOTHING
    size = abs(value)
    if size >= 1e9:
        return f"{value / 1e9:.1f} G"
    if size >= 1e6:
        return f"{value / 1e6:.1f} M"
    if size >= 10 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 0.1 else f"{value:.2g}"


def rate(rows_per_s: float | None) -> str:
    """Rows per second.

    >>> rate(412.0)
    '412 rows/s'
    """
    return NOTHING if rows_per_s is None else f"{amount(rows_per_s)} rows/s"


def rows(count: float | None) -> str:
    """A number of rows.

    >>> rows(1), rows(1200)
    ('1 row', '1,200 rows')
    """
    if count is None:
        return NOTHING
    return f"{amount(count)} row{'' if count == 1 else 's'}"


def seconds(duration_s: float | None) -> str:
    """A duration, in the unit that suits it.

    >>> seconds(0.042), seconds(2.13), seconds(48.2), seconds(200), seconds(9000)
    ('42 ms', '2.1 s', '48 s', '3.3 min', '2.5 h')
    """
    if duration_s is None:
        return NOTHING
    if duration_s < 0.1:
        return f"{duration_s * 1000:.0f} ms"
    if duration_s < 10:
        return f"{duration_s:.1f} s"
    if duration_s < 120:
        return f"{duration_s:.0f} s"
    if duration_s < 7200:
        return f"{duration_s / 60:.1f} min"
    return f"{duration_s / 3600:.1f} h"


def target(duration_s: float) -> str:
    """A duration as a person set it.

    >>> target(5.0), target(0.25)
    ('5 s', '0.25 s')
    """
    return f"{quantity(duration_s)} s"


def cost(cost_s_per_row: float | None) -> str:
    """Work per row.

    >>> cost(0.0021), cost(0.000004)
    ('2.1 ms/row', '4 µs/row')
    """
    if cost_s_per_row is None:
        return NOTHING
    if cost_s_per_row < 0.0001:
        return f"{cost_s_per_row * 1e6:.2g} µs/row"
    return f"{cost_s_per_row * 1e3:.2g} ms/row"


def size(size_bytes: float | None) -> str:
    """Bytes, in powers of 1,000.

    >>> size(900), size(12_340_000)
    ('900 B', '12.3 MB')
    """
    return NOTHING if size_bytes is None else words.size(size_bytes)


def load(per_core: float | None) -> str:
    """The load of a cluster: work that arrives, in per cent of its cores.

    >>> load(0.7), load(1.234), load(None)
    ('70 %', '123 %', '–')
    """
    return NOTHING if per_core is None else percent(per_core)


def cores(busy: float | None) -> str:
    """Work in busy cores, always with two decimals so that the column stands still.

    >>> cores(0.7), cores(1.0), cores(None)
    ('0.70 cores', '1.00 cores', '–')
    """
    return NOTHING if busy is None else f"{busy:.2f} cores"


def share(fraction: float | None) -> str:
    """A fraction as per cent.

    >>> share(0.254)
    '25 %'
    """
    return NOTHING if fraction is None else percent(fraction)


def name_value(key: str, value: float) -> tuple[str, str]:
    """A number of a reason: its name without the unit, and the number with it.

    >>> name_value("t_max_s", 10.0), name_value("max_load", 0.8), name_value("queue_rows", 1200)
    (('t max', '10 s'), ('max load', '80 %'), ('queue', '1,200 rows'))
    >>> name_value("load_low_cores", 0.994), name_value("queued_core_s", 34.6), name_value("actions_left", 3)
    (('load low', '0.99 cores'), ('queued', '34.6 core seconds'), ('actions left', '3'))
    """
    for ending, put in _ENDINGS:
        if key.endswith(ending):
            return key.removesuffix(ending).replace("_", " "), put(value)
    name = key.replace("_", " ")
    if key == "load" or key.endswith(("_load", "_share", "_utilisation")):
        return name.removesuffix(" share"), percent(value)
    return name, quantity(value)


_ENDINGS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("_rows_per_s", rate),
    ("_core_s", lambda v: f"{quantity(v)} core seconds"),
    ("_cores", cores),
    ("_bytes", size),
    ("_rows", rows),
    ("_s", lambda v: f"{quantity(v)} s"),
)


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "executor"), plural(3, "executor")
    ('1 executor', '3 executors')
    """
    return number_of(count, noun)


def who(by: str) -> str:
    """Who asked or acted, for the middle of a sentence.

    >>> who("engine"), who("ada"), who("")
    ('the engine', 'ada', 'somebody')
    """
    return "the engine" if by == ENGINE else by or "somebody"


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("there is no cluster a")
    'There is no cluster a.'
    """
    return text[:1].upper() + text[1:].rstrip(".") + "."
