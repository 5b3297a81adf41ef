"""What the simulations of ALBIC's real jobs stand on, measured live: rows, edges, moves.

The job runs on two clusters while its input goes up and down, without any made-up cost per row. Of
every operator the task time is fitted to batches and rows. Then key groups change their owner, one
at a time. What was measured is kept beside the experiments for a day, as several figures need it.
"""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.slicing import Slicing
from weir.pipeline.experiments.albic_probe import PASS
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.live import (
    BY,
    LiveCluster,
    LivePlan,
    LiveSystem,
    live_system,
    operators_of,
)

KEPT_S = 86_400.0
WINDOW_S = 8.0
LEAST_ROWS_PER_S, MOST_ROWS_PER_S = 30.0, 500.0
CALM_ROWS = 2_000  # that wait in a trigger or two of all operators, when moves are measured
WARM_S, HALF_S = 15.0, 8.0  # up first, then down and up by turns
LEAST_US = 1.0  # less cannot be told from the batches

FREE = ("trigger_s=2", "slow_trigger_s=4", "max_rows=20000")
WIKIPEDIA = LivePlan(
    clusters=(
        LiveCluster("a", "geohash,cell_top,article_count.0", most=1, cores=2),
        LiveCluster("b", "global_top,top_articles,article_count.1", most=1, cores=2),
    ),
    workload="wikipedia", rows_per_s=LEAST_ROWS_PER_S,
    values=(*FREE, "slices=2", "geohash_cost_s=0", "cell_top_cost_s=0", "article_count_cost_s=0"),
)  # fmt: skip
AIRLINE = LivePlan(
    clusters=(
        LiveCluster("a", f"extract_delays,{PASS},rain_score,join_weather,plane_delays.0", most=1, cores=2),
        LiveCluster("b", "route_delays,store_planes,store_routes,courier_efficiency,plane_delays.1",
                    most=1, cores=2),
    ),
    workload="airline_weather", rows_per_s=LEAST_ROWS_PER_S,
    module="weir.pipeline.experiments.albic_probe",
    values=(*FREE, "slices=2", *(f"{n}_cost_s=0" for n in (
        "extract_delays", "plane_delays", "route_delays", "rain_score", "join_weather"))),
)  # fmt: skip
SLICED = {"wikipedia": "article_count", "airline_weather": "plane_delays"}
COSTED = {
    "wikipedia": ("geohash", "cell_top", "global_top", "article_count"),
    "airline_weather": (
        "extract_delays", "plane_delays", "route_delays", "rain_score", "join_weather",
        "courier_efficiency", "store_planes", "store_routes", PASS,
    ),
}  # fmt: skip


def calibrated(bench: Bench, plan: LivePlan) -> dict[str, Any]:
    """Costs, pauses and the run; measured now, unless that was done within a day."""
    kept = bench.folder.parent.parent / "calibration" / f"albic-{plan.workload}.json"
    if kept.exists() and time.time() - kept.stat().st_mtime < KEPT_S:
        found: dict[str, Any] = json.loads(kept.read_text())
        return found
    found = measured(bench, live_system(bench, plan))
    bench.open.close()  # what follows is simulated, and wants the cores
    bench.shared.clear()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return found


def measured(bench: Bench, live: LiveSystem) -> dict[str, Any]:
    """Let the input go up and down, fit the costs, then hand key groups on."""
    bench.tell("the input goes up and down", 0.4)
    live.rate(MOST_ROWS_PER_S)
    time.sleep(WARM_S)
    began = time.time()
    for turn in range(6 if bench.quick else 12):
        live.rate(MOST_ROWS_PER_S if turn % 2 else LEAST_ROWS_PER_S)
        time.sleep(HALF_S)
    samples = [s for found in live.samples(began, time.time()).values() for s in found]
    costs = {n: core_us_per_row(samples, n) for n in COSTED[live.plan.workload]}
    live.rate(50.0)
    live.until(lambda: live.waiting_rows() < CALM_ROWS, 180, "what waits has been worked off")
    bench.tell("key groups change their owner", 0.8)
    pauses = [handed(live, SLICED[live.plan.workload]) for _ in range(2 if bench.quick else 4)]
    return {
        "at": time.time(), "core_us_per_row": costs, "run": live.run_id(),
        "pause_s": fmean(pauses), "moves": len(pauses),
    }  # fmt: skip


def core_us_per_row(samples: Sequence[ClusterSample], name: str) -> float:
    """Task time per row, in microseconds; what a batch costs whatever it holds is fitted beside it.

    Neither can be below nothing: where the fit says so, the other one explains all.
    """
    found: dict[int, list[float]] = {}
    for sample in samples:
        for o in operators_of([sample], name):
            row = found.setdefault(int(sample.at // WINDOW_S), [0.0, 0.0, 0.0])
            for k, value in enumerate((o.batches, o.rows, o.run_time_s)):
                row[k] += value
    if len(found) < 4:
        raise Unavailable(f"too little was measured of {name}")
    batches, rows, busy_s = np.array([found[k] for k in sorted(found)]).T
    (each_batch, each_row), *_ = np.linalg.lstsq(
        np.stack([batches, rows], axis=1), busy_s, rcond=None
    )
    if each_batch < 0.0:
        each_row = float(rows @ busy_s / max(rows @ rows, 1.0))
    return max(LEAST_US, 1e6 * float(each_row))


def handed(live: LiveSystem, operator: str) -> float:
    """Seconds for which the rows of one key group waited while it changed its owner."""
    before: Slicing = live.store.slicings()[operator]
    source, target = sorted(before.slices, key=lambda n: -len(before.groups_of(n)))[:2]
    after = before.handed(before.groups_of(source)[-1:], source, target)
    asked = Reslicing(
        id=uuid.uuid4().hex, at=time.time(), operator=operator, was=before.owners, owners=after.owners,
        by=BY,
    )  # fmt: skip
    live.store.save_reslicing(asked)

    def ended() -> Reslicing | None:
        now = next(r for r in live.store.reslicings() if r.id == asked.id)
        return now if now.final else None

    done = live.until(ended, 120, "a key group has changed its owner")
    assert done is not None
    if done.step is not ResliceStep.DONE or done.paused_s is None:
        raise Unavailable(f"the key group kept its owner: {done.message}")
    return done.paused_s


def words(found: Mapping[str, Any]) -> str:
    """What was measured, in a sentence."""
    costs = ", ".join(f"{n} {us:.0f}" for n, us in found["core_us_per_row"].items())
    return (
        f"Calibrated live on this machine: task time per row in us (at least {LEAST_US:g}, as less "
        f"cannot be told from the batches): {costs}; a key group that "
        f"changes its owner pauses for {found['pause_s']:.1f} s (mean of {found['moves']})."
    )
