"""One allocation of processors through one application, measured live: the points of figures 6, 7
and 10. A point is kept beside the experiments, so that figure 7 compares what figure 6 measured."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct

from weir.metrics.lab.lab import LAB
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.drs_figures import Allocation, measured, words
from weir.pipeline.experiments.drs_live import LiveNetwork, run, session
from weir.pipeline.experiments.drs_rows import (
    PATTERNS,
    VIDEO,
    Arrival,
    PatternCost,
    VideoCost,
    messages,
    poisson,
    varied,
    video,
)

VLD, FPD = "VLD", "FPD"
OPERATORS = {VLD: VIDEO, FPD: PATTERNS}
VLD_COST = VideoCost(extract_s=0.53, match_s=0.105, aggregate_s=0.004)
FPD_COST = PatternCost(generate_s=0.2, detect_s=0.04, report_s=0.15)
FPD_RATE = 20.0
KEPT_S = 24 * 3600.0


class Point(Struct, frozen=True, kw_only=True):
    """What is run: an application, its processors, and how long at which speed.

    At speed 2 every time is halved: of the arrivals as well as of the work.
    """

    application: Literal["VLD", "FPD"]
    allocation: Allocation
    most: int
    length_s: float  # of this machine's time
    skip_s: float
    speed: float = 1.0
    rates: tuple[float, float] = (1.0, 25.0)  # of VLD's frames, drawn anew for each second
    cost: VideoCost | PatternCost | None = None  # None: as in figure 6
    seed: int = 1

    @property
    def key(self) -> str:
        """A file's name that changes with anything that makes a difference."""
        digest = hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:12]
        return f"{self.application}-{words(self.allocation).replace(':', '-')}-{digest}"


def arrivals_of(point: Point) -> list[Arrival]:
    """The same for every allocation."""
    length_s = point.length_s * point.speed
    if point.application == VLD:
        cost = point.cost if isinstance(point.cost, VideoCost) else VLD_COST
        made = video(varied(length_s, *point.rates, 1.0, point.seed), cost)
    else:
        cost_ = point.cost if isinstance(point.cost, PatternCost) else FPD_COST
        made = messages(poisson(length_s, FPD_RATE, point.seed), cost_)
    return [a.faster(point.speed) for a in made]


def measure(bench: Bench, points: Sequence[Point], name: str) -> list[dict[str, Any]]:
    """Run them, now, side by side; they differ in nothing but their processors."""
    spark, url = session(bench, name)
    first = points[0]
    operators, arrivals = OPERATORS[first.application], arrivals_of(first)
    networks = [LiveNetwork(spark, url, operators) for _ in points]
    said = f"{first.application}, {' and '.join(words(p.allocation) for p in points)}"
    bench.tell(f"{said}: processors start", 0.0)
    try:
        for network, point in zip(networks, points, strict=True):
            network.give(point.allocation)
        found = run(networks, arrivals, lambda share: bench.tell(said, share))
    finally:
        for network in networks:
            network.close()
    return [
        {
            **measured(
                served, operators, point.allocation, point.most, network.began, point.skip_s,
                point.length_s,
            ),
            "application": point.application, "late_s": network.late_s,
            "overhead_s": overhead_s(served, arrivals),
        }
        for point, network, served in zip(points, networks, found, strict=True)
    ]  # fmt: skip


def overhead_s(served: Sequence[Any], arrivals: Sequence[Arrival]) -> float:
    """What a row's service takes beyond the work it stands for, on average."""
    took = float(np.sum([s.done - s.begun for s in served]))
    return (took - sum(a.row.total_s for a in arrivals)) / len(served)


def kept(bench: Bench, point: Point, name: str) -> dict[str, Any]:
    """As it was measured for another figure within a day, or else measured now."""
    file = _file(bench, point)
    if file.exists() and time.time() - file.stat().st_mtime < KEPT_S:
        found: dict[str, Any] = msgspec.json.decode(file.read_bytes())
        return found
    return fresh(bench, point, name)


def fresh(bench: Bench, point: Point, name: str) -> dict[str, Any]:
    """Measured now, and kept for other figures."""
    found = measure(bench, [point], name)[0]
    file = _file(bench, point)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.encode(found))
    return found


def _file(bench: Bench, point: Point) -> Path:
    return bench.runs / LAB / "drs-points" / f"{point.key}.json"


def noise(rows: Iterable[Mapping[str, Any]]) -> str:
    """How far the machine was from doing what it was told, in a sentence."""
    rows = list(rows)
    over = 1000 * max(r["overhead_s"] for r in rows)
    late = 1000 * max(r["late_s"] for r in rows)
    return (
        f"A wait is on average {over:.1f} ms longer than it should be and the latest row came "
        f"{late:.0f} ms late."
    )


Measure = Callable[[Bench, Point, str], dict[str, Any]]
