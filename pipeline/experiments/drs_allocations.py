"""DRS, figures 6 and 7: six allocations of 22 processors, measured, and what the model says."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    Table,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.drs_figures import Allocation, line, words
from weir.pipeline.experiments.drs_points import FPD, VLD, Measure, Point, fresh, kept, noise

MOST = 22
SIX: dict[str, tuple[Allocation, ...]] = {
    VLD: ((8, 12, 2), (9, 11, 2), (10, 11, 1), (11, 10, 1), (11, 9, 2), (12, 9, 1)),
    FPD: ((5, 14, 3), (6, 12, 4), (6, 13, 3), (7, 12, 3), (7, 13, 2), (8, 12, 2)),
}
PAPER = {VLD: "10:11:1", FPD: "6:13:3"}
LONG = {VLD: 45.0, FPD: 36.0}
WAITING = (
    "Processors are tasks of Spark that wait as long as the work would take, so 22 of them fit on "
    "two cores; rows, queues and times are real."
)


def points(quick: bool) -> list[Point]:
    """Every allocation: the quick size has only VLD, at twice the speed."""
    if quick:
        return [
            Point(application="VLD", allocation=a, most=MOST, length_s=12.0, skip_s=2.0, speed=2.0)
            for a in SIX[VLD]
        ]
    return [
        Point(application=app, allocation=a, most=MOST, length_s=LONG[app], skip_s=4.0)
        for app in ("VLD", "FPD") for a in SIX[app]
    ]  # fmt: skip


def parts_of(name: str, measure: Measure) -> Any:
    """One for each allocation; the first also starts Spark."""

    def parts(quick: bool) -> list[Step]:
        def part(point: Point) -> Step:
            def run(bench: Bench) -> Any:
                return measure(bench, point, name)

            said = f"{point.application}, {words(point.allocation)}"
            return Step(point.key, said, run, point.length_s)

        return [part(p) for p in points(quick)]

    return parts


def rows_by(quick: bool, found: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The points of each application, in order."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for point in points(quick):
        rows.setdefault(point.application, []).append(found[point.key])
    return rows


def advice(rows: Sequence[Mapping[str, Any]], model: str) -> tuple[str, int]:
    """What a model recommends in most of the runs, and in how many."""
    return Counter(r[f"{model}_wants"] for r in rows).most_common(1)[0]


def ahead(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    """The allocation with the least of a figure."""
    return str(min(rows, key=lambda r: r[key])["allocation"])


def conclude_6(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """The recommended allocation is measured best, and varies least."""
    by = rows_by(quick, found)
    claims, said, numbers = [], [], []
    for app, rows in by.items():
        (wanted, times), best = advice(rows, "mmk"), ahead(rows, "mean_s")
        steady, general = ahead(rows, "std_s"), advice(rows, "gigk")
        claims += [wanted == best, wanted == steady]
        said.append(
            f"{app}: DRS with M/M/k recommends {wanted} ({times} of {len(rows)} runs); {best} has "
            f"the least mean time until a row from outside is fully processed and {steady} the "
            f"least standard deviation. GI/G/k recommends {general[0]}, as rows that come in bulk "
            f"make its queue of {'chunks of features' if app == VLD else 'patterns'} long; the sum "
            f"over all rows, which equation 4 adds up, is least at {ahead(rows, 'added_s')}."
        )
        least = next(r for r in rows if r["allocation"] == best)
        second = sorted(r["mean_s"] for r in rows)[1]
        numbers += [
            ComparedFigure(name=f"{app}: mean time at {best}, the least", ours=least["mean_s"],
                           unit="s", published=f"least at {PAPER[app]}"),
            ComparedFigure(name=f"{app}: standard deviation there", ours=least["std_s"], unit="s",
                           published="the least too"),
            ComparedFigure(name=f"{app}: the second best is longer by",
                           ours=100 * (second / least["mean_s"] - 1), unit="%"),
        ]  # fmt: skip
    return Conclusion(
        verdict=verdict_of(*claims),
        reason=(
            f"{' '.join(said)} All allocations of an application get the same rows at the same "
            f"times. {WAITING} {noise(r for rows in by.values() for r in rows)} How long the work "
            "takes is set so that the load "
            "is about the paper's; the recommendation comes from what was measured."
            + (" The quick size leaves out FPD." if FPD not in by else "")
        ),
        numbers=tuple(numbers),
        charts=tuple(
            ResultChart(
                title=f"{app}: time until fully processed", x_title="allocation", y_title="s",
                x=tuple(
                    r["allocation"] + (" *" if r["allocation"] == advice(rows, "mmk")[0] else "")
                    for r in rows
                ),
                series=(
                    PlotSeries(name="mean", y=tuple(r["mean_s"] for r in rows)),
                    PlotSeries(name="standard deviation", y=tuple(r["std_s"] for r in rows)),
                ),
            )
            for app, rows in by.items()
        ),
        tables=(_table(by),),
    )  # fmt: skip


def conclude_7(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """What the model says goes with what is measured."""
    by = rows_by(quick, found)
    claims, said, numbers = [], [], []
    for app, rows in by.items():
        estimated, seen = [r["mmk_s"] for r in rows], [r["mean_s"] for r in rows]
        slope, intercept, together = line(estimated, seen)
        general = line([r["gigk_s"] for r in rows], [r["added_s"] for r in rows])[2]
        same = ahead(rows, "mmk_s") == ahead(rows, "mean_s")
        claims += [together > 0.7, same]
        ratio = fmean(e / m for e, m in zip(estimated, seen, strict=True))
        summed = fmean(r["mmk_s"] / r["added_s"] for r in rows)
        off = max(abs(slope * e + intercept - m) / m for e, m in zip(estimated, seen, strict=True))
        said.append(
            f"{app}: the correlation of M/M/k's estimate with the measured time is {together:.2f}; "
            f"measured = {slope:.2f} x estimated {intercept:+.2f} s misses no point by more than "
            f"{100 * off:.0f} %, and the allocation with the least estimate "
            f"{'is' if same else 'is not'} the one that is measured best. The estimate is "
            f"{ratio:.2f} times what is measured: equation 4 adds up the times of all rows that "
            "follow from one, and here these are worked on side by side. Of the sum itself it is "
            f"{summed:.2f} times, as rows come in bulk; GI/G/k's estimate of that has a "
            f"correlation of {general:.2f}."
        )
        numbers += [
            ComparedFigure(name=f"{app}: correlation, M/M/k with measured", ours=together,
                           published="positively correlated"),
            ComparedFigure(name=f"{app}: estimated / measured, mean of the six",
                           ours=ratio,
                           published="slightly below 1" if app == VLD else "far below 1"),
            ComparedFigure(name=f"{app}: largest error of the straight line", ours=100 * off, unit="%"),
            ComparedFigure(name=f"{app}: correlation, GI/G/k with the sum over all rows", ours=general),
        ]  # fmt: skip
    return Conclusion(
        verdict=verdict_of(*claims),
        reason=f"{' '.join(said)} The points are those of figure 6, where it was run. {WAITING}",
        numbers=tuple(numbers),
        charts=tuple(_fitted(app, rows) for app, rows in by.items()),
        tables=(_table(by),),
    )


def _fitted(app: str, rows: Sequence[Mapping[str, Any]]) -> ResultChart:
    """Measured over estimated, and the straight line through both."""
    ordered = sorted(rows, key=lambda r: r["mmk_s"])
    estimated = tuple(r["mmk_s"] for r in ordered)
    slope, intercept, _ = line(estimated, [r["mean_s"] for r in ordered])
    return ResultChart(
        title=f"{app}: estimated and measured", x_title="estimated by M/M/k, s",
        y_title="measured, s", x=estimated,
        series=(
            PlotSeries(name="measured", y=tuple(r["mean_s"] for r in ordered)),
            PlotSeries(name="regression", y=tuple(slope * e + intercept for e in estimated)),
            PlotSeries(name="as estimated", y=estimated),
        ),
    )  # fmt: skip


def _table(by: Mapping[str, Sequence[Mapping[str, Any]]]) -> Table:
    return table(
        "Every allocation",
        ("application", "allocation", "rows from outside", "mean, s", "standard deviation, s",
         "M/M/k, s", "sum over its rows, s", "GI/G/k, s", "M/M/k recommends", "GI/G/k recommends"),
        [
            (app, r["allocation"], r["arrivals"], r["mean_s"], r["std_s"], r["mmk_s"], r["added_s"],
             r["gigk_s"], r["mmk_wants"], r["gigk_wants"])
            for app, rows in by.items() for r in rows
        ],
    )  # fmt: skip


FIGURE_6 = Work(parts=parts_of("drs-fig-6", fresh), conclude=conclude_6)
FIGURE_7 = Work(parts=parts_of("drs-fig-7", kept), conclude=conclude_7)
