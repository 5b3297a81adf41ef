"""DoDo's clusters on Spark: one wide, one narrow, and what its planner and scaler do on them.

A row costs its operators waiting, as if calling a remote service, so that slots count and not the
two cores below them all. The input is above what the placement carries: throughput is what comes
out of the operator that counts, while rows wait before it.
"""

import time
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from weir.controllers.model.sample import ClusterSample, Mode
from weir.metrics.lab.outcome import PlotSeries, ResultChart
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.live import (
    LiveCluster,
    LivePlan,
    LiveSystem,
    busy_shares,
    over_time,
    rows_out,
)
from weir.pipeline.experiments.live_places import executors_of

WIDE, NARROW = "wide", "narrow"
END = "topic_count"
EXTREME = {"extractor": WIDE, "topic_count": NARROW, "top_n": NARROW}
OPTIMAL = {"extractor": WIDE, "topic_count": WIDE, "top_n": NARROW}
COLLAPSED = {"extractor": NARROW, "topic_count": WIDE, "top_n": NARROW}
BUCKET_S = 5.0
GOING_S = 8.0

SOON: Mapping[str, Mapping[str, Any]] = {
    "engine": {"least_effectiveness": 0.0, "settle_s": 10.0, "reconsider_s": 0.0},
    **{
        f"guards:{name}": {
            "warm_up_s": 4.0, "stabilisation_s": 8.0, "actions_per_hour": 0, "scale_in_delay_s": 60.0,
        }
        for name in (WIDE, NARROW)
    },
}  # fmt: skip
"""An experiment has minutes where a cluster has hours."""


def plan(
    wide: LiveCluster, narrow: LiveCluster, extractor_s: float, count_s: float, rows_per_s: float
) -> LivePlan:
    """Top-N topics on two clusters."""
    return LivePlan(
        clusters=(wide, narrow), workload="top_n", rows_per_s=rows_per_s, settings=SOON,
        values=(
            f"extractor_cost_s={extractor_s}", f"topic_count_cost_s={count_s}",
            "top_n_cost_s=0.0001", "trigger_s=1", "max_rows=800",
        ),
    )  # fmt: skip


def followed(
    live: LiveSystem,
    bench: Bench,
    says: str,
    *,
    rows_per_s: float,
    planner: str,
    scaler: str = "no_op",
    least_s: float,
    last_s: float,
    until_moved: bool = False,
) -> dict[str, Any]:
    """Let the engine follow these for a while, and measure the end of it.

    It lasts `least_s`. With `until_moved` it goes on until a rebalance has ended (at most as long
    again), and then for a few seconds in which what was moved gets going. Then comes `last_s`.
    """
    live.rate(rows_per_s)
    live.store.save_settings(
        "balance",
        {"planner": planner, "window_s": 12.0, "hold_s": 10.0, "least_periods": 4, "moves": 1},
    )
    for name in (WIDE, NARROW):
        live.store.save_settings(f"scale:{name}", {"scaler": scaler})
    began = time.time()
    live.mode(Mode.AUTO)
    while time.time() < began + least_s or (
        until_moved and not _has_moved(live, began) and time.time() < began + 2 * least_s
    ):
        bench.tell(says, min(0.9, (time.time() - began) / (least_s + last_s)))
        time.sleep(0.5)
    ended = time.time() + last_s + (GOING_S if until_moved else 0.0)
    while time.time() < ended:
        bench.tell(says, min(0.95, (time.time() - began) / (least_s + last_s)))
        time.sleep(0.5)
    live.mode(Mode.OBSERVE)
    return figures(live, began, time.time(), last_s)


def _has_moved(live: LiveSystem, since: float) -> bool:
    return any(r.at >= since and r.final for r in live.store.rebalances())


def figures(live: LiveSystem, began: float, ended: float, last_s: float) -> dict[str, Any]:
    """Of the whole time by buckets, and of its end."""
    whole, late = live.samples(began, ended), live.samples(ended - last_s, ended)
    moves = [
        f"{m.move.operator} to {m.move.target}"
        for r in reversed(live.store.rebalances())
        if r.at >= began
        for m in r.moves
        if m.step.value == "done"
    ]
    one = {name: {name: found} for name, found in whole.items()}
    return {
        "throughput": committed_per_s(late), "busy": busy_shares(late), "moves": moves,
        "executors": executors_of(live), "waiting": live.waiting_rows(), "run": live.run_id(),
        "busy_all": weighed(late),
        "series": {
            "rows": over_time(whole, began, ended, BUCKET_S, rate),
            **{n: over_time(f, began, ended, BUCKET_S, share) for n, f in one.items()},
            **{f"{n} executors": over_time(f, began, ended, BUCKET_S, count) for n, f in one.items()},
        },
    }  # fmt: skip


def committed_per_s(samples: Mapping[str, Sequence[ClusterSample]]) -> float:
    """Rows of the counting operator from its first commit in that time to its last, per second.

    Whole batches are committed, so a count within fixed bounds would be off by up to one.
    """
    found = {
        (b.run_id, b.id): (b.committed_at, b.rows)
        for kept in samples.values() for s in kept for b in s.batches
        if b.operator == END
    }  # fmt: skip
    commits = sorted(found.values())
    if len(commits) < 2:
        return 0.0
    return sum(rows for _, rows in commits[1:]) / (commits[-1][0] - commits[0][0])


def rate(samples: Sequence[ClusterSample]) -> float:
    """Rows per second out of the counting operator."""
    return rows_out({"": samples}, [END]) / BUCKET_S


def share(samples: Sequence[ClusterSample]) -> float:
    """Busy cores, in percent."""
    return 100.0 * fmean(s.cluster.busy_share for s in samples)


def count(samples: Sequence[ClusterSample]) -> float:
    """Executors."""
    return fmean(s.cluster.executors for s in samples)


def weighed(samples: Mapping[str, Sequence[ClusterSample]]) -> float:
    """The busy share of all cores together."""
    every = [s for found in samples.values() for s in found]
    capacity = sum(s.cluster.capacity for s in every)
    return sum(s.cluster.busy_cores for s in every) / max(capacity, 1)


def chart(
    title: str, y_title: str, key: str, found: Mapping[str, Mapping[str, Any]]
) -> ResultChart:
    """One figure over time, a line per way."""
    count_ = max(len(f["series"][key]) for f in found.values())
    return ResultChart(
        title=title, x_title="seconds", y_title=y_title,
        x=tuple(BUCKET_S * (k + 1) for k in range(count_)),
        series=tuple(
            PlotSeries(name=name, y=(*f["series"][key], *[None] * (count_ - len(f["series"][key]))))
            for name, f in found.items()
        ),
    )  # fmt: skip


def runs(found: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The runs behind them, each once."""
    return tuple(dict.fromkeys(f["run"] for f in found.values() if f.get("run")))
