"""One figure of several clusters over minutes, hours or months, as data.

The address says all of it: `/trends/load/5h/narrow,wide`. A range of one's own is two times
in seconds since the epoch, `/trends/load/1800000000-1800003600`.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any
from urllib.parse import quote, unquote

from msgspec import Struct

from weir.components.live.charts import Chart, cluster_charts
from weir.components.pages.history.plots import round_values
from weir.components.ui.path import TRENDS
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.brief import Brief
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.words import quantity

SPANS = {
    "15m": ("15 min", 900.0),
    "1h": ("1 h", 3600.0),
    "5h": ("5 h", 18_000.0),
    "2d": ("2 days", 172_800.0),
    "90d": ("90 days", 7_776_000.0),
}
MOST_CLUSTERS = 20
FIRST_SHOWN = 8
"""So many clusters are shown where the address names none."""
_OWN = re.compile(r"(\d{1,10})-(\d{1,10})")
_GAP = 2.5
"""Steps without a report, from which on the line is broken."""

Read = Callable[[str, float, float, Tier], Sequence[Brief]]
"""A cluster's figures from one time to another, of a tier."""
ReadPast = Callable[[str, float, float], Sequence[Brief]]
"""The same from recorded runs, in steps that suit the range."""


class Metric(Struct, frozen=True):
    """What can be drawn: a field of a brief, on one of a cluster's charts."""

    title: str
    chart: str
    field: str
    times: float = 1.0


METRICS = {
    "load": Metric("Load", "load", "load", 100.0),
    "busy": Metric("Work done", "load", "busy", 100.0),
    "latency": Metric("Latency, median row", "latency", "latency_s"),
    "latency-max": Metric("Latency, slowest row", "latency", "latency_max_s"),
    "queue": Metric("Queue", "queue", "queue_rows"),
    "arriving": Metric("Arriving", "throughput", "arrival_rows_per_s"),
    "processed": Metric("Processed", "throughput", "processed_rows_per_s"),
    "executors": Metric("Executors", "executors", "executors"),
}
DEFAULT = "load"


class TrendQuery(Struct, frozen=True, kw_only=True):
    """What an address asks for."""

    metric: str = DEFAULT
    span: str = "1h"
    since: float
    until: float
    clusters: tuple[str, ...] = ()

    def path(self, **changes: Any) -> str:
        """The address of the same with something changed.

        >>> asked = TrendQuery(since=0.0, until=9.0, clusters=("a",))
        >>> asked.path(), asked.path(span="2d", clusters=("a", "b c"))
        ('/trends/load/1h/a', '/trends/load/2d/a,b%20c')
        """
        clusters: Sequence[str] = changes.get("clusters", self.clusters)
        names = ",".join(quote(name, safe="") for name in clusters)
        metric, span = changes.get("metric", self.metric), changes.get("span", self.span)
        return f"{TRENDS}/{metric}/{span}/{names}".rstrip("/")


class Trend(Struct, frozen=True, kw_only=True):
    """Everything that the page shows."""

    asked: TrendQuery
    known: tuple[str, ...]  # clusters there are
    plot: dict[str, Any]
    points: int
    summary: str  # for people who cannot see the chart


def read_query(path: str, known: Sequence[str], now: float) -> TrendQuery:
    """What an address asks for; nonsense is said, not changed in silence."""
    parts = [unquote(p) for p in path.removeprefix(TRENDS).strip("/").split("/") if p]
    if len(parts) > 3:
        raise InvalidInput(f"'{path}' is no address of a trend: figure, range and clusters")
    metric = parts[0] if parts else DEFAULT
    if metric not in METRICS:
        raise InvalidInput(f"there is no figure '{metric}': choose one of {', '.join(METRICS)}")
    span = parts[1] if len(parts) > 1 else "1h"
    since, until = _range(span, now)
    named = [name for name in parts[2].split(",") if name] if len(parts) > 2 else []
    lost = [name for name in named if name not in known]
    if lost:
        raise InvalidInput(f"there is no cluster '{lost[0]}'")
    if len(named) > MOST_CLUSTERS:
        raise InvalidInput(f"at most {MOST_CLUSTERS} clusters fit into one chart")
    clusters = tuple(dict.fromkeys(named)) or tuple(known[:FIRST_SHOWN])
    return TrendQuery(metric=metric, span=span, since=since, until=until, clusters=clusters)


def trend(
    asked: TrendQuery,
    known: Sequence[str],
    read: Read,
    now: float,
    target_s: float,
    past: ReadPast = lambda *_: (),
) -> Trend:
    """The series of every cluster that is asked for; recorded runs fill what the store lacks."""
    chart = _chart(asked.metric, "", target_s)
    lines, count = [], 0
    for i, cluster in enumerate(asked.clusters):
        kept = stitch(read, cluster, asked.since, asked.until, now)
        x, y = _points(asked.metric, filled(kept, past(cluster, asked.since, asked.until)))
        count += sum(v is not None for v in y)
        lines.append(
            {
                "name": cluster,
                "colour": f"series-{i % 8 + 1}",
                "dashed": i >= 8,
                "step": chart.whole,
                "x": x,
                "y": y,
            }
        )
    plot = {
        "kind": "times",
        "key": "trend",
        "whose": "cluster",
        "title": METRICS[asked.metric].title,
        "unit": chart.unit,
        "span": [round(asked.since * 1000), round(asked.until * 1000)],
        "limit": chart.line,
        "limitLabel": chart.line_label,
        "lines": lines,
    }
    return Trend(
        asked=asked,
        known=tuple(known),
        plot=plot,
        points=count,
        summary=_summary(asked, lines, chart.unit),
    )


def stitch(read: Read, cluster: str, since: float, until: float, now: float) -> list[Brief]:
    """Figures at the finest resolution that reaches back so far, its young end from finer ones.

    A coarse tier has nothing of its last, unfinished step: the finer tiers do.
    """
    tiers = list(Tier)
    first = next(t for t in tiers if t is Tier.HOUR or now - since <= KEPT_S[t])
    found: list[Brief] = []
    for tier in reversed(tiers[: tiers.index(first) + 1]):
        begin = found[-1].at + 1e-3 if found else since
        found += read(cluster, begin, until, tier)
    return found


def filled(kept: Sequence[Brief], recorded: Sequence[Brief]) -> list[Brief]:
    """What the store keeps, with what was recorded where the store has a gap."""
    times = [sample.at for sample in kept]
    missing = []
    for sample in recorded:
        i = bisect_left(times, sample.at)
        before, after = kept[i - 1] if i else None, kept[i] if i < len(kept) else None
        if after is not None and sample.at > after.at - after.period_s:
            continue  # a part of that step
        if before is None or after is None or _parted(before, after):
            missing.append(sample)
    return sorted([*kept, *missing], key=lambda s: s.at) if missing else list(kept)


def _parted(before: Brief, after: Brief) -> bool:
    """Whether so long lies between two samples that something is missing."""
    return after.at - before.at > _GAP * max(before.period_s, after.period_s)


def _range(span: str, now: float) -> tuple[float, float]:
    if span in SPANS:
        return now - SPANS[span][1], now
    own = _OWN.fullmatch(span)
    if own is None:
        words = ", ".join(SPANS)
        raise InvalidInput(f"'{span}' is no range: use {words}, or two times in seconds, FROM-TO")
    since, until = float(own[1]), float(own[2])
    if since >= until:
        raise InvalidInput("the range ends before it begins")
    if since > now:
        raise InvalidInput("the range lies ahead: nothing has been measured yet")
    return since, min(until, now)


def _chart(metric: str, cluster: str, target_s: float) -> Chart:
    wanted = f"{cluster}/{METRICS[metric].chart}"
    return next(c for c in cluster_charts(cluster, target_s) if c.key == wanted)


def _points(metric: str, briefs: Sequence[Brief]) -> tuple[list[int], list[float | None]]:
    """Times in ms and values; a stretch without reports is a gap."""
    value, times = attrgetter(METRICS[metric].field), METRICS[metric].times
    x: list[int] = []
    y: list[float | None] = []
    last: Brief | None = None
    for brief in briefs:
        if last is not None and _parted(last, brief):
            x.append(round((last.at + brief.at) * 500))
            y.append(None)
        x.append(round(brief.at * 1000))
        found = value(brief)
        y.append(None if found is None else times * found)
        last = brief
    return x, round_values(y)


def _summary(asked: TrendQuery, lines: Sequence[dict[str, Any]], unit: str) -> str:
    """The chart in words: lowest, highest and last of each cluster."""
    said = []
    for line in lines:
        values = [v for v in line["y"] if v is not None]
        if not values:
            said.append(f"{line['name']}: nothing reported")
            continue
        figures = f"{quantity(min(values))} to {quantity(max(values))}, last {quantity(values[-1])}"
        said.append(f"{line['name']}: {figures} {unit}".rstrip())
    return f"{METRICS[asked.metric].title}. " + "; ".join(said) + "."
