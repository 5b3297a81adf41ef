"""ALBIC, figures 13 and 14: real jobs 3 and 4, simulated on a calibration that is measured live.

Flights and weather are those of the workload `airline_weather`. Each operator has 100 key groups
on 20 nodes. Who sends how many rows to whom is counted from the rows themselves; what a row costs
an operator, and what it costs on its way between two that are not together, is measured on Spark.
At first nothing that could be together is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.controllers.balancing.albic import Albic, AlbicSettings
from weir.controllers.balancing.cola import Cola
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.albic_calibration import AIRLINE, calibrated, words
from weir.pipeline.experiments.albic_flows import (
    JOB_3,
    JOB_4,
    ROWS,
    Job,
    at_random,
    counted,
    followed,
)
from weir.pipeline.experiments.albic_probe import PASS
from weir.pipeline.experiments.base import Bench, Step, Work

LIMITS = (1.0, 3.0, 10.0)  # distances that ALBIC accepts, in points
LIMIT = 3.0  # of the series that is shown


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
    return (
        "What distance ALBIC accepts decides how much it brings together: "
        + ", ".join(
            f"within {limit:g} points {e['collocation']:.0f} %" for limit, e in ends.items()
        )
        + (
            f". Shown are {LIMIT:g} points, which was chosen, as was how evenly planes fly, by looking at "
            "outcomes of such simulations"
        )
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
            end["distance"] < cola["distance"], end["index"] < cola["index"],
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
