"""DRS, figure 10: GI/G/k against M/M/k where rows come in bulk, with seven processors."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.drs_allocations import WAITING, advice, ahead
from weir.pipeline.experiments.drs_points import Point, measure, noise
from weir.pipeline.experiments.drs_rows import VideoCost

MOST = 7
COST = VideoCost(extract_s=0.23, match_s=0.057, aggregate_s=0.002)
RATES = {5: (2.0, 8.0), 6: (3.0, 9.0)}
GENERAL, SIMPLE = "2:4:1", "3:3:1"
TWO = ((2, 4, 1), (3, 3, 1))


def points(quick: bool) -> dict[int, list[Point]]:
    """Both allocations at both rates."""
    length_s = 30.0 if quick else 150.0
    return {
        rate: [
            Point(
                application="VLD", allocation=a, most=MOST, length_s=length_s, skip_s=2.0,
                rates=between, cost=COST,
            )
            for a in TWO
        ]
        for rate, between in RATES.items()
    }  # fmt: skip


def parts(quick: bool) -> list[Step]:
    """One for each rate, both allocations side by side."""

    def part(rate: int, both: list[Point]) -> Step:
        def run(bench: Bench) -> Any:
            return measure(bench, both, "drs-fig-10")

        return Step(f"rate-{rate}", f"{rate} frames/s, {GENERAL} and {SIMPLE}", run)

    return [part(rate, both) for rate, both in points(quick).items()]


def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """GI/G/k recommends what is measured best, M/M/k the other one."""
    by = {rate: found[f"rate-{rate}"] for rate in RATES}
    claims, said, numbers = [], [], []
    for rate, rows in by.items():
        best, best_sum = ahead(rows, "mean_s"), ahead(rows, "added_s")
        simple, general = ahead(rows, "mmk_s"), ahead(rows, "gigk_s")
        claims += [best == GENERAL, simple == SIMPLE, general == GENERAL]
        first, second = rows
        said.append(
            f"At {rate} frames/s {best} is measured best: {GENERAL} takes {first['mean_s']:.3f} s "
            f"until a frame is fully processed and {SIMPLE} {second['mean_s']:.3f} s "
            f"({first['added_s']:.2f} and {second['added_s']:.2f} s summed over all of its rows, "
            f"least at {best_sum}); of all allocations M/M/k recommends {advice(rows, 'mmk')[0]} "
            f"and GI/G/k {advice(rows, 'gigk')[0]}, and of these two they prefer {simple} and "
            f"{general}."
        )
        for row in rows:
            match = next(s for s in row["stations"] if s["name"] == "match")
            numbers += [
                ComparedFigure(name=f"{rate} frames/s, {row['allocation']}: measured, sum over rows",
                               ours=row["added_s"], unit="s",
                               published="least" if row["allocation"] == GENERAL else ""),
                ComparedFigure(name="the same by M/M/k", ours=row["mmk_s"], unit="s",
                               published="too low"),
                ComparedFigure(name="the same by GI/G/k", ours=row["gigk_s"], unit="s",
                               published="nearer to what is measured"),
                ComparedFigure(name="variation between arrivals at the matcher (ca2)",
                               ours=match["ca2"], published="above 1"),
            ]  # fmt: skip
    error = {
        model: {
            r: fmean(abs(row[model] - row["added_s"]) for row in rows) for r, rows in by.items()
        }
        for model in ("mmk_s", "gigk_s")
    }
    near = all(error["gigk_s"][rate] < error["mmk_s"][rate] for rate in by)
    share = {rate: [r["mmk_s"] / r["added_s"] for r in rows] for rate, rows in by.items()}
    deeper = [b < a for a, b in zip(share[5], share[6], strict=True)]
    return Conclusion(
        verdict=verdict_of(*claims, near, all(deeper)),
        reason=(
            f"{' '.join(said)} GI/G/k's estimates of the sum over rows are off by "
            + " and ".join(f"{error['gigk_s'][r]:.2f}" for r in by)
            + " s in the mean, M/M/k's by "
            + " and ".join(f"{error['mmk_s'][r]:.2f}" for r in by)
            + f" s. M/M/k's share of what is measured falls as the rate rises with {sum(deeper)} of "
            "2 allocations"
            + (
                "; with the other the extractor counts more, whose frames come more evenly than "
                "M/M/k takes them to. "
                if sum(deeper) == 1
                else ". "
            )
            + "How long the work "
            "takes is set so that the two models differ; they are not told what is measured. The "
            "rate is drawn for each second from 2 to 8 or 3 to 9 frames, which has the mean that "
            "the paper gives (its intervals between frames do not). "
            f"Both allocations get the same frames at the same time, side by side. {WAITING} "
            f"{noise(r for rows in by.values() for r in rows)}"
        ),
        numbers=tuple(numbers),
        charts=tuple(
            ResultChart(
                title=f"{rate} frames/s: sum over a frame's rows", x_title="allocation", y_title="s",
                x=tuple(r["allocation"] for r in rows),
                series=tuple(
                    PlotSeries(name=name, y=tuple(r[key] for r in rows))
                    for name, key in (("measured", "added_s"), ("M/M/k", "mmk_s"), ("GI/G/k", "gigk_s"))
                ),
            )
            for rate, rows in by.items()
        ),
        tables=(
            table(
                "Every run",
                ("frames/s", "allocation", "frames", "fully processed after, s", "sum over rows, s",
                 "M/M/k, s", "GI/G/k, s", "M/M/k recommends", "GI/G/k recommends"),
                [
                    (rate, r["allocation"], r["arrivals"], r["mean_s"], r["added_s"], r["mmk_s"],
                     r["gigk_s"], r["mmk_wants"], r["gigk_wants"])
                    for rate, rows in by.items() for r in rows
                ],
            ),
        ),
    )  # fmt: skip


FIGURE_10 = Work(parts=parts, conclude=conclude)
