"""The hot keys become others: how long until the load distance is back, by SMR's rule, even load by key groups, and ALBIC.

Four slices, two to each cluster. Most rows have keys of one slice; then, at once, of another
slice in the other cluster. The first two hand key groups on, ALBIC moves whole slices.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np

from benchmarks import report
from benchmarks.slices.balance import WAIT_S, automatic, moves_since, resliced_since, watched
from benchmarks.slices.site import Source, halt, run, site
from tests.support.fleet import Fleet
from tests.support.given import given_mode
from weir.controllers.model.sample import Mode
from weir.controllers.model.slicing import Slicing
from weir.controllers.placement.hashing import key_groups

COST_S = 0.005
BACK = 10.0
KEYS = 5_000
SLICES = 4
SHIFTS = (3, 2)
"""Whose keys become hot, one after the other; at first it is slice 0."""


class Rival(NamedTuple):
    """What decides, and how much there is to do."""

    label: str
    name: str
    planner: str
    ring_planner: str
    rows_per_s: float
    hot: float  # share of the rows that have keys of one slice alone; the others have any
    clusters: tuple[str, ...]  # of the slices, in turn


CASES = (
    Rival("SMR's ring rule", "smr", "no_op", "smr", 400.0, 0.55, ("a", "b")),
    Rival(
        "even load by key groups", "even", "no_op", "even_load", 300.0, 0.4, ("a", "a", "b", "b")
    ),
    Rival("ALBIC", "albic", "albic", "no_reslice", 300.0, 0.4, ("a", "a", "b", "b")),
)
SMR = {
    "high_queue_s": 3.0, "low_queue_s": 2.0, "high_load": 0.7, "low_load": 0.65,
    "most_slices": SLICES,
}  # fmt: skip


class Hot:
    """Keys of which most belong to one slice's key groups, which can be changed."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._names = [f"key-{i}" for i in range(KEYS)]
        first = Slicing.even("x", SLICES)
        group = key_groups([n.encode() for n in self._names], first.groups)
        self._by_slice = [
            [n for n, g in zip(self._names, group, strict=True) if g in first.groups_of(s)]
            for s in first.slices
        ]
        self.at = 0
        self._rng = np.random.default_rng(1)

    def keys(self, first: int, count: int) -> list[str]:
        """So many rows' keys, at random."""
        hot, share = self._by_slice[self.at], self._share
        return [
            hot[int(r / share * len(hot))]
            if r < share
            else self._names[int((r - share) / (1 - share) * KEYS)]
            for r in self._rng.random(count).tolist()
        ]


def shifted(
    fleet: Fleet, hot: Hot, at: int, seconds: float
) -> tuple[float, float, float, list[str]]:
    """Let other keys be hot: the worst distance, seconds until it is back, the last one, and
    what was done."""
    hot.at, since = at, time.time()
    time.sleep(3.0)
    came_s, series = watched(fleet, seconds, BACK)
    worst = max((p for _, p in series), default=0.0)
    reached = next((t for t, p in series if p > BACK), None)
    done = [*moves_since(fleet, since), *resliced_since(fleet, since)]
    print(at, f"worst {worst:.0f}, back {came_s:.0f} s", done, [round(p) for _, p in series])
    back = came_s + 3.0 if reached is not None else float("nan")
    return worst, back, series[-1][1] if series else float("nan"), done


def main(options: argparse.Namespace) -> None:
    """Every case, and the section."""
    names = " ".join(f"{case.name}:{SLICES}" for case in CASES)
    costs = " ".join(f"{case.name}:{COST_S}" for case in CASES)
    host = ("--executors", 1, "--max-executors", 1, "--cores", 2, "--period", 1)
    rows = []
    with site({"a": "", "b": ""}, *host, names=names, costs=costs, trigger_s=1.0) as fleet:
        fleet.store.save_settings("reslice:smr", SMR)
        for case in CASES:
            hot = Hot(case.hot)
            source = Source(fleet.redis.url, case.name, case.rows_per_s, hot.keys).start()
            run(fleet, case.name, *case.clusters)
            automatic(fleet, case.planner, case.ring_planner)
            watched(fleet, options.seconds, BACK)  # until it has settled
            for at in SHIFTS[: options.shifts]:
                worst, back_s, last, done = shifted(fleet, hot, at, options.seconds)
                back = f"{back_s:.0f} s" if back_s == back_s else "not measured"
                rows.append(
                    (
                        case.label, f"slice {at}", f"{worst:.0f}", back, f"{last:.0f}",
                        "; ".join(done),
                    )
                )  # fmt: skip
            for cluster in fleet.hosts:
                given_mode(fleet.store, cluster, Mode.OBSERVE)
            source.stop()
            halt(fleet, case.name)
    text = report.table(
        (
            "rule", "hot keys of", "worst distance", f"below {BACK:g} points after",
            "distance at the end", "what was done",
        ),
        rows,
    ) + (
        f"\n\n{SLICES} slices, two clusters of 2 cores, {COST_S * 1000:g} ms a row; "
        + "; ".join(
            f"{c.label}: {c.rows_per_s:g} rows/s, {c.hot:.0%} of them with keys of one slice alone"
            for c in CASES
        )
        + f"; mode auto, guards that wait {WAIT_S:g} s. Distance in points, of means of 15 s; seconds from the change of the hot "
        "keys on, these means included. SMR's settings: "
        + ", ".join(f"{k} {v:g}" for k, v in SMR.items())
        + ". Published: SMR reacts by scaling out within 1.5 to 3 s; ALBIC rebalances once a "
        "period of statistics and keeps the distance below 10 points."
    )  # fmt: skip
    report.write("slices: skew", "python -m benchmarks.slices skew", text)
    print(text)


def declare(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    parser.add_argument("--seconds", type=float, default=80.0, help="at most, for each change")
    parser.add_argument("--shifts", type=int, default=2, choices=(1, 2))
