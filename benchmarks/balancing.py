"""Load distance, bound and seconds of every planner on the instances of ALBIC 5.1.

    python -m benchmarks.balancing            all sizes
    python -m benchmarks.balancing --quick    the paper's three sizes, fewer seeds

Times are of `plan(problem)`, everything included, in a warm process: wall time, and
the CPU time of the same call. It runs on one core, so the two differ only by what
else the machine was doing. Of several runs the best, the median and the slowest.
"""

import argparse
import itertools
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from benchmarks import report
from weir.controllers.balancing.albic import Albic
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Planner, planners
from weir.controllers.balancing.bound import lower_bound
from weir.controllers.balancing.cola import Cola, ColaSettings
from weir.controllers.balancing.dodo import DodoPlanner, DodoPlannerSettings
from weir.controllers.balancing.flux import Flux
from weir.controllers.balancing.milp import Milp
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Budget, Problem
from weir.controllers.balancing.static_greedy import StaticGreedy
from weir.controllers.placement.potc import potc_loads
from weir.pipeline.experiments.albic_instances import SIZES, instance

VARIES = (0.2, 0.6, 1.0)
BUDGETS = (10, 20, 40)
PAPER = SIZES[:3]


class Times(NamedTuple):
    """Milliseconds of several runs of the same call."""

    best: float
    median: float
    slowest: float

    @classmethod
    def of(cls, seconds: list[float]) -> "Times":
        """From the seconds of every run."""
        ms = [1000.0 * s for s in seconds]
        return cls(min(ms), statistics.median(ms), max(ms))


def timed(planner: Planner, problem: Problem, runs: int) -> tuple[Plan, Times, Times]:
    """The plan, and wall and CPU times."""
    wall, cpu = [], []
    for _ in range(runs):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        plan = planner.plan(problem, seed=0)
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - cpu_begin)
    return plan, Times.of(wall), Times.of(cpu)


class AgainstFlux(NamedTuple):
    """Our optimiser and Flux on one instance: load distances, and our times."""

    before: float
    bound: float
    ours: float
    flux: float
    wall: Times
    cpu: Times

    @property
    def worse(self) -> bool:
        """Flux does better."""
        return self.ours > self.flux + 1e-9


def compared(size: tuple[int, int], varies: float, moves: int, seed: int, runs: int) -> AgainstFlux:
    """Both on that instance."""
    problem = instance(*size, varies, moves, seed)
    ours, wall, cpu = timed(Milp(), problem, runs)
    theirs = Flux().plan(problem)
    assert ours.bound is not None
    distances = (ours.after.load_distance, theirs.after.load_distance)
    return AgainstFlux(ours.before.load_distance, ours.bound, *distances, wall, cpu)


def paper_settings(seeds: int, runs: int) -> tuple[str, dict[str, float]]:
    """The 27 settings: our optimiser and Flux against the bound."""
    rows, gaps, everything = [], [], []
    for (nodes, groups), varies, moves in (
        (s, v, b) for s in PAPER for v in VARIES for b in BUDGETS
    ):
        found = [compared((nodes, groups), varies, moves, seed, runs) for seed in range(seeds)]
        everything += found
        before, bound, ours, flux, ms, best, median = np.mean(
            [(*c[:4], c.wall.median, c.cpu.best, c.cpu.median) for c in found], axis=0
        )
        gaps.append(ours - bound)
        rows.append([f"{nodes}/{groups}", f"{varies:.0%}", moves, before, bound, ours,
                     ours - bound, flux, ms, best, median,
                     max(c.cpu.slowest for c in found)])  # fmt: skip
    table = report.table(
        ["nodes/groups", "varies", "moves", "before", "bound", "optimiser", "gap", "Flux",
         "ms, median", "CPU ms, best", "CPU ms, median", "CPU ms, slowest run"],
        rows)  # fmt: skip
    return table, {
        "gap": float(np.mean(gaps)),
        "ms": max(c.wall.median for c in everything),
        "cpu": max(c.cpu.median for c in everything),
        "slowest": max(c.cpu.slowest for c in everything),
        "worse": sum(c.worse for c in everything),
        "instances": len(rows) * seeds,
    }


def large_settings(seeds: int, runs: int) -> tuple[str, dict[str, float]]:
    """200/4000 and 600/12000, with the paper's budgets, 400, and 10 % of the groups."""
    rows, gaps, slowest, worse, count = [], [], np.zeros(2), 0, 0
    for nodes, groups in SIZES[3:]:
        for moves in sorted({*BUDGETS, 400, groups // 10}):
            for varies in VARIES:
                found = [
                    compared((nodes, groups), varies, moves, seed, runs) for seed in range(seeds)
                ]
                worse += sum(c.worse for c in found)
                count += len(found)
                figures = [(*c[1:4], c.wall.median, c.cpu.median) for c in found]
                bound, ours, flux, wall, cpu = np.mean(figures, axis=0)
                if (nodes, moves) == (600, 400):
                    gaps.append(ours - bound)
                    slowest = np.maximum(slowest, np.max(figures, axis=0)[3:])
                rows.append([f"{nodes}/{groups}", f"{varies:.0%}", moves, bound, ours,
                             ours - bound, flux, wall, cpu])  # fmt: skip
    table = report.table(
        ["nodes/groups", "varies", "moves", "bound", "optimiser", "gap", "Flux", "ms", "CPU ms"],
        rows,
    )
    return table, {"gap": float(np.mean(gaps)), "ms": slowest[0], "cpu": slowest[1],
                   "worse": worse, "instances": count}  # fmt: skip


def every_planner(sizes: Iterable[tuple[int, int]], moves_of: Callable[[int], int]) -> str:
    """All planners side by side, one instance each; from scratch ones without a budget."""
    rows = []
    for nodes, groups in sizes:
        problem = instance(nodes, groups, 0.6, moves_of(groups), seed=0)
        free = replace(problem, budget=Budget())
        bound = lower_bound(Arrays.of(problem))
        rows.append([f"{nodes}/{groups}", "(bound)", moves_of(groups), bound, "", "", ""])
        contenders: list[tuple[str, Planner, Problem]] = [
            (kind.label, kind(), problem)
            for name, kind in planners().items()
            if name not in ("cola", "static_greedy", "integrative", "dodo", "dodo_no_capacity")
        ]
        contenders.append(
            ("DoDo (threshold 0)", DodoPlanner(DodoPlannerSettings(load_threshold=0.0)), problem)
        )
        if groups <= 1200:
            contenders.append(("COLA, no budget", Cola(ColaSettings(max_distance=1.0)), free))
        contenders.append(("Static greedy, no budget", StaticGreedy(), free))
        for label, planner, given in contenders:
            planner.plan(given)
            plan, wall, cpu = timed(planner, given, 1 if isinstance(planner, Cola | Albic) else 3)
            gap = plan.after.load_distance - bound if given is problem else ""
            rows.append([f"{nodes}/{groups}", label, len(plan.moves), plan.after.load_distance,
                         gap, wall.median, cpu.median])  # fmt: skip
        rows.append(
            [f"{nodes}/{groups}", "PoTC (routing, no moves)", 0, _potc(problem), "", "", ""]
        )
    header = ["nodes/groups", "planner", "moves", "distance", "gap", "ms", "CPU ms"]
    return report.table(header, rows)


def _potc(problem: Problem) -> float:
    """Load distance when every group is routed by two choices instead of placed."""
    loads = potc_loads({i.name: i.load for i in problem.items}, [b.name for b in problem.bins])
    points = np.array([100 * loads[b.name] / b.capacity for b in problem.bins])
    return float(np.abs(points - points.mean()).max())


def more_time() -> tuple[str, bool]:
    """The same instances with more and more time, by the clock."""
    rows, monotone = [], True
    for nodes, groups, varies, moves in (
        (60, 1200, 1.0, 40),
        (40, 800, 0.6, 20),
        (200, 4000, 0.6, 40),
    ):
        problem = instance(nodes, groups, varies, moves, seed=0)
        distances = []
        for limit in (None, 0.05, 0.2, 1.0, 3.0):
            begin = time.perf_counter()
            remaining = (
                None if limit is None else (lambda b=begin, t=limit: b + t - time.perf_counter())
            )
            plan = Milp().plan(problem, seed=0, remaining_s=remaining)
            distances.append(plan.after.load_distance)
        monotone &= all(b <= a + 1e-9 for a, b in itertools.pairwise(distances))
        rows.append([f"{nodes}/{groups}", f"{varies:.0%}", moves, plan.bound, *distances])
    header = [
        "nodes/groups",
        "varies",
        "moves",
        "bound",
        "no limit given",
        "0.05 s",
        "0.2 s",
        "1 s",
        "3 s",
    ]
    return report.table(header, rows), monotone


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    Milp().plan(instance(20, 400, 0.6, 10, 0))
    seeds, runs = (2, 3) if quick else (5, 5)
    paper, at_paper = paper_settings(seeds, runs)
    print(paper, at_paper, sep="\n", flush=True)
    parts = [
        f"Python {platform.python_version()}, one process, {seeds} seeds per setting (means), "
        f"{runs} runs of each instance on a machine that others use too. Distances in points of "
        "capacity; nodes are half full on average, as the paper does not say; `varies` is relative "
        "to a node's load.",
        "### The paper's 27 settings",
        f"Mean gap to the bound **{at_paper['gap']:.3f} points** (target 0.05). The slowest "
        f"instance takes **{at_paper['cpu']:.1f} ms of CPU** in the median of its {runs} runs "
        f"({at_paper['ms']:.1f} by the clock; target 10), the slowest single run of all "
        f"{at_paper['slowest']:.1f} ms. Worse than Flux on **{at_paper['worse']:.0f}** of "
        f"{at_paper['instances']:.0f} instances.",
        paper,
    ]
    if not quick:
        large, at_large = large_settings(2, 3)
        print(large, at_large, sep="\n", flush=True)
        time_table, monotone = more_time()
        print(time_table, monotone, sep="\n", flush=True)
        parts += [
            "### Larger",
            f"At 600/12000 with 400 moves: mean gap **{at_large['gap']:.3f} points** (target 0.12), "
            f"slowest **{at_large['cpu']:.0f} ms of CPU** in the median of three runs "
            f"({at_large['ms']:.0f} by the clock; target 100); worse than Flux on "
            f"**{at_large['worse']:.0f}** of {at_large['instances']:.0f} instances. Two seeds per "
            "setting. With varies 100 % the gap is the largest: the bound counts touches node by node "
            "and does not see that what one node should give is not what another one needs.",
            large,
            "### More time, never a worse plan",
            f"{'Holds' if monotone else 'DOES NOT HOLD'} on all of these.",
            time_table,
            "### Every planner",
            "A cut through the settings, not all of them: varies 60 %, one instance (seed 0) per "
            "size, and only the budget of 10 % of the groups; how a planner other than the "
            "optimiser and Flux does at varies 20 and 100 % or at 10, 20 and 40 moves is not "
            "measured here. COLA and static greedy place everything anew and are given no budget, "
            "so the bound, which holds for that budget, is none for them; COLA only up to 60/1200, as it cuts and deals out again hundreds of times. Times are the "
            "median of three runs (one of COLA and ALBIC). PoTC routes rows instead of moving groups; "
            "merging, which it needs all the time, is not counted here. DoDo without capacity is the "
            "same as DoDo on nodes of equal capacity, the integrative framework without scaling the "
            "same as the optimiser.",
            every_planner(SIZES, lambda groups: groups // 10),
        ]
    report.write("balancing", "python -m benchmarks.balancing", "\n\n".join(parts))


if __name__ == "__main__":
    main()
