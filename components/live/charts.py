"""Which series there are, and how a report becomes their next points.

A chart is a fixed set of traces over the reports of one cluster. The server
sends its points; `assets/live/chart.js` draws them and knows nothing of their meaning.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from weir.components.live.world import World
from weir.controllers.model.sample import ClusterSample, OperatorSample

Values = tuple[float | None, ...]


class ChartTrace(Struct, frozen=True, kw_only=True):
    """One line of a chart."""

    name: str
    colour: str  # a custom property of the style sheet, without the dashes
    style: Literal["line", "area", "step", "stack"] = "line"
    dashed: bool = False
    right: bool = False  # read on the axis to the right
    unit: str = ""  # where it is not the chart's


class Chart(Struct, frozen=True, kw_only=True):
    """One chart: what it shows and how to get it from a report."""

    key: str
    title: str
    unit: str
    cluster: str  # whose reports bring new points
    traces: tuple[ChartTrace, ...]
    values: Callable[[ClusterSample], Values]
    help: str = ""
    trend: str = ""  # what the Trends page calls it, where it can show more of it
    line: float | None = None  # a limit that the traces are read against
    line_label: str = ""
    line_right: bool = False  # the limit is one of the right axis
    least_top: float = 0.0  # the axis reaches at least this far
    least_top_right: float = 0.0
    whole: bool = False  # only whole numbers make sense on the axis


ARRIVING = ChartTrace(name="arriving", colour="series-1")
PROCESSED = ChartTrace(name="processed", colour="series-2")
MEDIAN = ChartTrace(name="median", colour="series-1")
LONGEST = ChartTrace(name="longest", colour="series-3")


def cluster_charts(cluster: str, target_latency_s: float) -> list[Chart]:
    """The five series of a cluster in the control room."""
    return [
        Chart(
            key=f"{cluster}/load",
            trend="load",
            title="Load",
            unit="%",
            cluster=cluster,
            traces=(
                ChartTrace(name="arriving work", colour="series-1", style="area"),
                ChartTrace(name="work done", colour="series-2"),
            ),
            values=lambda s: (100.0 * s.load, percent_of_cores(s, s.cluster.busy_cores)),
            help="Work that arrives and work that is done, in per cent of the cores present",
            line=100.0,
            line_label="full",
            least_top=120.0,
        ),
        Chart(
            key=f"{cluster}/latency",
            trend="latency",
            title="Latency",
            unit="s",
            cluster=cluster,
            traces=(MEDIAN, LONGEST),
            values=lambda s: (
                highest(o.latency_s for o in s.operators),
                highest(o.latency_max_s for o in s.operators),
            ),
            help="Event time to commit, of the slowest operator",
            line=target_latency_s,
            line_label="target",
            least_top=target_latency_s * 1.2,
        ),
        Chart(
            key=f"{cluster}/queue",
            trend="queue",
            title="Queue",
            unit="rows",
            cluster=cluster,
            traces=(ChartTrace(name="waiting", colour="series-4", style="area"),),
            values=lambda s: (total(o.queue_rows for o in s.operators),),
            help="Rows that have arrived and are in no batch yet, all operators",
            least_top=10,
        ),
        Chart(
            key=f"{cluster}/throughput",
            trend="arriving",
            title="Throughput",
            unit="rows/s",
            cluster=cluster,
            traces=(ARRIVING, PROCESSED),
            values=lambda s: (
                total(o.arrival_rows_per_s for o in s.operators),
                total(o.processed_rows_per_s for o in s.operators),
            ),
            help="Rows into and through all operators of the cluster",
            least_top=10,
        ),
        Chart(
            key=f"{cluster}/executors",
            trend="executors",
            title="Executors",
            unit="",
            cluster=cluster,
            traces=(
                ChartTrace(name="present", colour="series-1", style="step"),
                ChartTrace(name="wanted", colour="series-5", style="step", dashed=True),
            ),
            values=lambda s: (s.cluster.executors, s.cluster.executors_wanted),
            help="Executors that are there and executors asked for",
            least_top=2,
            whole=True,
        ),
    ]


def cluster_page_charts(
    cluster: str, operators: Sequence[str], target_latency_s: float
) -> list[Chart]:
    """A cluster's own page: load stacked by operator, then the common series."""
    common = cluster_charts(cluster, target_latency_s)
    stacked = Chart(
        key=f"{cluster}/load-by-operator",
        title="Load by operator",
        unit="%",
        cluster=cluster,
        traces=tuple(
            ChartTrace(name=name, colour=f"series-{i % 8 + 1}", style="stack")
            for i, name in enumerate(operators)
        ),
        values=lambda s: tuple(
            next((percent_of_cores(s, o.load) for o in s.operators if o.name == n), None)
            for n in operators
        ),
        help="Arriving work of each operator, in per cent of the cores present",
        line=100.0,
        line_label="full",
        least_top=120.0,
    )
    return [stacked, *common]


def operator_charts(
    operator: str, cluster: str, target_latency_s: float, *, stateful: bool
) -> list[Chart]:
    """The series of one operator."""

    def chart(
        key: str,
        title: str,
        unit: str,
        traces: tuple[ChartTrace, ...],
        pick: Callable[[OperatorSample, ClusterSample], Values],
        **more: Any,
    ) -> Chart:
        nothing: Values = (None,) * len(traces)

        def values(sample: ClusterSample) -> Values:
            found = next((o for o in sample.operators if o.name == operator), None)
            return nothing if found is None else pick(found, sample)

        return Chart(
            key=f"{operator}/{key}", title=title, unit=unit, cluster=cluster,
            traces=traces, values=values, **more,
        )  # fmt: skip

    charts = [
        chart(
            "rates", "Rows in and processed", "rows/s", (ARRIVING, PROCESSED),
            lambda o, _: (o.arrival_rows_per_s, o.processed_rows_per_s), least_top=10,
        ),
        chart(
            "latency", "End-to-end latency", "s", (MEDIAN, LONGEST),
            lambda o, _: (o.latency_p50_s, o.latency_max_s),
            help="Event time to commit", line=target_latency_s, line_label="target",
            least_top=target_latency_s * 1.2,
        ),
        chart(
            "batch", "Wait and batch", "s",
            (
                ChartTrace(name="scheduling", colour="series-5", style="stack"),
                ChartTrace(name="processing", colour="series-1", style="stack"),
            ),
            lambda o, _: (o.scheduling_s, o.processing_s),
            help="Wait of the median row before its batch began, then the batch itself",
            least_top=1,
        ),
        chart(
            "queue", "Queue", "rows",
            (ChartTrace(name="waiting", colour="series-4", style="area"),),
            lambda o, _: (o.queue_rows,), least_top=10,
        ),
        chart(
            "load", "Load", "%",
            (
                ChartTrace(name="arriving work", colour="series-1", style="area"),
                ChartTrace(name="work done", colour="series-2"),
            ),
            lambda o, s: (percent_of_cores(s, o.load), percent_of_cores(s, o.busy_cores)),
            help="Work that arrives and work that is done, in per cent of the cluster's cores",
            line=100.0, line_label="full", least_top=120.0,
        ),
        chart(
            "skew", "Skew", "",
            (ChartTrace(name="longest / median task", colour="series-6"),),
            lambda o, _: (o.skew,), help="Longest over median run time of a task; 1 is even",
            line=1.0, line_label="even", least_top=2,
        ),
    ]  # fmt: skip
    if stateful:
        charts.append(
            chart(
                "state", "State", "rows",
                (ChartTrace(name="keys kept", colour="series-3", style="area"),),
                lambda o, _: (o.state_rows,), least_top=10,
            )
        )  # fmt: skip
    return charts


def spec(chart: Chart) -> dict[str, Any]:
    """What the browser needs to draw a chart, without its points."""
    return {
        "key": chart.key,
        "title": chart.title,
        "unit": chart.unit,
        "cluster": chart.cluster,
        "traces": [
            {"name": t.name, "colour": t.colour, "style": t.style, "dashed": t.dashed}
            | ({"right": True, "unit": t.unit} if t.right else {})
            for t in chart.traces
        ],
        "line": chart.line,
        "lineLabel": chart.line_label,
        "lineRight": chart.line_right,
        "leastTop": chart.least_top,
        "leastTopRight": chart.least_top_right,
        "whole": chart.whole,
    }


def points(chart: Chart, samples: Iterable[ClusterSample]) -> dict[str, list[Any]]:
    """The points of a chart: times in ms, then one list per trace.

    >>> from weir.controllers.model.sample import Cluster
    >>> sample = ClusterSample(at=2.0, period_s=2.0, cluster=Cluster(name="a", executors=3))
    >>> points(cluster_charts("a", 5.0)[-1], [sample])
    {'x': [2000], 'y': [[3.0], [0.0]]}
    """
    x: list[int] = []
    y: list[list[float | None]] = [[] for _ in chart.traces]
    for sample in samples:
        x.append(round(sample.at * 1000))
        for column, value in zip(y, chart.values(sample), strict=True):
            column.append(None if value is None else float(f"{value:.5g}"))
    return {"x": x, "y": y}


def charts_of(world: World, cluster: str) -> list[Chart]:
    """The charts of one cluster in the control room."""
    return cluster_charts(cluster, world.target_latency_s)


def highest(values: Iterable[float | None]) -> float | None:
    """The largest of what was measured."""
    return max((v for v in values if v is not None), default=None)


def total(values: Iterable[float | None]) -> float | None:
    """The sum of what was measured; None if nothing was."""
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def percent_of_cores(sample: ClusterSample, busy: float) -> float:
    """Work in busy cores as per cent of the cores that the cluster has."""
    return 100.0 * busy / max(sample.cluster.capacity, 1)
