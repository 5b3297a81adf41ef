"""From snapshots to a queueing network: smoothed rates and measured variability.

A micro-batch engine hands rows to its cores in bulk. Rows that come b at a time,
b varying, have a squared coefficient of variation of E[b^2] / E[b] between arrivals
(the index of dispersion of batch arrivals), which the batch sizes give. What cost
per row varies from period to period is a lower bound of that of the service times.
"""

from collections.abc import Iterable
from enum import StrEnum
from statistics import fmean

from msgspec import Struct

from weir.controllers.model.sample import OperatorSample
from weir.controllers.scaling.drs.network import Network, Station
from weir.controllers.scaling.facts import ClusterFacts


class Smoothing(StrEnum):
    """How a figure of several periods becomes one."""

    WINDOW = "window"  # mean of the last w
    ALPHA = "alpha"  # D = alpha D + (1 - alpha) d


class MeasuredFigure(Struct, frozen=True):
    """One measured figure: its smoothed value and the raw values it is made from."""

    value: float = 0.0
    raw: tuple[float, ...] = ()

    def then(self, raw: float, smoothing: Smoothing, window: int, alpha: float) -> "MeasuredFigure":
        """With one measurement more.

        >>> f = MeasuredFigure().then(1.0, Smoothing.ALPHA, window=3, alpha=0.75)
        >>> f.then(2.0, Smoothing.ALPHA, window=3, alpha=0.75).value
        1.25
        """
        kept = (*self.raw, raw)[-window:]
        if smoothing is Smoothing.WINDOW:
            return MeasuredFigure(fmean(kept), kept)
        return MeasuredFigure(alpha * self.value + (1.0 - alpha) * raw if self.raw else raw, kept)


class StationTrack(Struct, frozen=True):
    """What is known of one operator."""

    arrivals: MeasuredFigure = MeasuredFigure()  # rows/s
    cost_s: MeasuredFigure = MeasuredFigure()  # per row, of one core, while it is busy
    batch_rows: MeasuredFigure = MeasuredFigure()

    @property
    def ca2(self) -> float:
        """Squared coefficient of variation between arrivals, from the batch sizes."""
        sizes = [b for b in self.batch_rows.raw if b > 0]
        return fmean(b * b for b in sizes) / fmean(sizes) if sizes else 1.0

    @property
    def cs2(self) -> float:
        """Squared coefficient of variation of the cost; 1 until it was measured twice."""
        costs = self.cost_s.raw
        if len(costs) < 2:
            return 1.0
        mean = fmean(costs)
        return fmean((c - mean) ** 2 for c in costs) / mean**2


def cost_of(operator: OperatorSample) -> float | None:
    """Core seconds per row, measured while busy; None where nothing was processed."""
    if operator.cost_s_per_row:
        return operator.cost_s_per_row
    if operator.processed_rows_per_s > 0 and operator.busy_cores > 0:
        return operator.busy_cores / operator.processed_rows_per_s
    return None


def stations(tracks: dict[str, StationTrack], variability: bool) -> tuple[Station, ...]:
    """One station per operator whose cost is known."""
    return tuple(
        Station(
            name=name,
            arrivals=t.arrivals.value,
            rate=1.0 / t.cost_s.value,
            ca2=t.ca2 if variability else 1.0,
            cs2=t.cs2 if variability else 1.0,
        )
        for name, t in sorted(tracks.items())
        if t.cost_s.value > 0
    )


def pool_stations(parts: Iterable[Station]) -> Station | None:
    """All stations as one whose processors take any row: how Spark shares its cores.

    >>> a = Station(name="a", arrivals=1.0, rate=1.0)
    >>> b = Station(name="b", arrivals=3.0, rate=3.0)
    >>> pool_stations([a, b]).offered
    2.0
    """
    known = [s for s in parts if s.arrivals > 0]
    arrivals = sum(s.arrivals for s in known)
    if not arrivals:
        return None
    mean_s = sum(s.offered for s in known) / arrivals
    square = sum(s.arrivals * (1.0 + s.cs2) / s.rate**2 for s in known) / arrivals
    return Station(
        name="all",
        arrivals=arrivals,
        rate=1.0 / mean_s,
        ca2=sum(s.arrivals * s.ca2 for s in known) / arrivals,
        cs2=max(0.0, square / mean_s**2 - 1.0),
    )


def network_of(
    facts: ClusterFacts, parts: tuple[Station, ...], share_cores: bool
) -> Network | None:
    """The network of one cluster; None where nothing arrives."""
    if share_cores:
        one = pool_stations(parts)
        parts = () if one is None else (one,)
    arrivals = sum(s.arrivals for s in parts)
    if not arrivals:
        return None
    inside = {o.name for o in facts.operators}
    among = sum(
        e.rows_per_s
        for e in facts.snapshot.edges
        if e.source in inside and e.target in inside and e.rows_per_s >= 0
    )
    share = 1.0 - among / facts.arrival_rows_per_s if facts.arrival_rows_per_s > 0 else 1.0
    return Network(stations=parts, external=arrivals * (share if 0.0 < share <= 1.0 else 1.0))
