"""ALBIC, figure 12: real job 2, simulated. Collocation halves the load, a move costs pauses.

Two operators on 20 nodes, all traffic one-to-one, nothing collocated at first. A group's load is
its computation and, for traffic that leaves its node, as much again for serialisation. A moved
group costs `move_share` of a period's work of its own, for state that is written and read.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from weir.controllers.balancing.albic import Albic
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.cola import Cola
from weir.controllers.balancing.problem import Budget, Flow, Problem
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.albic_instances import problem_of_loads
from weir.pipeline.experiments.base import Bench, Step, Work

NODES, PAIRS, PERIODS = 20, 100, 21
MOVE_SHARES = (0.0, 0.5)


def _start(rng: np.random.Generator) -> Problem:
    start = problem_of_loads(np.ones((NODES, 2 * PAIRS // NODES)), 10)
    order = rng.permutation(PAIRS)
    items = tuple(
        replace(i, bin=f"n{k % NODES}" if k < PAIRS else f"n{(int(order[k - PAIRS]) + 1) % NODES}")
        for k, i in enumerate(start.items)
    )
    flows = tuple(
        Flow(source=f"g{order[k]}", target=f"g{PAIRS + k}", rate=1.0) for k in range(PAIRS)
    )
    return replace(start, items=items, flows=flows)


def _measured(problem: Problem, work: np.ndarray, rng: np.random.Generator) -> Problem:
    """Loads as they would be measured in this placement, with 2 % of noise."""
    where = problem.placement
    away = {
        n for f in problem.flows if where[f.source] != where[f.target] for n in (f.source, f.target)
    }
    items = tuple(
        replace(i, load=float(w * (2.0 if i.name in away else 1.0) * rng.uniform(0.98, 1.02)))
        for i, w in zip(problem.items, work, strict=True)
    )
    return replace(problem, items=items)


def followed(planner_name: str, move_share: float, seed: int) -> dict[str, list[float]]:
    """Collocation, load index, distance and moves, period by period."""
    rng = np.random.default_rng(seed)
    work = rng.uniform(0.8, 1.2, 2 * PAIRS) * 2.5
    problem = _start(rng)
    planner, budget = (Albic(), Budget(moves=10)) if planner_name == "ALBIC" else (Cola(), Budget())
    problem = replace(problem, budget=budget)
    seen: dict[str, list[float]] = {"collocation": [], "index": [], "distance": [], "moves": []}
    first, moving = 0.0, 0.0
    for _ in range(PERIODS):
        problem = _measured(problem, work, rng)
        arrays = Arrays.of(problem)
        mean = float(arrays.points(arrays.home).mean()) + moving
        first = first or mean
        plan = planner.plan(problem)
        for key, value in (
            ("collocation", 100 * plan.before.collocation), ("index", 100 * mean / first),
            ("distance", plan.after.load_distance), ("moves", float(len(plan.moves))),
        ):  # fmt: skip
            seen[key].append(value)
        load = {i.name: i.load for i in problem.items}
        moving = move_share * sum(load[m.operator] for m in plan.moves) / NODES
        problem = problem.placed(plan.placement)
    return seen


def parts(quick: bool) -> list[Step]:
    """Both planners, with and without a cost of moves."""
    seeds = 1 if quick else 5

    def part(name: str, share: float) -> Step:
        def run(_: Bench) -> Any:
            found = [followed(name, share, 5 + seed) for seed in range(seeds)]
            return {k: np.mean([f[k] for f in found], axis=0).tolist() for k in found[0]}

        said = f"{name}, a move costs {100 * share:.0f} % of a period's work of its group"
        return Step(f"{name.lower()}-{100 * share:.0f}", said, run)

    return [part(n, s) for s in MOVE_SHARES for n in ("ALBIC", "COLA")]


def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """ALBIC halves the load with 10 moves; COLA does not where its moves cost."""
    ours, theirs = found["albic-50"], found["cola-50"]
    free = found["cola-0"]
    end = slice(-5, None)
    mean = {k: float(np.mean(v[end])) for k, v in ours.items()}
    cola = {k: float(np.mean(v[end])) for k, v in theirs.items()}
    return Conclusion(
        verdict=verdict_of(
            mean["index"] < 56.0, mean["moves"] <= 10.0, cola["moves"] > 100.0,
            cola["index"] > mean["index"] + 10.0, mean["distance"] < cola["distance"],
        ),
        reason=(
            f"ALBIC brings the load index to {mean['index']:.0f} % with {mean['moves']:.0f} moves "
            f"per period. COLA is at full collocation at once, moves {cola['moves']:.0f} groups in "
            f"every period and stays at {cola['index']:.0f} %, if a move costs half a period's "
            f"work of its group; if moves cost nothing it reaches {np.mean(free['index'][end]):.0f} "
            "% too. The cost of a move is an assumption of this simulation, so how far COLA "
            "stays behind is not measured; that it moves most groups in every period is."
        ),
        numbers=(
            ComparedFigure(name="load index at the end, ALBIC", ours=mean["index"], unit="%", published="50 %"),
            ComparedFigure(name="load index at the end, COLA", ours=cola["index"], unit="%", published="75 %"),
            ComparedFigure(name="moves per period, ALBIC", ours=mean["moves"], published="10"),
            ComparedFigure(name="moves per period, COLA", ours=cola["moves"], published="close to 200"),
            ComparedFigure(name="load distance, ALBIC", ours=mean["distance"], unit="points", published="below COLA"),
            ComparedFigure(name="load distance, COLA", ours=cola["distance"], unit="points"),
        ),
        charts=tuple(
            ResultChart(
                title=title, x_title="period", y_title=unit, x=tuple(map(float, range(PERIODS))),
                series=(
                    PlotSeries(name="ALBIC, 10 moves", y=tuple(ours[key])),
                    PlotSeries(name="COLA", y=tuple(theirs[key])),
                    *((PlotSeries(name="COLA, moves for nothing", y=tuple(free[key])),)
                      if key == "index" else ()),
                ),
            )
            for title, key, unit in (
                ("Load index", "index", "% of the load at the start"),
                ("Collocation", "collocation", "traffic on its node, %"),
                ("Load distance", "distance", "points"),
                ("Moves per period", "moves", "moves"),
            )
        ),
        tables=(
            table(
                "Period by period, a move costs half a period's work",
                ("planner", "period", "collocation, %", "load index, %", "distance", "moves"),
                [
                    (name, p, f["collocation"][p], f["index"][p], f["distance"][p], f["moves"][p])
                    for name, f in (("ALBIC", ours), ("COLA", theirs))
                    for p in (0, 1, 2, 5, 10, 15, 20)
                ],
            ),
        ),
    )  # fmt: skip


FIGURE_12 = Work(parts=parts, conclude=conclude)
