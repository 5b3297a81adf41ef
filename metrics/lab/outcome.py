"""What an experiment gave: numbers beside the published ones, charts, tables and a verdict."""

from enum import StrEnum

from msgspec import Struct


class ClaimVerdict(StrEnum):
    """Whether the paper's claim holds here."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT = "not"

    @property
    def words(self) -> str:
        """For people."""
        return {"reproduced": "Reproduced", "partly": "Partly", "not": "Not reproduced"}[self.value]


class ComparedFigure(Struct, frozen=True, kw_only=True):
    """One figure of ours, and what the paper has for it."""

    name: str
    ours: float
    unit: str = ""
    published: str = ""  # as the paper gives it; empty: it gives none


class PlotSeries(Struct, frozen=True, kw_only=True):
    """One line, or the bars of one colour."""

    name: str
    y: tuple[float | None, ...]
    published: bool = False


class ResultChart(Struct, frozen=True, kw_only=True):
    """Lines over numbers, or bars where `x` holds names."""

    title: str
    x_title: str
    y_title: str
    x: tuple[float | str, ...]
    series: tuple[PlotSeries, ...]

    @property
    def bars(self) -> bool:
        """Whether it is drawn as bars."""
        return bool(self.x) and isinstance(self.x[0], str)


class Table(Struct, frozen=True, kw_only=True):
    """Every figure behind the charts."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Conclusion(Struct, frozen=True, kw_only=True):
    """What an experiment concludes."""

    verdict: ClaimVerdict
    reason: str
    numbers: tuple[ComparedFigure, ...] = ()
    charts: tuple[ResultChart, ...] = ()
    tables: tuple[Table, ...] = ()
    runs: tuple[str, ...] = ()  # ids of the recorded runs behind it, to replay


class ExperimentResult(Struct, frozen=True, kw_only=True):
    """An outcome, and when and how it came about."""

    name: str
    quick: bool
    at: float
    took_s: float
    machine: str
    outcome: Conclusion


def verdict_of(*claims: bool) -> ClaimVerdict:
    """Reproduced where every claim holds, partly where some do.

    >>> verdict_of(True, True).value, verdict_of(True, False).value, verdict_of(False).value
    ('reproduced', 'partly', 'not')
    """
    if all(claims):
        return ClaimVerdict.REPRODUCED
    return ClaimVerdict.PARTLY if any(claims) else ClaimVerdict.NOT


def cell(value: object) -> str:
    """A value of a table: three significant digits, no exponent.

    >>> cell(0.12345), cell(1234567.0), cell(3), cell(None), cell("a")
    ('0.123', '1,234,567', '3', '-', 'a')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def table(title: str, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> Table:
    """A table of any values."""
    return Table(title=title, header=header, rows=tuple(tuple(map(cell, r)) for r in rows))
