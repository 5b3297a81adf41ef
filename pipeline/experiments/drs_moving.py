"""DRS, figure 8: from three allocations to the one that is recommended, while rows come."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from weir.controllers.model.errors import InvalidInput
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.drs_allocations import MOST, WAITING
from weir.pipeline.experiments.drs_driven import Choose, Minute, side_by_side
from weir.pipeline.experiments.drs_figures import Allocation, network_of, recommended, words
from weir.pipeline.experiments.drs_points import FPD, OPERATORS, VLD, Point, arrivals_of

MINUTES, CHANGE_AT = 27, 14
STARTS: dict[str, tuple[Allocation, ...]] = {
    VLD: ((10, 11, 1), (8, 12, 2), (11, 9, 2)),
    FPD: ((6, 13, 3), (8, 12, 2), (7, 13, 2)),
}


def minute_s(quick: bool) -> float:
    """How long a minute of the paper is here."""
    return 3.0 if quick else 6.0


def point(app: str, quick: bool) -> Point:
    """The rows that all starts get; the many rows of FPD at half the speed."""
    return Point(
        application="VLD" if app == VLD else "FPD", allocation=STARTS[app][0], most=MOST,
        length_s=MINUTES * minute_s(quick), skip_s=0.0, speed=1.0 if app == VLD else 0.5,
    )  # fmt: skip


def at_minute(number: int, operators: Sequence[str], most: int) -> Choose:
    """Once, then: what DRS recommends from all that was measured so far."""

    def choose(minute: Minute) -> Allocation | None:
        if minute.number != number:
            return None
        entered = len({s.arrival for s in minute.served if s.operator == operators[0]})
        try:
            network = network_of(
                minute.served, operators, entered / (number * minute.length_s), variability=False
            )
        except InvalidInput:
            return None
        return recommended(network, most) or None

    return choose


def parts(quick: bool) -> list[Step]:
    """One for each application, its three starts side by side."""

    def part(app: str) -> Step:
        def run(bench: Bench) -> Any:
            operators = OPERATORS[app]
            choose = at_minute(CHANGE_AT, operators, MOST)
            starts = {words(a): (a, choose) for a in STARTS[app]}
            return side_by_side(
                bench, "drs-fig-8", operators, starts, arrivals_of(point(app, quick)), MINUTES,
                minute_s(quick), f"{app}, from {len(starts)} allocations",
            )  # fmt: skip

        return Step(app, f"{app}, from three allocations", run)

    return [part(app) for app in ((VLD,) if quick else (VLD, FPD))]


def _mean(values: Sequence[float | None]) -> float:
    return fmean(v for v in values if v is not None)


def conclude(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """All end on the recommended allocation, and then take about the same time."""
    claims, said, numbers = [], [], []
    rows: list[tuple[object, ...]] = []
    for app, runs in found.items():
        ends = {r["allocation"] for r in runs.values()}
        after = {label: _mean(r["minutes"][CHANGE_AT + 2 :]) for label, r in runs.items()}
        before = {label: _mean(r["minutes"][2 : CHANGE_AT - 1]) for label, r in runs.items()}
        moved = [label for label, r in runs.items() if r["changes"]]
        apart = max(after.values()) / min(after.values()) - 1
        apart_before = max(before.values()) / min(before.values()) - 1
        shorter = [label for label in moved if after[label] < before[label]]
        claims += [len(ends) == 1, apart < 0.1, shorter == moved and len(moved) == 2]
        pause = {
            label: max(v for v in r["minutes"][CHANGE_AT - 1 : CHANGE_AT + 2] if v is not None)
            for label, r in runs.items() if label in moved
        }  # fmt: skip
        said.append(
            f"{app}: the three runs end with {' and '.join(sorted(ends))}. From minute "
            f"{CHANGE_AT + 3} on their mean times differ by {100 * apart:.1f} %, before minute "
            f"{CHANGE_AT} by {100 * apart_before:.0f} %; {len(shorter)} of the {len(moved)} that "
            "were changed are faster than before."
        )
        numbers.append(
            ComparedFigure(name=f"{app}: difference among the three after the change",
                           ours=100 * apart, unit="%", published="similar average sojourn times")
        )  # fmt: skip
        for label, run in runs.items():
            rows.append((app, label, run["allocation"], before[label], after[label],
                         pause.get(label)))  # fmt: skip
            numbers.append(
                ComparedFigure(
                    name=f"{app} from {label}: mean time before and from minute {CHANGE_AT + 3} on, ratio",
                    ours=after[label] / before[label],
                    published="a clear decrease" if label != words(STARTS[app][0]) else "about the same",
                )
            )  # fmt: skip
    return Conclusion(
        verdict=verdict_of(*claims),
        reason=(
            f"{' '.join(said)} A minute of the paper is {minute_s(quick):g} s here, and all three "
            "get the same rows at the same time, side by side. Processors are added and taken away "
            f"while the others work on, so there is hardly a pause. {WAITING}"
            + (" The quick size leaves out FPD." if FPD not in found else "")
        ),
        numbers=tuple(numbers),
        charts=tuple(
            ResultChart(
                title=f"{app}: time until fully processed", x_title="minute (of the paper)",
                y_title="s", x=tuple(float(m + 1) for m in range(MINUTES)),
                series=tuple(PlotSeries(name=f"from {label}", y=tuple(r["minutes"]))
                             for label, r in runs.items()),
            )
            for app, runs in found.items()
        ),
        tables=(
            table(
                "Every start",
                ("application", "start", "end", "mean before the change, s", "mean after it, s",
                 "longest minute around it, s"),
                rows,
            ),
        ),
    )  # fmt: skip


FIGURE_8 = Work(parts=parts, conclude=conclude)
