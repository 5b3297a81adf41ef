"""ALBIC's real jobs 3 and 4 as key groups with flows: counted from rows, and followed over periods."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from weir.controllers.balancing.albic import Albic
from weir.controllers.balancing.cola import Cola
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem
from weir.controllers.placement.hashing import stable_hash
from weir.pipeline.experiments.albic_instances import MEAN_POINTS
from weir.pipeline.experiments.albic_probe import PASS
from weir.pipeline.workloads.flights import flights_and_weather

NODES, GROUPS = 20, 100
PERIOD_S = 300.0
ROWS = 30_000
SKEW = 0.2  # planes fly about equally often
JOB_3 = ("extract_delays", "plane_delays", "route_delays")
JOB_4 = (
    *JOB_3, "rain_score", "join_weather", "courier_efficiency", "store_planes", "store_routes",
)  # fmt: skip
# From whom, to whom, and by what the rows are shared out there.
EDGES = (
    ("extract_delays", "plane_delays", "plane"),
    ("extract_delays", "route_delays", "route"),
    ("extract_delays", "join_weather", "origin"),
    ("rain_score", "join_weather", "origin"),
    ("join_weather", "courier_efficiency", "step"),
    ("plane_delays", "store_planes", "plane"),
    ("route_delays", "store_routes", "route"),
)
OWN_KEY = {
    "extract_delays": "plane", "plane_delays": "plane", "route_delays": "route",
    "rain_score": "origin", "join_weather": "origin", "courier_efficiency": "step",
    "store_planes": "plane", "store_routes": "route",
}  # fmt: skip


class Job(Struct, frozen=True):
    """One job: core time of each group's own work, and rows and core time of what flows."""

    names: tuple[str, ...]  # of the groups
    work_us: tuple[float, ...]
    flows: tuple[Flow, ...]  # rows
    edge_us: float  # of a row that leaves its node, half of it at either end


def counted(operators: Sequence[str], costs: Mapping[str, float], rows: int, seed: int) -> Job:
    """The job as this number of rows makes it."""
    keys = _keys(rows, seed)
    work: dict[str, float] = {f"{o}.{g}": 0.0 for o in operators for g in range(GROUPS)}
    flows: dict[tuple[str, str], float] = {}
    for operator in operators:
        own = keys["rain" if operator == "rain_score" else "late"][OWN_KEY[operator]]
        for g, n in enumerate(np.bincount(own, minlength=GROUPS).tolist()):
            work[f"{operator}.{g}"] += n * max(costs[operator], 1e-3)
    for source, target, key in EDGES:
        if source in operators and target in operators:
            kind = keys["rain" if source == "rain_score" else "late"]
            pairs, n = np.unique(
                np.stack([kind[OWN_KEY[source]], kind[key]]), axis=1, return_counts=True
            )
            for (a, b), count in zip(pairs.T, n, strict=True):
                flows[f"{source}.{a}", f"{target}.{b}"] = float(count)
    found = tuple(Flow(source=a, target=b, rate=r) for (a, b), r in flows.items())
    return Job(tuple(work), tuple(work.values()), found, costs[PASS])


def _keys(rows: int, seed: int) -> dict[str, dict[str, NDArray[np.int64]]]:
    """The group of every late flight and of every report, by each key; a report rains for all.

    A late flight becomes a row of each operator behind; a sum is written once for each of its rows
    (a batch with more rows writes fewer, so this is the most that flows to what stores).
    """
    texts = flights_and_weather(seed * rows, rows, SKEW).to_pylist()
    parts = [t.split(",") for t in texts]
    late = [p for p in parts if p[0] == "F" and int(p[5]) > 0]
    rain = [p for p in parts if p[0] == "W"]
    step = [f"{stable_hash(f'{p[1]} {p[3]}') % 10}" for p in late]
    return {
        "late": {
            "plane": _groups(p[2] for p in late), "origin": _groups(p[3] for p in late),
            "route": _groups(f"{p[3]}-{p[4]}" for p in late), "step": _groups(step),
        },
        "rain": {"origin": _groups(p[2] for p in rain)},
    }  # fmt: skip


def _groups(keys: Any) -> NDArray[np.int64]:
    return np.array([stable_hash(k) % GROUPS for k in keys], dtype=np.int64)


def start(job: Job, rng: np.random.Generator, *, apart: bool = True) -> Problem:
    """Every operator's groups dealt out; with `apart` so that what could be together is not."""
    where: dict[str, str] = {}
    partner: dict[str, str] = {}
    for flow in sorted(job.flows, key=lambda f: -f.rate):
        partner.setdefault(flow.target, flow.source)
    for number, name in enumerate(job.names):
        near = where.get(partner.get(name, "")) if apart else None
        node = (
            int(rng.integers(NODES)) if not apart else (number * 7 + number // GROUPS + 1) % NODES
        )
        where[name] = f"n{node}" if f"n{node}" != near else f"n{(node + 1) % NODES}"
    return Problem(
        bins=tuple(Bin(name=f"n{k}", capacity=100.0) for k in range(NODES)),
        items=tuple(Item(name=n, load=0.0, bin=where[n]) for n in job.names),
        flows=job.flows,
        budget=Budget(),
    )


def loaded(problem: Problem, job: Job, scale: float, rng: np.random.Generator) -> Problem:
    """Loads as they would be measured in this placement, with 2 % of noise."""
    where = problem.placement
    load = dict(zip(job.names, job.work_us, strict=True))
    for flow in job.flows:
        if where[flow.source] != where[flow.target]:
            for end in (flow.source, flow.target):
                load[end] += flow.rate * job.edge_us / 2
    items = tuple(
        replace(i, load=scale * load[i.name] * float(rng.uniform(0.98, 1.02)))
        for i in problem.items
    )
    return replace(problem, items=items)


def followed(
    job: Job, planner: Albic | Cola, moves: int | None, periods: int, pause_s: float, seed: int
) -> dict[str, list[float]]:
    """Collocation, load index, distance and moves, period by period."""
    rng = np.random.default_rng(seed)
    problem = replace(start(job, rng), budget=Budget(moves=moves))
    whole = sum(i.load for i in loaded(problem, job, 1.0, np.random.default_rng(0)).items)
    scale = MEAN_POINTS * NODES / whole
    seen: dict[str, list[float]] = {"collocation": [], "index": [], "distance": [], "moves": []}
    first, missed = 0.0, 0.0
    for _ in range(periods):
        problem = loaded(problem, job, scale, rng)
        total = sum(i.load for i in problem.items) + missed
        first = first or total
        plan = planner.plan(problem)
        for key, value in (
            ("collocation", 100 * plan.before.collocation), ("index", 100 * total / first),
            ("distance", plan.after.load_distance), ("moves", float(len(plan.moves))),
        ):  # fmt: skip
            seen[key].append(value)
        load = {i.name: i.load for i in problem.items}
        # What a group did not do while it paused is to be done in the period after.
        missed = sum(load[m.operator] for m in plan.moves) * pause_s / PERIOD_S
        problem = problem.placed(plan.placement)
    return seen


def at_random(job: Job, seed: int) -> dict[str, float]:
    """What COLA makes of a random placement."""
    rng = np.random.default_rng(seed)
    problem = start(job, rng, apart=False)
    problem = loaded(problem, job, 1.0, rng)
    scale = MEAN_POINTS * NODES / sum(i.load for i in problem.items)
    problem = loaded(problem, job, scale, rng)
    plan = Cola().plan(problem)
    after = loaded(problem.placed(plan.placement), job, scale, rng)
    before, now = (sum(i.load for i in p.items) for p in (problem, after))
    return {
        "collocation": 100 * plan.after.collocation, "distance": plan.after.load_distance,
        "moves": float(len(plan.moves)), "index": 100 * now / before,
    }  # fmt: skip
