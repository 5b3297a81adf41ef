"""DRS, figure 9: T_max and T_min while the rate of frames changes, with windows of 6 and 3 minutes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.allocate import min_processors
from weir.controllers.scaling.drs.network import Network
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.drs_allocations import WAITING
from weir.pipeline.experiments.drs_driven import Choose, Minute, side_by_side
from weir.pipeline.experiments.drs_figures import Allocation, network_of, sojourns
from weir.pipeline.experiments.drs_rows import VIDEO, VideoCost, even, video

COST = VideoCost(extract_s=0.28, match_s=0.085, aggregate_s=0.002)
START: Allocation = (3, 5, 1)
T_MAX_S, T_MIN_S = 1.0, 0.39
WINDOWS = (6, 3)
LONG, SHORT = "long-term", "short-term"
RATES: dict[str, tuple[float, ...]] = {
    LONG: (6.0,) * 6 + (12.0,) * 15 + (6.0,) * 13 + (18.0,) * 11,
    SHORT: (6.0,) * 6 + (12.0,) * 3 + (6.0,) * 11,
}
"""Frames per second in each minute: the changes that the paper's text names."""
CHANGES = (6, 21, 34)


def sizes(quick: bool) -> tuple[float, float]:
    """Seconds that a minute of the paper is here, and how much faster all times are."""
    return (1.5, 2.0) if quick else (3.0, 1.0)


def decided(
    network: Network, measured_s: float, now: Allocation, t_max_s: float, t_min_s: float
) -> Allocation | None:
    """Algorithm 2: the fewest processors within T_max, where the time has left its band."""
    if t_min_s <= measured_s <= t_max_s:
        return None
    try:
        wanted = min_processors(network, t_max_s)
    except InvalidInput:  # the work alone takes longer
        return None
    fits = wanted.total > sum(now) if measured_s > t_max_s else wanted.total < sum(now)
    return wanted.processors if fits else None


def watching(window: int, rates: Sequence[float], speed: float) -> Choose:
    """Smoothed over this many minutes, and no two changes closer than that."""
    changed_at = 0

    def choose(minute: Minute) -> Allocation | None:
        nonlocal changed_at
        if minute.number - changed_at < window:
            return None
        rows = minute.last(window)
        _, complete, _ = sojourns(rows, VIDEO[0])
        lately = rates[max(0, minute.number - window) : minute.number]
        try:
            network = network_of(rows, VIDEO, speed * float(np.mean(lately)))
        except InvalidInput:
            return None
        chosen = decided(
            network, float(complete.mean()), minute.allocation, T_MAX_S / speed, T_MIN_S / speed
        )
        if chosen is not None:
            changed_at = minute.number
        return chosen

    return choose


def parts(quick: bool) -> list[Step]:
    """One for each pattern of rates, its two windows side by side."""
    minute_s, speed = sizes(quick)

    def part(pattern: str) -> Step:
        rates = RATES[pattern]

        def run(bench: Bench) -> Any:
            times = even(minute_s * speed * len(rates), minute_s * speed, rates)
            arrivals = [a.faster(speed) for a in video(times, COST)]
            starts = {str(w): (START, watching(w, rates, speed)) for w in WINDOWS}
            return side_by_side(
                bench, "drs-fig-9", VIDEO, starts, arrivals, len(rates), minute_s,
                f"{pattern} change, windows of 6 and 3 minutes",
            )  # fmt: skip

        return Step(pattern, f"{pattern} change of the rate", run, float(len(rates)))

    return [part(pattern) for pattern in RATES]


def _size(allocation: str) -> int:
    return sum(map(int, allocation.split(":")))


def answers(changes: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """How many minutes after each change of the long-term pattern the first re-allocation into
    the right direction came, before the next change; None if none came."""
    found: list[int | None] = []
    ends = (*CHANGES[1:], len(RATES[LONG]) + 1)
    for begin, end, more in zip(CHANGES, ends, (True, False, True), strict=True):
        right = [
            c["minute"] - begin for c in changes
            if begin < c["minute"] <= end and (_size(c["to"]) > _size(c["from"])) == more
        ]  # fmt: skip
        found.append(min(right, default=None))
    return found


def conclude(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Each change is answered, by the small window sooner; a short one only by the small window."""
    minute_s, speed = sizes(quick)
    after = {w: answers(found[LONG][str(w)]["changes"]) for w in WINDOWS}
    short = {w: found[SHORT][str(w)]["changes"] for w in WINDOWS}
    grown = {w: [c for c in short[w] if _size(c["to"]) > _size(c["from"])] for w in WINDOWS}
    all_ = all(v is not None for w in WINDOWS for v in after[w])
    timed = list(zip(after[3], after[6], strict=True))[:2]  # those that the paper gives times of
    sooner = all(a is not None and b is not None and a < b for a, b in timed)
    claims = (all_, sooner, not grown[6], bool(grown[3]))

    def said(values: Sequence[int | None]) -> str:
        return ", ".join("never" if v is None else str(v) for v in values)

    return Conclusion(
        verdict=verdict_of(*claims),
        reason=(
            f"Long-term: minutes from a change of the rate to the first re-allocation into the "
            f"right direction are {said(after[6])} with a window of 6 and {said(after[3])} with "
            f"one of 3; the paper gives times of the first two only. Short-term, twice the rate for "
            f"three minutes: with 6 there "
            f"{'are' if len(grown[6]) != 1 else 'is'} {len(grown[6])} re-allocation"
            f"{'s' if len(grown[6]) != 1 else ''} to more processors, with 3 {len(grown[3])}. A "
            f"minute of the paper is {minute_s:g} s here"
            + (f" and all times are divided by {speed:g}" if speed != 1 else "")
            + f"; T_min is {1000 * T_MIN_S:.0f} ms in place of 450, as a frame takes less here. The "
            "paper's short-term rates are known only for the first change. Processors are added "
            "while the others work on, so there is no pause of 3 s as in the paper; what is seen "
            f"after a change is the queue that had built up. {WAITING}"
        ),
        numbers=(
            *(
                ComparedFigure(
                    name=f"change at minute {at}, window {w}: answered after",
                    ours=float(v), unit="minutes", published=paper,
                )
                for w, papers in ((6, ("7 (text: 6)", "6", "")), (3, ("3", "3", "")))
                for at, v, paper in zip(CHANGES, after[w], papers, strict=True) if v is not None
            ),
            ComparedFigure(name="short-term change, window 6: re-allocations", ours=float(len(short[6])),
                           published="0"),
            ComparedFigure(name="short-term change, window 3: re-allocations", ours=float(len(short[3])),
                           published="2"),
        ),
        charts=tuple(
            ResultChart(
                title=f"{pattern.capitalize()} change: time until fully processed",
                x_title="minute (of the paper)", y_title="s",
                x=tuple(float(m + 1) for m in range(len(RATES[pattern]))),
                series=tuple(
                    PlotSeries(
                        name=f"window {w}",
                        y=tuple(None if v is None else v * speed for v in found[pattern][str(w)]["minutes"]),
                    )
                    for w in WINDOWS
                ),
            )
            for pattern in RATES
        ),
        tables=(
            table(
                "Every re-allocation",
                ("change", "window", "minute", "from", "to"),
                [
                    (pattern, w, c["minute"], c["from"], c["to"])
                    for pattern in RATES for w in WINDOWS for c in found[pattern][str(w)]["changes"]
                ],
            ),
        ),
    )  # fmt: skip


FIGURE_9 = Work(parts=parts, conclude=conclude)
