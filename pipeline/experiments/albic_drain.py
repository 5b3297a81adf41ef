"""ALBIC, figure 5: scale-in as part of balancing, against draining first and balancing then."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.milp import Milp
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.spend import evacuate
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.albic_instances import change, problem_of_loads
from weir.pipeline.experiments.base import Bench, Step, Work

NODES = 60
PERIODS = 20
GOOD = 10.0  # points of distance that count as good
CASES = (1, 5)  # nodes at 100 %


def integrated(problem: Problem) -> dict[str, str]:
    """One plan for both."""
    return Milp().plan(problem).placement


def drain_first(problem: Problem) -> dict[str, str]:
    """Empty the nodes that go; balance when that is done."""
    arrays = Arrays.of(problem)
    if arrays.left(arrays.home) == 0.0:
        return Milp().plan(problem).placement
    place = evacuate(arrays, arrays.home)
    names = [b.name for b in problem.bins]
    return {i.name: names[p] for i, p in zip(problem.items, place.tolist(), strict=True)}


def drained(
    overloaded: int, seed: int, step: Callable[[Problem], dict[str, str]], nodes: int = NODES
) -> dict[str, Any]:
    """Distance after each period; when it is good, and when the last node is empty.

    What does not come within the periods counts as one period more than there are.
    """
    rng = np.random.default_rng([overloaded, seed])
    load = 50.0 / 20 * (1.0 + rng.uniform(-0.05, 0.05, (nodes, 20)))
    for node in range(overloaded):
        change(load[node], 100.0 / load[node].sum() - 1.0, rng)
    leaving = {f"n{k}" for k in range(nodes - nodes // 6, nodes)}
    problem = problem_of_loads(load, moves=nodes // 3)
    problem = replace(
        problem, bins=tuple(replace(b, keep=b.name not in leaving) for b in problem.bins)
    )
    distances: list[float] = []
    empty = 0
    for period in range(1, PERIODS + 1):
        problem = problem.placed(step(problem))
        arrays = Arrays.of(problem)
        distances.append(float(arrays.distance(arrays.home)))
        if not empty and arrays.left(arrays.home) == 0.0:
            empty = period
    good = next((p for p, d in enumerate(distances, 1) if d <= GOOD), 0)
    return {"distances": distances, "good": good or PERIODS + 1, "empty": empty or PERIODS + 1}


_STEPS = {"integrated": integrated, "drain first": drain_first}


def parts(quick: bool) -> list[Step]:
    """Both ways, with one and with five nodes at 100 %."""
    seeds = 1 if quick else 5

    def part(overloaded: int, label: str) -> Step:
        def run(_: Bench) -> Any:
            found = [drained(overloaded, seed, _STEPS[label]) for seed in range(seeds)]
            return {
                "distances": np.mean([f["distances"] for f in found], axis=0).tolist(),
                "good": float(np.mean([f["good"] for f in found])),
                "empty": float(np.mean([f["empty"] for f in found])),
            }

        key = f"{overloaded}-{label.replace(' ', '-')}"
        return Step(key, f"{overloaded} overloaded, {label}", run)

    return [part(o, label) for o in CASES for label in _STEPS]


def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Good much earlier, and empty at about the same time."""
    cases = {o: (found[f"{o}-integrated"], found[f"{o}-drain-first"]) for o in CASES}
    earlier = [0 < ours["good"] < theirs["good"] for ours, theirs in cases.values()]
    in_time = [0 < ours["empty"] <= 1.25 * theirs["empty"] for ours, theirs in cases.values()]
    five = cases[5]
    return Conclusion(
        verdict=verdict_of(*earlier, *in_time),
        reason=(
            f"With five of {NODES} nodes at 100 % the integrated plan is within {GOOD:.0f} points "
            f"in period {five[0]['good']:g} and empties the leaving nodes in period "
            f"{five[0]['empty']:g}; draining first is within {GOOD:.0f} points in period "
            f"{five[1]['good']:g} and done with draining in period {five[1]['empty']:g}. Draining first "
            "leaves the overloaded nodes as they are until it is done."
            + ("" if all(in_time) else " More than a quarter later is not a similar time: moves "
               "that cure the overload are not there for draining.")
        ),
        numbers=tuple(
            ComparedFigure(name=f"{o} overloaded: period within {GOOD:.0f} points, integrated",
                   ours=ours["good"], published="much faster")
            for o, (ours, _) in cases.items()
        ) + tuple(
            ComparedFigure(name=f"{o} overloaded: the same, drain first", ours=theirs["good"])
            for o, (_, theirs) in cases.items()
        ) + tuple(
            ComparedFigure(name=f"{o} overloaded: period in which the last node is empty, integrated",
                   ours=ours["empty"],
                   published=f"similar to drain first, here {theirs['empty']:g}")
            for o, (ours, theirs) in cases.items()
        ),
        charts=tuple(
            ResultChart(
                title=f"{o} of {NODES} nodes at 100 %, {NODES // 6} nodes leave", x_title="period",
                y_title="load distance, points", x=tuple(float(p) for p in range(1, PERIODS + 1)),
                series=(
                    PlotSeries(name="integrated", y=tuple(ours["distances"])),
                    PlotSeries(name="drain first", y=tuple(theirs["distances"])),
                ),
            )
            for o, (ours, theirs) in cases.items()
        ),
        tables=(
            table(
                "Load distance after each period",
                ("case", "planner", *map(str, range(1, 15))),
                [
                    (f"{o}OL", label, *found[f"{o}-{label.replace(' ', '-')}"]["distances"][:14])
                    for o in CASES for label in _STEPS
                ],
            ),
        ),
    )  # fmt: skip


DRAIN = Work(parts=parts, conclude=conclude)
