"""ALBIC, figures 13 and 14: real jobs 3 and 4, simulated on a calibration that is measured live.

Flights and weather are those of the workload `airline_weather`. Each operator has 100 key groups
on 20 nodes. Who sends how many rows to whom is counted from the rows themselves; what a row costs
an operator, and what it costs on its way between two that are not together, is measured on Spark.
At first nothing that could be together is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from weir.controllers.balancing.albic import Albic, AlbicSettings
from weir.controllers.balancing.cola import Cola
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem
from weir.controllers.placement.hashing import stable_hash
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.albic_calibration import AIRLINE, calibrated, words
from weir.pipeline.experiments.albic_instances import MEAN_POINTS, carried_out
from weir.pipeline.experiments.albic_probe import PASS
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.workloads.flights import flights_and_weather

NODES, GROUPS = 20, 100
PERIOD_S = 300.0
ROWS = 30_000
LIMITS = (1.0, 3.0, 10.0)  # distances that ALBIC accepts, in points
LIMIT = 3.0  # of the series that is shown
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
    """The job as so many rows make it."""
    keys = _keys(rows, seed)
    work: dict[str, float] = {f"{o}.{g}": 0.0 for o in operators for g in range(GROUPS)}
    flows: dict[tuple[str, str], float] = {}
    for operator in operators:
        own = keys["rain" if operator == "rain_score" else "late"][OWN_KEY[operator]]
        for g, n in enumerate(np.bincount(own, minlength=GROUPS)):
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
        problem = carried_out(problem, plan.placement)
    return seen


def at_random(job: Job, seed: int) -> dict[str, float]:
    """What COLA makes of a random placement."""
    rng = np.random.default_rng(seed)
    problem = start(job, rng, apart=False)
    problem = loaded(problem, job, 1.0, rng)
    scale = MEAN_POINTS * NODES / sum(i.load for i in problem.items)
    problem = loaded(problem, job, scale, rng)
    plan = Cola().plan(problem)
    after = loaded(carried_out(problem, plan.placement), job, scale, rng)
    before, now = (sum(i.load for i in p.items) for p in (problem, after))
    return {
        "collocation": 100 * plan.after.collocation, "distance": plan.after.load_distance,
        "moves": float(len(plan.moves)), "index": 100 * now / before,
    }  # fmt: skip


def periods_of(quick: bool) -> int:
    """Length of the series."""
    return 60 if quick else 90


def _parts(operators: Sequence[str], quick: bool, whole: bool) -> list[Step]:
    def job(bench: Bench) -> tuple[Job, float]:
        found = calibrated(bench, AIRLINE)
        return counted(operators, found["core_us_per_row"], ROWS, seed=1), found["pause_s"]

    def calibration(bench: Bench) -> Any:
        return calibrated(bench, AIRLINE)

    def albic(limit: float) -> Step:
        def run(bench: Bench) -> Any:
            made, pause_s = job(bench)
            planner = Albic(AlbicSettings(max_distance=limit))
            return followed(made, planner, 10, periods_of(quick), pause_s, seed=3)

        return Step(_key(limit), f"ALBIC, 10 moves, within {limit:g} points", run, 2.0)

    def cola(bench: Bench) -> Any:
        made, pause_s = job(bench)
        if whole:
            return followed(made, Cola(), None, periods_of(quick), pause_s, seed=3)
        return [at_random(made, seed) for seed in range(3)]

    says = "COLA, every period" if whole else "COLA, three random placements"
    return [
        Step("calibration", "the job is measured on Spark", calibration, 20.0),
        *(albic(limit) for limit in LIMITS),
        Step("cola", says, cola, 2.0),
    ]


def _key(limit: float) -> str:
    return f"albic-{limit:g}"


def _limits(found: Mapping[str, Any]) -> str:
    ends = {limit: _ends(found[_key(limit)]) for limit in LIMITS}
    return "What distance ALBIC accepts decides how much it brings together: " + ", ".join(
        f"within {limit:g} points {e['collocation']:.0f} %" for limit, e in ends.items()
    )


def _rest(found: Mapping[str, Any]) -> str:
    edge = found["calibration"]["core_us_per_row"][PASS]
    return (
        f"A row that leaves its node costs {edge:.0f} us, at both ends together. On Spark all rows "
        "between operators go through an edge wherever they run, so the saving is what it would be "
        "with operators of one place in one query. Nodes, flows over time and moves are simulated, "
        f"flights made. {words(found['calibration'])}"
    )


def _charts(
    figure: int, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[ResultChart, ...]:
    count = len(ours["moves"])
    return tuple(
        ResultChart(
            title=f"Figure {figure}: {title}", x_title="period", y_title=unit,
            x=tuple(map(float, range(count))),
            series=(
                PlotSeries(name="ALBIC, 10 moves", y=tuple(ours[key])),
                PlotSeries(name="COLA", y=tuple(theirs[key])),
            ),
        )
        for title, key, unit in (
            ("collocation", "collocation", "traffic on its node, %"),
            ("load index", "index", "% of the load at the start"),
            ("load distance", "distance", "points"),
            ("moves per period", "moves", "moves"),
        )
    )  # fmt: skip


def _ends(series: Mapping[str, Any]) -> dict[str, float]:
    """Means of the last five periods; of the moves that of all."""
    return {k: float(np.mean(v if k == "moves" else v[-5:])) for k, v in series.items()}


def _albics(found: Mapping[str, Any]) -> list[tuple[str, dict[str, float]]]:
    return [(f"ALBIC, within {limit:g} points", _ends(found[_key(limit)])) for limit in LIMITS]


def conclude_13(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Half of the traffic can be together; ALBIC gets there with 10 moves, COLA with most groups."""
    ours, theirs = found[_key(LIMIT)], found["cola"]
    end, cola = _ends(ours), _ends(theirs)
    half = 35.0 <= end["collocation"] <= 65.0
    return Conclusion(
        verdict=verdict_of(
            half, end["index"] < 95.0, end["moves"] <= 10.0, cola["moves"] > 100.0,
            end["distance"] < cola["distance"],
        ),
        reason=(
            f"Simulated over {len(ours['moves'])} periods. ALBIC gets to {end['collocation']:.0f} % "
            f"collocation and a load index of {end['index']:.0f} % with {end['moves']:.0f} moves per "
            f"period and a distance of {end['distance']:.2f} points; COLA to "
            f"{cola['collocation']:.0f} % and {cola['index']:.0f} % with {cola['moves']:.0f} moves in "
            f"every period and {cola['distance']:.2f} points. Rows of a plane can be together, those "
            "by route only in part, so it is about half of job 2's. COLA did not have to run at half "
            f"the rate here: a move costs a pause, no more. {_limits(found)}. {_rest(found)}"
        ),
        numbers=(
            ComparedFigure(name="collocation at the end, ALBIC", ours=end["collocation"], unit="%",
                           published="half of job 2's"),
            ComparedFigure(name="load index at the end, ALBIC", ours=end["index"], unit="%",
                           published="a similar trend"),
            ComparedFigure(name="load index at the end, COLA", ours=cola["index"], unit="%"),
            ComparedFigure(name="load distance, ALBIC", ours=end["distance"], unit="points", published="below COLA"),
            ComparedFigure(name="load distance, COLA", ours=cola["distance"], unit="points"),
            ComparedFigure(name="moves per period, ALBIC", ours=end["moves"], published="10"),
            ComparedFigure(name="moves per period, COLA", ours=cola["moves"], published="overwhelming"),
        ),
        charts=_charts(13, ours, theirs),
        tables=(
            table(
                "At the end",
                ("planner", "collocation, %", "load index, %", "distance", "moves per period"),
                [(n, e["collocation"], e["index"], e["distance"], e["moves"])
                 for n, e in (*_albics(found), ("COLA", cola))],
            ),
        ),
        runs=tuple(filter(None, (found["calibration"]["run"],))),
    )  # fmt: skip


def conclude_14(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """ALBIC comes near what COLA makes of random placements, with 10 moves per period."""
    ours, tries = found[_key(LIMIT)], found["cola"]
    end = _ends(ours)
    cola = {k: float(np.mean([t[k] for t in tries])) for k in tries[0]}
    spread = max(t["collocation"] for t in tries) - min(t["collocation"] for t in tries)
    level = {k: [v] * len(ours["moves"]) for k, v in cola.items()}
    return Conclusion(
        verdict=verdict_of(
            end["collocation"] >= 0.9 * cola["collocation"], end["index"] < 95.0,
            end["distance"] < 5.0, spread < 5.0,
        ),
        reason=(
            f"Simulated over {len(ours['moves'])} periods. COLA makes {cola['collocation']:.0f} % "
            f"collocation of random placements, within {spread:.1f} points in three tries, with "
            f"{cola['moves']:.0f} moves at once. ALBIC gets to {end['collocation']:.0f} % and brings "
            f"the load index to {end['index']:.0f} % at a distance of {end['distance']:.2f} points, "
            "with 10 moves per period. Where its collocation is lower, it is still on its way, or "
            "what could be together would be too much for one node. "
            f"{_limits(found)}. {_rest(found)}"
        ),
        numbers=(
            ComparedFigure(name="collocation, COLA", ours=cola["collocation"], unit="%", published="around 61 %"),
            ComparedFigure(name="collocation at the end, ALBIC", ours=end["collocation"], unit="%",
                           published="similar to COLA's"),
            ComparedFigure(name="load index at the end, ALBIC", ours=end["index"], unit="%",
                           published="reduced"),
            ComparedFigure(name="load distance, ALBIC", ours=end["distance"], unit="points", published="low"),
            ComparedFigure(name="moves per period, ALBIC", ours=end["moves"], published="10"),
        ),
        charts=_charts(14, ours, level)[:3],
        tables=(
            table(
                "ALBIC at the end",
                ("planner", "collocation, %", "load index, %", "distance", "moves per period"),
                [(n, e["collocation"], e["index"], e["distance"], e["moves"]) for n, e in _albics(found)],
            ),
            table(
                "COLA from random placements",
                ("try", "collocation, %", "load after, %", "distance", "moves"),
                [(k + 1, t["collocation"], t["index"], t["distance"], t["moves"]) for k, t in enumerate(tries)],
            ),
        ),
        runs=tuple(filter(None, (found["calibration"]["run"],))),
    )  # fmt: skip


FIGURE_13 = Work(parts=lambda quick: _parts(JOB_3, quick, True), conclude=conclude_13)
FIGURE_14 = Work(parts=lambda quick: _parts(JOB_4, quick, False), conclude=conclude_14)
